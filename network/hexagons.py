"""Place stations on a hexagonal grid: one in the centre, in rings of 6, 12, 18, ... around it, and wire them."""

from __future__ import annotations

from math import cos, hypot, pi, sin

from causeway.errors import UserError
from causeway.network.field_shapes import MOST_NODES, checked_values

Place = tuple[int, int]
"""The x and y of a position, in millimetres."""


@checked_values
def hexagonal_places(cells: int, spacing_mm: float, centre_mm: Place = (400_000, 400_000)) -> tuple[Place, ...]:
    """Return the positions of stations, ring by ring; 1, 7, 19, 37, 61, 91 or 127 stations make complete rings.

    Args:
        cells: The number of stations.
        spacing_mm: The distance between neighbours.
        centre_mm: The position of the first station. Each ring begins to the right of it and goes anticlockwise.
    """
    if not 1 <= cells <= MOST_NODES:
        raise UserError(f"hexagonal_places: cells is {cells}; allowed: 1 to {MOST_NODES:,}")
    places, ring = [centre_mm], 0
    while len(places) < cells:
        ring += 1
        for side in range(6):
            for step in range(ring):
                places.append(_place(ring, side, step, spacing_mm, centre_mm))
    return tuple(places[:cells])


def _place(ring: int, side: int, step: int, spacing_mm: float, centre_mm: Place) -> Place:
    """Return the position `step` steps from the corner of a side towards the next corner."""
    along, turn = side * pi / 3, side * pi / 3 + 2 * pi / 3
    dx = spacing_mm * (ring * cos(along) + step * cos(turn))
    dy = spacing_mm * (ring * sin(along) + step * sin(turn))
    return centre_mm[0] + round(dx), centre_mm[1] + round(dy)


@checked_values
def tree_of(places: tuple[Place, ...]) -> tuple[tuple[int, int], ...]:
    """Return a wire from each station to its nearest neighbour among those nearer to the first station.

    The first of several such neighbours is chosen. Every station then has a shortest path to the centre.
    """
    wires = []
    for station in range(1, len(places)):
        nearer = [
            p for p in range(station) if _distance(places[p], places[0]) < _distance(places[station], places[0]) - 1
        ]
        if not nearer:
            raise UserError(f"tree_of: station {station} stands where station 0 stands; give each its own place")
        wires.append((min(nearer, key=lambda p: (round(_distance(places[p], places[station]) / 100), p)), station))
    return tuple(wires)


def _distance(a: Place, b: Place) -> float:
    return hypot(a[0] - b[0], a[1] - b[1])
