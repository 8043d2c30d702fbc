"""Between frames (bytes on the socket) and what the controller works with (columns as numpy arrays)."""

from __future__ import annotations

import json
from array import array
from collections.abc import Mapping
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError

from causeway.bridge.engine import Finish, RunSpec
from causeway.bridge.errors import RunError
from causeway.bridge.events import COLUMNS, ROW, ActionRows, Actions, Patience, Window
from causeway.bridge.network import AbstractNetwork, MobileNetwork
from causeway.bridge.schema import CONTRACT, pb, schema_sha256
from causeway.bridge.workload import Faults, Workload, WorkloadTables

_U8, _I32, _I64 = np.dtype("<u1"), np.dtype("<i4"), np.dtype("<i8")


def decode(data: bytes) -> Any:
    """The frame in these bytes."""
    try:
        return pb.Frame.FromString(data)
    except DecodeError:
        raise RunError(f"what came is no frame of this contract ({len(data)} bytes)") from None


# ---- from the engine ------------------------------------------------------------------------------------------------


def window(message: Any) -> Window:
    """A protobuf Window as columns; the arrays look into the message's bytes."""
    try:
        result = Window(
            message.number,
            message.end_ps,
            message.reply,
            np.frombuffer(message.kind, _U8),
            np.frombuffer(message.time_ps, _I64),
            np.frombuffer(message.node, _I32),
            np.frombuffer(message.ref, _I64),
            np.frombuffer(message.arg, _I32),
        )
    except ValueError:
        raise RunError(f"window {message.number} is damaged: a column does not hold whole numbers") from None
    rows = len(result.kind)
    if not rows == len(result.time_ps) == len(result.node) == len(result.ref) == len(result.arg):
        raise RunError(f"window {message.number} is damaged: its columns differ in length")
    return result


def finish(message: Any) -> Finish:
    """How the engine says the run ended."""
    scalars = {(s.module, s.name): s.value for s in message.scalars}
    return Finish(message.reason, message.end_ps, message.events, scalars)


def encode_hello(engine: str, engine_version: str) -> bytes:
    """The frame with which an engine introduces itself (for engines written in Python)."""
    frame = pb.Frame()
    h = frame.hello
    h.contract, h.schema_sha256 = CONTRACT, schema_sha256()
    h.engine, h.engine_version = engine, engine_version
    return frame.SerializeToString()


def encode_finish(finish: Finish) -> bytes:
    """The frame that ends a run (for engines written in Python)."""
    frame = pb.Frame()
    f = frame.finish
    f.reason, f.end_ps, f.events = finish.reason, finish.end_ps, finish.events
    for (module, name), value in finish.scalars.items():
        f.scalars.add(module=module, name=name, value=value)
    return frame.SerializeToString()


def encode_window(window: Window) -> bytes:
    """The frame of a window (for engines written in Python, and tests)."""
    frame = pb.Frame()
    w = frame.window
    w.number, w.end_ps, w.reply = window.number, window.end_ps, window.reply
    w.kind = _bytes(window.kind, _U8)
    w.time_ps = _bytes(window.time_ps, _I64)
    w.node = _bytes(window.node, _I32)
    w.ref = _bytes(window.ref, _I64)
    w.arg = _bytes(window.arg, _I32)
    return frame.SerializeToString()


# ---- from the controller --------------------------------------------------------------------------------------------


def encode_actions(number: int, actions: Actions) -> bytes:
    """The frame that answers window `number`."""
    frame = pb.Frame()
    a = frame.actions
    a.number = number
    if actions.stop:
        a.stop = True
    if isinstance(actions, ActionRows):
        if actions.rows:
            _put_rows(a, actions.rows)
    elif len(actions):
        a.kind = _bytes(actions.kind, _U8)
        a.time_ps = _bytes(actions.time_ps, _I64)
        a.node = _bytes(actions.node, _I32)
        a.ref = _bytes(actions.ref, _I64)
        a.peer = _bytes(actions.peer, _I32)
        a.size_bytes = _bytes(actions.size_bytes, _I32)
        a.interface = _bytes(actions.interface, _U8)
        if actions.topic is not None:
            a.topic = _bytes(actions.topic, _U8)
    a.SetInParent()
    if actions.patience:
        node, topic, patience_ps = zip(*actions.patience, strict=True)
        a.patient_node, a.patient_topic = _bytes(node, _I32), _bytes(topic, _U8)
        a.patience_ps = _bytes(patience_ps, _I64)
    return frame.SerializeToString()


def _put_rows(a: Any, rows: list[tuple[int, ...]]) -> None:
    kind, time_ps, node, ref, peer, size_bytes, interface, topic = zip(*rows, strict=True)
    a.kind, a.interface, a.topic = bytes(kind), bytes(interface), bytes(topic)
    a.time_ps, a.ref = array("q", time_ps).tobytes(), array("q", ref).tobytes()
    a.node, a.peer, a.size_bytes = (
        array("i", node).tobytes(),
        array("i", peer).tobytes(),
        array("i", size_bytes).tobytes(),
    )


def actions(message: Any) -> Actions:
    """A protobuf Actions as columns."""
    columns: dict[str, Any] = {name: np.frombuffer(getattr(message, name), ROW[name]) for name in COLUMNS}
    promises = zip(
        np.frombuffer(message.patient_node, _I32).tolist(), np.frombuffer(message.patient_topic, _U8).tolist(),
        np.frombuffer(message.patience_ps, _I64).tolist(), strict=True,
    )  # fmt: skip
    if not message.topic:
        columns["topic"] = None
    return Actions(**columns, stop=message.stop, patience=tuple(Patience(*p) for p in promises))


def encode_error(what: str) -> bytes:
    """The frame that tells the other side why this one ends."""
    frame = pb.Frame()
    frame.error.what = what
    return frame.SerializeToString()


def encode_setup(spec: RunSpec) -> bytes:
    """The frame that tells the engine the run."""
    frame = pb.Frame()
    s = frame.setup
    s.contract, s.schema_sha256 = CONTRACT, schema_sha256()
    s.study, s.parameters_json = spec.study, parameters_json(spec.parameters)
    s.seed = spec.seed & 0xFFFFFFFFFFFFFFFF
    s.reaction_ps, s.duration_ps, s.cap = spec.reaction_ps, spec.duration_ps, spec.cap
    s.passive_kinds = spec.passive_kinds
    s.channels.extend(spec.channels)
    _put_workload(s.workload, spec.network.workload)
    _put_faults(s.faults, spec.network.faults)
    if isinstance(spec.network, AbstractNetwork):
        _put_abstract(s.abstract_network, spec.network)
    else:
        _put_mobile(s.mobile_network, spec.network)
    return frame.SerializeToString()


def parameters_json(parameters: Mapping[str, Any]) -> str:
    """Parameters as text; equal parameters give equal text."""
    return json.dumps(dict(parameters), sort_keys=True, default=str)


def _put_workload(message: Any, workload: Workload) -> None:
    message.first_node, message.nodes = workload.first_node, workload.nodes
    message.messages, message.size_bytes = workload.messages, workload.size_bytes
    if workload.script is not None and len(workload.script.time_ps):
        message.script_time_ps = _bytes(workload.script.time_ps, _I64)
        message.script_node = _bytes(workload.script.node, _I32)
        message.script_size = _bytes(workload.script.size_bytes, _I32)
        return
    tables = WorkloadTables.of(workload)
    message.segment_start_ps = _bytes(tables.start_ps, _I64)
    message.segment_mean_ns = _bytes(tables.mean_ns, np.dtype("<f8"))
    message.segment_hot_share = _bytes(tables.hot_share, np.dtype("<f8"))
    message.segment_hot_nodes = _bytes(tables.hot_nodes, _I32)
    message.exponential_quantiles = _bytes(tables.exponential, np.dtype("<f8"))


def _put_faults(message: Any, faults: Faults) -> None:
    message.time_ps = _bytes(faults.time_ps, _I64)
    message.node = _bytes(faults.node, _I32)
    message.up = _bytes(faults.up, _U8)


def _put_abstract(message: Any, network: AbstractNetwork) -> None:
    message.nodes = network.nodes
    message.delay_quantiles_ns = _bytes(network.delay_quantiles_ns, np.dtype("<f8"))
    message.loss = network.loss
    message.send_ps, message.send_ps_per_byte = network.send_ps, network.send_ps_per_byte
    message.recv_ps = network.recv_ps


def _put_mobile(message: Any, network: MobileNetwork) -> None:
    message.station_x_mm = _bytes([x for x, _ in network.station_xy_mm], _I32)
    message.station_y_mm = _bytes([y for _, y in network.station_xy_mm], _I32)
    message.host_x_mm = _bytes([x for x, _ in network.host_xy_mm], _I32)
    message.host_y_mm = _bytes([y for _, y in network.host_xy_mm], _I32)
    message.wire_from = _bytes([a for a, _ in network.wires], _I32)
    message.wire_to = _bytes([b for _, b in network.wires], _I32)
    for name in (
        "hosts", "cell_radius_mm", "wire_bps", "wire_delay_ps", "radio", "radio_bps", "speed_mm_s", "covered_only",
        "position_every_ps", "host_tcp",
    ):  # fmt: skip
        setattr(message, name, getattr(network, name))


def _bytes(column: Any, dtype: np.dtype) -> bytes:
    return np.asarray(column, dtype).tobytes()
