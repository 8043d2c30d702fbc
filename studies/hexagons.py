"""Stations on a hexagonal grid: one in the middle, rings of 6, 12, 18, ... around it, and a tree of wires over them."""

from __future__ import annotations

from math import cos, hypot, pi, sin

Place = tuple[int, int]
"""x and y, in millimetres."""


def hexagonal_places(cells: int, spacing_mm: float, centre_mm: Place = (400_000, 400_000)) -> tuple[Place, ...]:
    """So many stations, ring after ring, each `spacing_mm` from its neighbours: 1, 7, 19, 37, 61, 91 or 127 fill their
    rings. The first is in the middle; a ring begins to the right of it and goes round anticlockwise."""
    places, ring = [centre_mm], 0
    while len(places) < cells:
        ring += 1
        for side in range(6):
            for step in range(ring):
                places.append(_place(ring, side, step, spacing_mm, centre_mm))
    return tuple(places[:cells])


def _place(ring: int, side: int, step: int, spacing_mm: float, centre_mm: Place) -> Place:
    """From the corner of a side, so many steps to the next corner."""
    along, turn = side * pi / 3, side * pi / 3 + 2 * pi / 3
    dx = spacing_mm * (ring * cos(along) + step * cos(turn))
    dy = spacing_mm * (ring * sin(along) + step * sin(turn))
    return centre_mm[0] + round(dx), centre_mm[1] + round(dy)


def tree_of(places: tuple[Place, ...]) -> tuple[tuple[int, int], ...]:
    """Wires from each station to its nearest neighbour that is nearer to the first station than it is itself (the first
    of several): the shortest way to the middle, ring by ring."""
    wires = []
    for station in range(1, len(places)):
        nearer = [p for p in range(station) if _apart(places[p], places[0]) < _apart(places[station], places[0]) - 1]
        wires.append((min(nearer, key=lambda p: (round(_apart(places[p], places[station]) / 100), p)), station))
    return tuple(wires)


def _apart(a: Place, b: Place) -> float:
    return hypot(a[0] - b[0], a[1] - b[1])
