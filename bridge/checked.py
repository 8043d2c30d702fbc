"""Whether a run can be described to an engine: every number of it, once, before anything starts.

Engines believe what they are told here: the one in process has no bounds checks, simulators read columns in C++. What a
study asks for and cannot have is told in words, with what is allowed.
"""

from __future__ import annotations

import math
from typing import Any, NoReturn

import numpy as np

from causeway.bridge.border_kernel import FAR_PS
from causeway.bridge.engine import RunSpec
from causeway.bridge.errors import UserError
from causeway.bridge.network import AbstractNetwork, InetNetwork, MobileNetwork
from causeway.bridge.workload import Faults, Workload

MOST_NODES = 1 << 20
"""The engine in process sorts by keys that have room for so many."""
MOST_INT32 = (1 << 31) - 1
LONGEST_DELAY_NS = FAR_PS / 4000
"""A quarter of all time: sums of a few delays are times."""
SLOWEST_PS = 10**15
"""A thousand seconds for a packet or its byte, at most."""


def check_spec(spec: RunSpec) -> None:
    """Raises UserError if there is no such run."""
    network, study = spec.network, f"study {spec.study}"
    if not isinstance(network, AbstractNetwork | MobileNetwork | InetNetwork):
        allowed = "AbstractNetwork, MobileNetwork, InetNetwork"
        raise UserError(f"{study}: its network is {type(network).__name__}; allowed: {allowed}")
    _whole(study, "the seed", spec.seed, 0, (1 << 63) - 1)
    _whole(study, "the reaction time (reaction_ps)", spec.reaction_ps, 1, FAR_PS // 4)
    _whole(study, "the duration (duration_ps)", spec.duration_ps, 0, FAR_PS - 1)
    _whole(study, "the cap", spec.cap, 0, (1 << 32) - 1)
    _whole(study, "the mask of passive kinds", spec.passive_kinds, 0, (1 << 32) - 1)
    _number(study, "the deadline (deadline_s)", spec.deadline_s, 0, 10**9)
    _whole(study, "the number of nodes", network.nodes, 1, MOST_NODES)
    _check_workload(study, network.workload, network.nodes)
    _check_faults(study, network.faults, network.nodes)
    if isinstance(network, AbstractNetwork):
        _check_abstract(study, network)
    elif isinstance(network, MobileNetwork):
        _check_mobile(study, network)


def _check_workload(study: str, workload: Workload, nodes: int) -> None:
    _whole(study, "the workload's first node", workload.first_node, 0, nodes)
    _whole(study, "the workload's nodes", workload.nodes, 0, nodes - workload.first_node)
    _whole(study, "the workload's messages", workload.messages, 0, FAR_PS - 1)
    _whole(study, "the workload's size_bytes", workload.size_bytes, 0, MOST_INT32)
    script = workload.script
    if script is not None:
        rows = len(script.time_ps)
        _column(study, "the script's time_ps", script.time_ps, rows, 0, FAR_PS - 1, ascending=True)
        _column(study, "the script's node", script.node, rows, 0, nodes - 1)
        _column(study, "the script's size_bytes", script.size_bytes, rows, 0, MOST_INT32)
    for number, segment in enumerate(workload.segments):
        where = f"segment {number} of the workload"
        earliest = workload.segments[number - 1].start_ps + 1 if number else 0
        latest = FAR_PS - 1 if number else 0
        _whole(study, f"the start_ps of {where}", segment.start_ps, earliest, latest)
        _number(study, f"the rate_per_s of {where}", segment.rate_per_s, 0, 10**12)
        if 0 < segment.rate_per_s < 1e-6:
            _refuse(study, f"the rate_per_s of {where}", segment.rate_per_s, "0, or 1e-06 and up")
        _number(study, f"the hot_share of {where}", segment.hot_share, 0, 1)
        _whole(study, f"the hot_nodes of {where}", segment.hot_nodes, 0, workload.nodes)
        if segment.rate_per_s > 0 and not workload.nodes:
            _refuse(study, f"the rate_per_s of {where}", segment.rate_per_s, "0, as no node broadcasts")


def _check_faults(study: str, faults: Faults, nodes: int) -> None:
    rows = len(faults.time_ps)
    _column(study, "the faults' time_ps", faults.time_ps, rows, 0, FAR_PS - 1, ascending=True)
    _column(study, "the faults' node", faults.node, rows, 0, nodes - 1)
    _column(study, "the faults' up", faults.up, rows, 0, 1)


def _check_abstract(study: str, network: AbstractNetwork) -> None:
    table = np.asarray(network.delay_quantiles_ns)
    if table.ndim != 1 or len(table) < 2 or table.dtype.kind != "f":
        _refuse(study, "the delays' quantiles", f"{table.dtype}, {table.shape}", "floats, two or more")
    bad = np.flatnonzero(~((table >= 0) & (table <= LONGEST_DELAY_NS)))  # NaN is neither
    if len(bad):
        most = f"{LONGEST_DELAY_NS / 1e9:,.0f} s"
        _refuse(study, f"the delay at quantile {bad[0]}", f"{table[bad[0]]} ns", f"0 to {most}")
    if (np.diff(table) < 0).any():
        row = int(np.flatnonzero(np.diff(table) < 0)[0]) + 1
        _refuse(study, f"the delay at quantile {row}", f"{table[row]} ns", f"{table[row - 1]} ns and up (ascending)")
    _number(study, "the loss", network.loss, 0, 1)
    _whole(study, "send_ps", network.send_ps, 0, SLOWEST_PS)
    _whole(study, "send_ps_per_byte", network.send_ps_per_byte, 0, SLOWEST_PS // 10**6)
    _whole(study, "recv_ps", network.recv_ps, 0, SLOWEST_PS)


def _check_mobile(study: str, network: MobileNetwork) -> None:
    stations = len(network.station_xy_mm)
    _whole(study, "the number of hosts", network.hosts, 0, MOST_NODES)
    for number, point in enumerate(network.station_xy_mm):
        for axis, value in zip("xy", point, strict=True):
            _whole(study, f"the {axis} of station {number}, in mm", value, -MOST_INT32 - 1, MOST_INT32)
    for number, (a, b) in enumerate(network.wires):
        for end in (a, b):
            _whole(study, f"the station at an end of wire {number}", end, 0, stations - 1)
        if a == b:
            _refuse(study, f"wire {number}", f"from station {a} to itself", "wires between two stations")
    _whole(study, "cell_radius_mm", network.cell_radius_mm, 1, MOST_INT32)
    _whole(study, "wire_bps", network.wire_bps, 1, 10**15)
    _whole(study, "wire_delay_ps", network.wire_delay_ps, 0, FAR_PS // 4)
    _whole(study, "radio_bps", network.radio_bps, 0, 10**15)
    _whole(study, "speed_mm_s", network.speed_mm_s, 0, MOST_INT32)
    _whole(study, "position_every_ps", network.position_every_ps, 0, FAR_PS - 1)


def _whole(study: str, what: str, value: Any, least: int, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not least <= value <= most:
        _refuse(study, what, value, f"a whole number, {least} to {most}" if least <= most else "none")


def _number(study: str, what: str, value: Any, least: float, most: float) -> None:
    is_number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value) or not least <= value <= most:
        _refuse(study, what, value, f"a number, {least} to {most}")


def _column(study: str, what: str, column: Any, rows: int, least: int, most: int, ascending: bool = False) -> None:
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
