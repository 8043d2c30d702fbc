"""Convert between frames (bytes on the socket) and the controller's windows and answers (numpy columns)."""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError

from causeway.bridge.engine import Finish, RunSpec
from causeway.bridge.events import COLUMNS, EVENT, ActionRows, Actions, Lookahead, Window
from causeway.errors import RunError
from causeway.network.faults import Jammer, LinkFailure, NetworkFault, Partition
from causeway.network.movement import Place, xyz
from causeway.network.networks import AbstractNetwork, InetNetwork, MobileNetwork
from causeway.network.stays import changes_of
from causeway.network.workload import Faults, Workload, WorkloadTables
from causeway.proto.contract import CONTRACT, column_type, may_lack, pb, schema_sha256, table

_PACK: dict[str, Callable[[Iterable[Any]], bytes]] = {
    "|u1": bytes,
    "<i4": lambda values: array("i", values).tobytes(),
    "<i8": lambda values: array("q", values).tobytes(),
    "<f8": lambda values: array("d", values).tobytes(),
}
"""Maps the type of a column to a function that packs plain numbers. For few numbers, these functions are faster than
numpy."""


class _Table:
    """Converts one table of a message to and from numpy columns."""

    def __init__(self, message: str, name: str) -> None:
        dtype = table(message, name)
        self.columns = [(column, dtype[column], column in may_lack(message)) for column in dtype.names or ()]
        self.packers = [(column, _PACK[dtype[column].str]) for column in dtype.names or ()]
        self._bytes_of = attrgetter(*(column for column, _, _ in self.columns))
        self._types = [column_type for _, column_type, _ in self.columns]

    def put(self, message: Any, source: Any) -> None:
        """Fill the columns from the attributes of `source`."""
        for name, dtype, lacks in self.columns:
            values = getattr(source, name)
            if not (lacks and values is None):
                setattr(message, name, np.asarray(values, dtype).tobytes())

    def put_rows(self, message: Any, rows: Any) -> None:
        """Fill the columns from rows of plain numbers, which may leave out optional columns at the end."""
        for (name, pack), values in zip(self.packers, zip(*rows, strict=True), strict=False):
            setattr(message, name, pack(values))

    def take(self, message: Any) -> list[Any]:
        """Return the columns as views of the message's bytes; raise ValueError if their lengths differ."""
        found: list[Any] = list(map(np.frombuffer, self._bytes_of(message), self._types))
        if len(set(map(len, found))) > 1:
            self._leave_out(found)
        return found

    def _leave_out(self, found: list[Any]) -> None:
        """Set optional columns that are empty to None."""
        rows = len(found[0])
        for at, (name, _, lacks) in enumerate(self.columns):
            if lacks and not len(found[at]):
                found[at] = None
            elif len(found[at]) != rows:
                raise ValueError(f"column {name} has {len(found[at])} rows, not {rows}")


EVENT_COLUMNS = EVENT.names or ()
_EVENTS, _ACTIONS, _LOOKAHEADS = _Table("Window", "events"), _Table("Actions", "actions"), _Table("Actions", "promises")


def decode(data: bytes) -> Any:
    """Return the frame in these bytes."""
    try:
        return pb.Frame.FromString(data)
    except DecodeError:
        raise RunError(f"a message of {len(data)} bytes is not a frame of this contract") from None


# ---- from the engine ------------------------------------------------------------------------------------------------


def window(message: Any) -> Window:
    """Return a protobuf Window as columns, which are views of the message's bytes."""
    try:
        columns = _EVENTS.take(message)
    except ValueError as error:
        why = "a column does not hold whole numbers" if "buffer" in str(error) else f"its columns differ: {error}"
        raise RunError(f"window {message.number} is damaged: {why}") from None
    return Window(message.number, message.end_ps, message.reply, **dict(zip(EVENT_COLUMNS, columns, strict=True)))


def finish(message: Any) -> Finish:
    """Return the end of a run as the engine reports it."""
    scalars = {(s.module, s.name): s.value for s in message.scalars}
    return Finish(message.reason, message.end_ps, message.events, scalars, message.waited_ns / 1e9)


def encode_hello(engine: str, engine_version: str) -> bytes:
    """Return the frame with which an engine introduces itself (for engines written in Python)."""
    frame = pb.Frame()
    h = frame.hello
    h.contract, h.schema_sha256 = CONTRACT, schema_sha256()
    h.engine, h.engine_version = engine, engine_version
    return frame.SerializeToString()


def encode_finish(finish: Finish) -> bytes:
    """Return the frame that ends a run (for engines written in Python)."""
    frame = pb.Frame()
    f = frame.finish
    f.reason, f.end_ps, f.events = finish.reason, finish.end_ps, finish.events
    for (module, name), value in finish.scalars.items():
        f.scalars.add(module=module, name=name, value=value)
    return frame.SerializeToString()


def encode_window(window: Window) -> bytes:
    """Return the frame of a window (for engines written in Python, and tests)."""
    frame = pb.Frame()
    w = frame.window
    w.number, w.end_ps, w.reply = window.number, window.end_ps, window.reply
    _EVENTS.put(w, window)
    return frame.SerializeToString()


# ---- from the controller --------------------------------------------------------------------------------------------


def encode_actions(number: int, actions: Actions) -> bytes:
    """Return the frame that answers window `number`."""
    frame = pb.Frame()
    a = frame.actions
    a.number = number
    if actions.stop:
        a.stop = True
    if isinstance(actions, ActionRows):
        if actions.rows:
            _ACTIONS.put_rows(a, actions.rows)
    elif len(actions):
        _ACTIONS.put(a, actions)
    a.SetInParent()
    if actions.lookaheads:
        _LOOKAHEADS.put_rows(a, actions.lookaheads)
    return frame.SerializeToString()


def actions(message: Any) -> Actions:
    """Return a protobuf Actions as columns."""
    lookaheads = zip(*(column.tolist() for column in _LOOKAHEADS.take(message)), strict=True)
    columns = dict(zip(COLUMNS, _ACTIONS.take(message), strict=True))
    return Actions(**columns, stop=message.stop, lookaheads=tuple(Lookahead(*p) for p in lookaheads))


def encode_error(what: str) -> bytes:
    """Return the frame with the reason why this side ends."""
    frame = pb.Frame()
    frame.error.what = what
    return frame.SerializeToString()


def encode_setup(spec: RunSpec) -> bytes:
    """Return the frame that describes the run to the engine."""
    frame = pb.Frame()
    s = frame.setup
    s.contract, s.schema_sha256 = CONTRACT, schema_sha256()
    s.study, s.parameters_json = spec.study, parameters_json(spec.parameters)
    s.seed = spec.seed & 0xFFFFFFFFFFFFFFFF
    s.reaction_ps, s.duration_ps, s.cap = spec.reaction_ps, spec.duration_ps, spec.cap
    s.passive_kinds = spec.passive_kinds
    s.channels.extend(spec.channels)
    _put_workload(s.workload, spec.network.workload)
    _put_faults(s.faults, changes_of(spec.network))
    if not isinstance(spec.network, InetNetwork):
        _put_network_faults(s.troubles, spec.network.network_faults)
    if isinstance(spec.network, AbstractNetwork):
        _put_abstract(s.abstract_network, spec.network)
    elif isinstance(spec.network, InetNetwork):
        s.own_network.nodes = spec.network.nodes
        s.own_network.places_every_ps = spec.network.places_every_ps
        s.own_network.moves = spec.network.movement is not None
    else:
        _put_mobile(s.mobile_network, spec.network)
    return frame.SerializeToString()


def parameters_json(parameters: Mapping[str, Any]) -> str:
    """Return parameters as text; equal parameters give equal text."""
    return json.dumps(dict(parameters), sort_keys=True, default=str)


def _put_workload(message: Any, workload: Workload) -> None:
    message.first_node, message.nodes = workload.first_node, workload.nodes
    message.messages, message.size_bytes = workload.messages, workload.size_bytes
    if workload.script is not None and len(workload.script.time_ps):
        script = workload.script
        _put(message, script_time_ps=script.time_ps, script_node=script.node, script_size=script.size_bytes)
        return
    tables = WorkloadTables.of(workload)
    _put(
        message, segment_start_ps=tables.start_ps, segment_mean_ns=tables.mean_ns, segment_hot_share=tables.hot_share,
        segment_hot_nodes=tables.hot_nodes, exponential_quantiles=tables.exponential,
    )  # fmt: skip


def _put_faults(message: Any, faults: Faults) -> None:
    _put(message, time_ps=faults.time_ps, node=faults.node, up=faults.up)


def _put_abstract(message: Any, network: AbstractNetwork) -> None:
    message.nodes = network.nodes
    _put(message, delay_quantiles_ns=network.delay)
    message.loss = network.loss
    message.send_ps, message.send_ps_per_byte = network.send_ps, network.send_ps_per_byte
    message.recv_ps = network.recv_ps
    if (links := network.links) is not None:
        _put(message, site=links.site_of(network.nodes), link_delay_ps=links.delay_ps.ravel())
        _put(message, link_loss=links.losses.ravel(), link_bps=links.bandwidths.ravel())
        message.link_queue_bytes = links.queue_bytes


def _put_mobile(message: Any, network: MobileNetwork) -> None:
    _put_places(message, "station", network.station_xy_mm)
    _put_places(message, "host", network.first_places_mm)
    _put(message, wire_from=[a for a, _ in network.wires], wire_to=[b for _, b in network.wires])
    for name in (
        "hosts", "cell_radius_mm", "wire_bps", "wire_delay_ps", "radio", "radio_bps", "speed_mm_s", "covered_only",
        "position_every_ps", "host_tcp", "places_every_ps",
    ):  # fmt: skip
        setattr(message, name, getattr(network, name))
    _put(message, host_speed_mm_s=network.host_speeds_mm_s, area_mm=network.area_mm)
    hosts = [(host, trace) for host, trace in enumerate(network.traces) if trace is not None]
    rows = [(host, time_ps, tuple(place)) for host, trace in hosts for time_ps, *place in np.asarray(trace).tolist()]
    _put(message, trace_host=[host for host, *_ in rows], trace_time_ps=[time_ps for _, time_ps, _ in rows])
    _put_places(message, "trace", [place for *_, place in rows])


def _put_places(message: Any, what: str, places: Sequence[Place]) -> None:
    """Fill the columns of positions; the heights only if there are any."""
    x_mm, y_mm, z_mm = zip(*map(xyz, places), strict=True) if places else ((), (), ())
    _put(message, **{f"{what}_x_mm": x_mm, f"{what}_y_mm": y_mm, f"{what}_z_mm": z_mm if any(z_mm) else ()})


def _put_network_faults(message: Any, troubles: tuple[NetworkFault, ...]) -> None:
    t = fault_tables(troubles)
    _put(message, **{name: t[name] for name in t})


def fault_tables(troubles: tuple[NetworkFault, ...]) -> dict[str, Any]:
    """Return link failures, jammers and partitions as the columns of the contract."""
    rows: list[tuple[int, ...]] = []
    sides: list[tuple[int, int, int]] = []
    for number, one in enumerate(troubles):
        match one:
            case LinkFailure(a, b):
                rows.append((pb.Trouble.CUT, one.from_ps, one.to_ps, a, b, 0, 0))
            case Jammer(x_mm, y_mm, radius_mm):
                rows.append((pb.Trouble.JAMMER, one.from_ps, one.to_ps, x_mm, y_mm, radius_mm, one.z_mm))
            case Partition(first, second):
                kind = pb.Trouble.ONE_WAY if one.one_way else pb.Trouble.PARTITION
                rows.append((kind, one.from_ps, one.to_ps, 0, 0, 0, 0))
                sides += [(number, node, 0) for node in first] + [(number, node, 1) for node in second]
    columns = zip(*rows, strict=True) if rows else ((),) * 7
    names = ("kind", "from_ps", "to_ps", "a", "b", "radius_mm", "z_mm")
    side_columns = zip(*sides, strict=True) if sides else ((),) * 3
    found: dict[str, Any] = dict(zip(names, columns, strict=True))
    return {**found, **dict(zip(("side_trouble", "side_node", "side"), side_columns, strict=True))}


def _put(message: Any, **columns: Any) -> None:
    """Fill columns of a message, in the types that the contract declares."""
    for name, values in columns.items():
        setattr(message, name, np.asarray(values, column_type(message.DESCRIPTOR.name, name)).tobytes())
