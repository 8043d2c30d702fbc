"""Movement traces of other tools: positions of hosts over time, read from ns-2 and BonnMotion files.

A trace is an array of waypoints (time in ps; x and y in mm, and the height z, if there are heights). A host moves in
straight lines at constant speed between them, and does not move before the first and after the last. Both packet-level
engines compute positions from these whole numbers by the same operations (`bridge/cpp/path.h`; `place_at` is the
reference implementation), so a host has the same position on all of them.

    traces = read_traces("city.ns2")
    MobileNetwork((), (), traces=traces, hosts=len(traces), ...)
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from causeway.errors import UserError
from causeway.network.field_shapes import checked_arguments, checked_values
from causeway.proto.contract import constant

Trace = NDArray[np.int64]
"""Waypoints: rows of (time_ps, x_mm, y_mm) or, with heights, (time_ps, x_mm, y_mm, z_mm), in order of time."""
Place = tuple[int, int] | tuple[int, int, int]
"""A position in mm: x and y, or x, y and z. Without z, the height is 0."""

LATEST_PS = constant("LATEST_PS")
MOST_MM = (1 << 31) - 1
_NUMBER = r"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)"
_SET = re.compile(rf'^\s*(?:\$ns_ at {_NUMBER} ")?\$node_\((\d+)\) set ([XYZ])_ {_NUMBER}"?\s*(?:[#;].*)?$')
_OTHERS = re.compile(r"^\s*(?:#|;|$|set\s+\S|puts\b|\$god_\s|\$ns_\s)")
"""Commands of a simulation script that do not move a node: variables, distances, the end."""
_GO = re.compile(rf'^\s*\$ns_ at {_NUMBER} "\$node_\((\d+)\) setdest {_NUMBER} {_NUMBER} {_NUMBER}"\s*(?:[#;].*)?$')


def xyz(place: Place) -> tuple[int, int, int]:
    """Return a position with its height."""
    return place if len(place) == 3 else (*place, 0)


@checked_arguments
def trace(*waypoints: tuple[float, ...]) -> Trace:
    """Return a trace from waypoints in s and m: `trace((0, 10, 20), (5, 60, 20))`, or all with a height as well."""
    values = len(waypoints[0]) if waypoints and isinstance(waypoints[0], tuple | list | np.ndarray) else 3
    for number, waypoint in enumerate(waypoints):
        is_place = isinstance(waypoint, tuple | list | np.ndarray) and len(waypoint) == values and values in (3, 4)
        if not is_place or not all(isinstance(v, int | float | np.integer | np.floating) for v in waypoint):
            raise UserError(
                f"waypoint {number} of a trace is {waypoint!r}; allowed: (time in s, x in m, y in m), or all waypoints "
                "with a height in m, too"
            )
    return _trace([tuple(waypoint) for waypoint in waypoints], "a trace")


@checked_values
def read_traces(path: str | Path, heights: bool = False) -> tuple[Trace, ...]:
    """Return one trace for each node of an ns-2 or a BonnMotion file.

    Args:
        path: The file.
        heights: True if positions of a BonnMotion file have a height (time x y z).
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot be read as a trace ({error})") from None
    is_ns2 = any("$node_(" in line and not line.lstrip().startswith("#") for line in text.splitlines())
    return _read_ns2(path, text) if is_ns2 else _read_bonnmotion(path, text, 4 if heights else 3)


def place_at(trace: Trace, time_ps: int) -> tuple[int, ...]:
    """Return the position in mm of a host with this trace, exactly as the engines compute it."""
    after = int(np.searchsorted(trace[:, 0], time_ps, side="right"))
    t0, *here = (int(v) for v in trace[max(0, after - 1)])
    if after == 0 or after == len(trace):
        return tuple(here)
    t1, *there = (int(v) for v in trace[after])
    share = float(time_ps - t0) / float(t1 - t0)
    return tuple(_whole_mm(a + (b - a) * share) for a, b in zip(here, there, strict=True))


def _whole_mm(mm: float) -> int:
    metres = mm / 1000
    return int(math.copysign(math.floor(abs(metres * 1000) + 0.5), mm))


# ---- BonnMotion: one line per node, time x y time x y ... ------------------------------------------------------------


def _read_bonnmotion(path: Path, text: str, step: int) -> tuple[Trace, ...]:
    traces = []
    form = "four for each position (time x y z); a number is missing"
    if step == 3:
        form = "three for each position (time x y); a number is missing, or the file has heights (heights=True)"
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        where = f"{path}, line {number}"
        try:
            values = [float(word) for word in line.split()]
        except ValueError:
            raise UserError(
                f"{where}: is neither ns-2 nor BonnMotion: a line of BonnMotion contains only numbers, time x y ..."
            ) from None
        if len(values) % step:
            raise UserError(f"{where}: has {len(values)} numbers, but a node's line has {form}")
        traces.append(_trace([tuple(values[i : i + step]) for i in range(0, len(values), step)], where))
    if not traces:
        raise UserError(f"{path}: contains no trace; a BonnMotion file has a line of times and positions for each node")
    return tuple(traces)


# ---- ns-2: positions at the start, then commands ------------------------------------------------------------------


@dataclass
class _Ns2Node:
    x: float | None = None
    y: float | None = None
    z: float | None = None
    commands: list[tuple[float, float, float, float]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)


def _read_ns2(path: Path, text: str) -> tuple[Trace, ...]:
    nodes: dict[int, _Ns2Node] = {}
    unknown: dict[int, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("#"):
            continue
        if "$node_(" not in line:
            if not _OTHERS.match(line):
                unknown[number] = line.strip()[:60]
            continue
        if found := _SET.match(line):
            node = nodes.setdefault(int(found[2]), _Ns2Node())
            if found[1] is not None and float(found[1]) != 0:
                raise UserError(f"{path}, line {number}: moves a node at once at {found[1]} s; nodes cannot jump")
            setattr(node, found[3].lower(), float(found[4]))
        elif found := _GO.match(line):
            node = nodes.setdefault(int(found[2]), _Ns2Node())
            node.commands.append((float(found[1]), float(found[3]), float(found[4]), float(found[5])))
            node.lines.append(number)
        else:
            shown = f"{path}, line {number}: is not ns-2 movement ({line.strip()[:60]})"
            raise UserError(f"{shown}; allowed: set X_, Y_, Z_ and setdest")
    if unknown:
        lines = ", ".join(map(str, list(unknown)[:5])) + (", ..." if len(unknown) > 5 else "")
        several = f"lines {lines}: are" if len(unknown) > 1 else f"line {lines}: is"
        raise UserError(
            f"{path}, {several} not ns-2 movement ({next(iter(unknown.values()))}); allowed besides set X_, Y_, Z_ and "
            "setdest: comments, set, puts, $god_ and other $ns_ commands; remove the rest"
        )
    missing = sorted(set(range(max(nodes) + 1)) - set(nodes))
    if missing:
        raise UserError(f"{path}: has a node {max(nodes)} but no node {missing[0]}; nodes must be numbered from 0 on")
    return tuple(_ns2_trace(nodes[n], n, path) for n in range(len(nodes)))


def _ns2_trace(node: _Ns2Node, number: int, path: Path) -> Trace:
    """Return the trace of one node. A command holds until the next one, or until the node has reached its target."""
    where = f"{path}, node {number}"
    if node.x is None or node.y is None:
        raise UserError(f"{where}: has no start position; add $node_({number}) set X_ and Y_")
    points = [(0.0, node.x, node.y)]
    begin_s, from_x, from_y, to_x, to_y, speed, last_s = 0.0, node.x, node.y, node.x, node.y, 0.0, 0.0

    def position_at(now: float) -> tuple[float, float, bool]:
        far = math.hypot(to_x - from_x, to_y - from_y)
        share = 1.0 if far == 0 else min(1.0, speed * (now - begin_s) / far)
        return from_x + (to_x - from_x) * share, from_y + (to_y - from_y) * share, share == 1.0

    def until(now: float | None) -> None:
        """Add the waypoints of the rest of the current command, up to `now`."""
        far = math.hypot(to_x - from_x, to_y - from_y)
        if far == 0 or speed == 0:
            if now is not None:
                points.append((now, from_x, from_y))
            return
        there_s = begin_s + far / speed
        if now is None or there_s <= now:
            points.append((there_s, to_x, to_y))
        if now is not None and there_s != now:
            points.append((now, *position_at(now)[:2]))

    for line, (at_s, x, y, v) in zip(node.lines, node.commands, strict=True):
        if at_s < last_s:
            raise UserError(f"{path}, line {line}: goes back in time, from {last_s:g} to {at_s:g} s")
        if v < 0:
            raise UserError(f"{path}, line {line}: has a speed of {v:g} m/s; allowed: 0 and up")
        until(at_s)
        from_x, from_y, _ = position_at(at_s)
        begin_s, to_x, to_y, speed, last_s = at_s, x, y, v, at_s
    until(None)
    heights = (node.z,) if node.z else ()  # setdest keeps the height
    return _trace([(*point, *heights) for point in points], where, jumps_are_rounding=True)


# ---- both --------------------------------------------------------------------------------------------------------


def _trace(points: list[tuple[float, ...]], where: str, jumps_are_rounding: bool = False) -> Trace:
    if not points:
        raise UserError(f"{where}: contains no position")
    rows: list[tuple[int, ...]] = []
    for t, *place in points:
        shown = ", ".join(f"{v:g}" for v in place)
        if not all(math.isfinite(v) for v in (t, *place)):
            raise UserError(f"{where}: a number is missing: time {t:g} s, position ({shown}) m")
        if not 0 <= t * 1e12 <= LATEST_PS or max(map(abs, place)) * 1000 > MOST_MM:
            raise UserError(
                f"{where}: time {t:g} s, position ({shown}) m is out of range; allowed: 0 s and up, 2,000 km"
            )
        row = (round(t * 1e12), *(_whole_mm(v * 1000) for v in place))
        if rows and row[0] < rows[-1][0]:
            raise UserError(f"{where}: goes back in time, from {rows[-1][0] / 1e12:g} to {t:g} s")
        if rows and row[0] == rows[-1][0]:
            if row != rows[-1] and not jumps_are_rounding:
                raise UserError(f"{where}: is at two positions at {t:g} s; hosts cannot jump")
            continue
        rows.append(row)
    return np.array(rows, np.int64)
