"""Validation of the description of a run, once, before anything starts. Start at `check_spec`.

Engines rely on it: the one in this process has no bounds checks, simulators read columns in C++. An error names the
study, the value and the allowed values.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from causeway.bridge.engine import RunSpec
from causeway.bridge.validation import rule_of_field
from causeway.bridge.validation_kernel import FAR_PS
from causeway.errors import UserError
from causeway.network.faults import Jammer, LinkFailure, Partition
from causeway.network.movement import Place
from causeway.network.networks import AbstractNetwork, InetNetwork, MobileNetwork, Network
from causeway.network.random import QUANTILE_BINS
from causeway.network.stays import changes_of
from causeway.network.workload import Faults, Segment, Workload

MOST_INT32 = (1 << 31) - 1
SHORTEST_INTERVAL_PS = 10**9
"""The shortest interval between reports of positions, a millisecond. At picoseconds a run would never end."""
LONGEST_DELAY_NS = FAR_PS / 4000
"""A quarter of the latest time, so that a sum of a few delays does not overflow."""


def check_spec(spec: RunSpec) -> None:
    """Validate the description of a run.

    Raises:
        UserError: No such run is possible.
    """
    network, study = spec.network, f"study {spec.study}"
    if not isinstance(network, AbstractNetwork | MobileNetwork | InetNetwork):
        allowed = "AbstractNetwork, MobileNetwork, InetNetwork"
        raise UserError(f"{study}: its network is {type(network).__name__}; allowed: {allowed}")
    _whole(study, "the seed", spec.seed, 0, (1 << 63) - 1)
    _field(study, "Setup", "reaction_ps", spec.reaction_ps)
    _field(study, "Setup", "duration_ps", spec.duration_ps)
    _whole(study, "the cap", spec.cap, 0, (1 << 32) - 1)
    _whole(study, "the mask of passive kinds", spec.passive_kinds, 0, (1 << 32) - 1)
    _number(study, "the deadline (deadline_s)", spec.deadline_s, 0, 10**9)
    _field(study, "AbstractNetwork", "nodes", network.nodes)
    _check_workload(study, network.workload, network.nodes)
    _check_faults(study, network.faults, network)
    changes_of(network)
    if not spec.duration_ps and not isinstance(network, InetNetwork):  # its ini file sets a sim-time-limit
        _check_end(study, network.workload)
    if isinstance(network, InetNetwork):
        _check_interval(study, "OwnNetwork", "places_every_ps", network.places_every_ps)
    else:
        _check_faults_of_network(study, network)
    if isinstance(network, AbstractNetwork):
        _check_abstract(study, network)
    elif isinstance(network, MobileNetwork):
        _check_mobile(study, network)


def _check_workload(study: str, workload: Workload, nodes: int) -> None:
    _field(study, "Workload", "first_node", workload.first_node, nodes=nodes)
    _field(study, "Workload", "nodes", workload.nodes, nodes=nodes - workload.first_node)
    _field(study, "Workload", "messages", workload.messages)
    _field(study, "Workload", "size_bytes", workload.size_bytes)
    script = workload.script
    if script is not None:
        rows = len(script.time_ps)
        _column(study, "Workload", "script_time_ps", script.time_ps, rows, ascending=True)
        _column(study, "Workload", "script_node", script.node, rows, nodes=nodes)
        _column(study, "Workload", "script_size", script.size_bytes, rows)
    elif workload.messages and not workload.segments:
        allowed = "0 without a load, or a load, as in segments=(Segment(0, rate),)"
        _refuse(study, "the workload's messages", workload.messages, allowed)
    start_ps = -1
    for number, segment in enumerate(workload.segments):
        where = f"segment {number} of the workload"
        if not isinstance(segment, Segment):
            _refuse(study, where, f"a {type(segment).__name__}", "a Segment, as in segments=(Segment(0, rate),)")
        _whole(study, f"the start_ps of {where}", segment.start_ps, 0, FAR_PS - 1, " picoseconds (a second is S_PS)")
        if segment.start_ps <= start_ps:
            allowed = f"segments in order of time: this one after {start_ps}, the start of the one before it"
            _refuse(study, f"the start_ps of {where}", segment.start_ps, allowed)
        start_ps = int(segment.start_ps)
        _number(study, f"the rate_per_s of {where}", segment.rate_per_s, 0, 10**12)
        if 0 < segment.rate_per_s < 1e-6:
            _refuse(study, f"the rate_per_s of {where}", segment.rate_per_s, "0, or 1e-06 and up")
        _number(study, f"the hot_share of {where}", segment.hot_share, *_bounds("Workload", "segment_hot_share"))
        _whole(study, f"the hot_nodes of {where}", segment.hot_nodes, 0, workload.nodes)
        if segment.rate_per_s > 0 and not workload.nodes:
            _refuse(study, f"the rate_per_s of {where}", segment.rate_per_s, "0, as no node broadcasts")


def _check_end(study: str, workload: Workload) -> None:
    """Refuse an endless load in a run that has no other end."""
    last = workload.segments[-1] if workload.segments else None
    if last is not None and last.rate_per_s > 0 and not workload.messages and workload.script is None:
        _refuse(
            study, "the workload's messages", "0 (no limit), its last segment goes on for ever and the run has no end",
            "1 and up, a last segment with rate 0, or a duration (Study.duration_ps)",
        )  # fmt: skip


def _check_faults(study: str, faults: Any, network: Network) -> None:
    if not isinstance(faults, Faults):
        _refuse(study, "the network's faults", f"a {type(faults).__name__}", "Faults(time_ps=..., node=..., up=...)")
    rows = len(faults.time_ps)
    _column(study, "Faults", "time_ps", faults.time_ps, rows, ascending=True)
    _column(study, "Faults", "node", faults.node, rows, nodes=network.nodes)
    _column(study, "Faults", "up", faults.up, rows)
    if getattr(network, "batteries", None):  # a node whose battery is empty is down without a row
        return
    by_node = np.argsort(faults.node, kind="stable")
    node, up = np.asarray(faults.node)[by_node], np.asarray(faults.up)[by_node] > 0
    was_up = np.ones(rows, bool)
    was_up[1:] = (node[1:] != node[:-1]) | up[:-1]
    if len(vain := by_node[up == was_up]):
        row = int(vain.min())
        word = "up" if faults.up[row] else "down"
        shown = f"node {faults.node[row]} goes {word} at {faults.time_ps[row]} ps, but is {word} already"
        _refuse(
            study, f"the faults' row {row}", f"without effect ({shown})", "down (0) and up (1) in turns, down first"
        )


def _check_faults_of_network(study: str, network: AbstractNetwork | MobileNetwork) -> None:
    for number, one in enumerate(network.network_faults):
        what = f"network fault {number}"
        if not isinstance(one, LinkFailure | Jammer | Partition):
            _refuse(study, what, type(one).__name__, "LinkFailure, Jammer, Partition")
        _whole(study, f"the from_ps of {what}", one.from_ps, *_bounds("Troubles", "from_ps"))
        _whole(study, f"the to_ps of {what}", one.to_ps, one.from_ps + 1, _bounds("Troubles", "to_ps")[1])
        if isinstance(one, Jammer):
            if isinstance(network, AbstractNetwork):
                _refuse(study, what, "a jammer", "LinkFailure, Partition: the abstract network has no places")
            for name in ("x_mm", "y_mm", "z_mm"):
                _whole(study, f"the {name} of {what}", getattr(one, name), -MOST_INT32 - 1, MOST_INT32)
            _whole(study, f"the radius_mm of {what}", one.radius_mm, 1, MOST_INT32)
            continue
        if isinstance(one, Partition) and not isinstance(one.one_way, bool | np.bool_):
            _refuse(study, f"one_way of {what}", repr(one.one_way), "True, False")
        sides = () if isinstance(one, LinkFailure) else (one.one, one.other)
        if not all(isinstance(side, tuple | list) for side in sides):
            _refuse(study, f"a side of {what}", sides, "a tuple of nodes, as in Partition((0, 1), (2, 3), ...)")
        if not all(sides):
            _refuse(study, what, "a partition with an empty side", "nodes on both sides")
        nodes = (one.a, one.b) if isinstance(one, LinkFailure) else (*one.one, *one.other)
        for node in nodes:
            _whole(study, f"a node of {what}", node, *_bounds("Troubles", "side_node", nodes=network.nodes))
        if len(set(nodes)) < len(nodes):
            if isinstance(one, LinkFailure):
                _refuse(study, what, "a link failure between a node and itself", "two nodes")
            _refuse(study, what, "a partition that names a node twice", "each node once, on one side")
        if isinstance(one, LinkFailure):
            _check_link_failure(study, what, one, network)


def _check_link_failure(study: str, what: str, one: LinkFailure, network: AbstractNetwork | MobileNetwork) -> None:
    if isinstance(network, AbstractNetwork):
        links = network.links
        if (
            links is not None
            and one.b not in links.neighbours(one.a, network.nodes)
            and one.a not in (links.neighbours(one.b, network.nodes))
        ):
            _refuse(study, what, f"a failure of the link {one.a}-{one.b}, which does not exist", "links of the network")
        return
    if (one.a, one.b) not in network.wires and (one.b, one.a) not in network.wires:
        wires = ", ".join(f"{a}-{b}" for a, b in network.wires[:20]) or "none, there are no wires"
        _refuse(study, what, f"a link failure between {one.a} and {one.b}, which no wire joins", wires)


def _check_abstract(study: str, network: AbstractNetwork) -> None:
    table = np.asarray(network.delay)
    if table.shape != (QUANTILE_BINS + 1,) or table.dtype.kind != "f":
        points = QUANTILE_BINS + 1
        allowed = f"{points} floats, as numpy.quantile(measured_ns, numpy.linspace(0, 1, {points}))"
        _refuse(study, "the delays' quantiles", f"{table.dtype}, {table.shape}", allowed)
    bad = np.flatnonzero(~((table >= 0) & (table <= LONGEST_DELAY_NS)))  # NaN is neither
    if len(bad):
        most = f"{LONGEST_DELAY_NS / 1e9:,.0f} s"
        _refuse(study, f"the delay at quantile {bad[0]}", f"{table[bad[0]]} ns", f"0 to {most}")
    if (np.diff(table) < 0).any():
        row = int(np.flatnonzero(np.diff(table) < 0)[0]) + 1
        _refuse(study, f"the delay at quantile {row}", f"{table[row]} ns", f"{table[row - 1]} ns and up (ascending)")
    _number(study, "the loss", network.loss, *_bounds("AbstractNetwork", "loss"))
    _field(study, "AbstractNetwork", "send_ps", network.send_ps)
    _field(study, "AbstractNetwork", "send_ps_per_byte", network.send_ps_per_byte)
    _field(study, "AbstractNetwork", "recv_ps", network.recv_ps)
    _check_places(study, "node", network.node_xy_mm)


def _check_mobile(study: str, network: MobileNetwork) -> None:
    stations = len(network.station_xy_mm)
    _field(study, "MobileNetwork", "hosts", network.hosts)
    _check_places(study, "station", network.station_xy_mm)
    _check_places(study, "host", network.host_xy_mm)
    for number, (a, b) in enumerate(network.wires):
        for end in (a, b):
            _whole(study, f"the station at an end of wire {number}", end, 0, stations - 1)
        if a == b:
            _refuse(study, f"wire {number}", f"from station {a} to itself", "wires between two stations")
    _field(study, "MobileNetwork", "cell_radius_mm", network.cell_radius_mm)
    _field(study, "MobileNetwork", "wire_bps", network.wire_bps)
    _field(study, "MobileNetwork", "wire_delay_ps", network.wire_delay_ps)
    _field(study, "MobileNetwork", "radio_bps", network.radio_bps)
    _field(study, "MobileNetwork", "speed_mm_s", network.speed_mm_s)
    _check_interval(study, "MobileNetwork", "position_every_ps", network.position_every_ps)
    _check_interval(study, "MobileNetwork", "places_every_ps", network.places_every_ps)
    for number, speed in enumerate(network.host_speeds_mm_s):
        _whole(study, f"the speed of host {number}, in mm/s", speed, *_bounds("MobileNetwork", "host_speed_mm_s"))
    for number, trace in enumerate(network.traces):
        if trace is not None:
            _check_trace(study, f"the trace of host {number}", trace)
    _check_area(study, network)


def _check_places(study: str, what: str, places: Sequence[Place]) -> None:
    for number, point in enumerate(places):
        for axis, value in zip("xyz", point, strict=False):
            _whole(study, f"the {axis} of {what} {number}, in mm", value, -MOST_INT32 - 1, MOST_INT32)


def _check_trace(study: str, what: str, trace: Any) -> None:
    rows = "rows of time_ps, x_mm, y_mm (and z_mm)"
    try:
        points = np.asarray(trace)
    except ValueError:  # rows of several lengths
        _refuse(study, what, "rows of several lengths", rows)
    if points.ndim != 2 or points.shape[1] not in (3, 4) or not len(points) or points.dtype.kind not in "iu":
        _refuse(study, what, f"{points.dtype}, {points.shape}", f"whole numbers, {rows}")
    _values(study, f"{what}, time_ps", points[:, 0], len(points), 0, FAR_PS - 1, ascending=True)
    for name, column in zip(("x_mm", "y_mm", "z_mm"), points.T[1:], strict=False):
        _values(study, f"{what}, {name}", column, len(points), -MOST_INT32, MOST_INT32)
    twice = np.flatnonzero(np.diff(points[:, 0]) == 0)
    if len(twice):
        _refuse(study, f"{what}, row {twice[0] + 1},", f"{points[twice[0], 0]} ps again", "each time once")


def _check_area(study: str, network: MobileNetwork) -> None:
    area = network.area_mm
    if len(area) not in (0, 4):
        _refuse(study, "area_mm", f"{len(area)} numbers", "x, y of two corners, or nothing")
    for value in area:
        _whole(study, "a corner of area_mm", value, -MOST_INT32 - 1, MOST_INT32)
    if area and not (area[0] < area[2] and area[1] < area[3]):
        _refuse(study, "area_mm", area, "the lower corner first: x0 < x1 and y0 < y1")
    if network.station_xy_mm or area or not network.hosts:
        return
    placed = bool(network.first_places_mm)
    for host in range(network.hosts):
        traced = bool(network.traces) and network.traces[host] is not None
        walks = (network.host_speeds_mm_s[host] if network.host_speeds_mm_s else network.speed_mm_s) > 0
        if not traced and (walks or not placed):
            lacking = f"the area in which host {host} walks" if placed else f"the start position of host {host}"
            _refuse(study, f"there are no stations, and {lacking}", "not set", "area_mm, host_xy_mm or traces")


def _whole(study: str, what: str, value: Any, least: int, most: int, unit: str = "") -> None:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not least <= value <= most:
        _refuse(study, what, value, f"a whole number, {least} to {most}{unit}" if least <= most else "none")


def _number(study: str, what: str, value: Any, least: float, most: float) -> None:
    is_number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value) or not least <= value <= most:
        _refuse(study, what, value, f"a number, {least} to {most}")


def _bounds(message: str, field: str, **held: int) -> tuple[int, int]:
    """Return the bounds that the contract declares for a field."""
    rule = rule_of_field(message, field)
    return rule.least.value(held), rule.most.value(held)


def _field(study: str, message: str, field: str, value: Any, **held: int) -> None:
    """Check a whole number against the rule of its field."""
    _whole(study, rule_of_field(message, field).wrong, value, *_bounds(message, field, **held))


def _check_interval(study: str, message: str, field: str, every_ps: Any) -> None:
    """Check an interval between reports of positions: 0, or at least SHORTEST_INTERVAL_PS."""
    _field(study, message, field, every_ps)
    if 0 < every_ps < SHORTEST_INTERVAL_PS:
        _refuse(study, field, every_ps, f"0 (never), or {SHORTEST_INTERVAL_PS:,} picoseconds (a millisecond) and up")


def _column(study: str, message: str, field: str, column: Any, rows: int, ascending: bool = False, **held: int) -> None:
    """Check all values of a column against the rule of its field."""
    least, most = _bounds(message, field, **held)
    _values(study, rule_of_field(message, field).wrong, column, rows, least, most, ascending)


def _values(study: str, what: str, column: Any, rows: int, least: int, most: int, ascending: bool = False) -> None:
    array = np.asarray(column)
    if array.ndim != 1 or len(array) != rows:
        _refuse(study, what, f"{array.size} rows", f"{rows} rows, as time_ps has")
    if rows and array.dtype.kind not in "iub":
        _refuse(study, what, array.dtype, "whole numbers")
    bad = np.flatnonzero((array < least) | (array > most))
    if len(bad):
        _refuse(study, f"{what}, row {bad[0]},", array[bad[0]], f"{least} to {most}")
    if ascending and rows > 1 and (array[1:] < array[:-1]).any():
        row = int(np.flatnonzero(array[1:] < array[:-1])[0]) + 1
        _refuse(study, f"{what}, row {row},", array[row], f"{array[row - 1]} and up (ascending)")


def _refuse(study: str, what: str, value: Any, allowed: str) -> NoReturn:
    raise UserError(f"{study}: {what} is {value}; allowed: {allowed}")
