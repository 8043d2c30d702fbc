"""Heights of positions, for nodes that have `on_station(self, station, x_mm, y_mm, z_mm=0)`.

Handlers without the argument `z_mm` are called without the height.
"""

from __future__ import annotations

import inspect
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from causeway.bridge.events import Kind, Window, unpack_position

if TYPE_CHECKING:
    from causeway.pycontrol.node import PerNode

AXES = 3
"""The number of arguments of `on_station` without a height: the station, x and y."""


def heights_of(window: Window) -> dict[tuple[int, int], int]:
    """Return the heights that a window reports, by time and node. Most windows have none."""
    if window.z_mm is None:
        return {}
    rows = np.flatnonzero((window.kind == Kind.STATION) & (window.z_mm != 0))
    return {(int(window.time_ps[row]), int(window.node[row])): int(window.z_mm[row]) for row in rows}


def report(runtime: PerNode, node: int, station: int, ref: int) -> None:
    """Call a node's `on_station`."""
    handler, place = runtime.nodes[node], unpack_position(ref)
    if takes_height(type(handler)):  # type: ignore[arg-type]  # mypy: a class with slots has no hash
        place = *place, runtime._heights.get((runtime.now_ps, node), 0)  # type: ignore[assignment]
    handler.on_station(station, *place)


@cache
def takes_height(kind: type) -> bool:
    """Return whether the `on_station` of a class of nodes has an argument for the height."""
    names = list(inspect.signature(kind.on_station).parameters.values())[1:]  # type: ignore[attr-defined]
    places = [one for one in names if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    return len(places) > AXES or any(one.kind is one.VAR_POSITIONAL for one in names)
