"""Traces of walks with a new direction at fixed intervals, as in the authors' later program."""

from __future__ import annotations

from math import cos, hypot, pi, sin

import numpy as np

from causeway.network.hexagons import Place
from causeway.network.movement import Trace
from causeway.network.random import STREAM_PROTOCOL, draw_unit

STREAM_WALKS = STREAM_PROTOCOL + 10
TURN_S = 5
"""The time between two changes of direction."""
S_PS = 10**12


def turning(
    stations: tuple[Place, ...], starts: tuple[Place, ...], reach_mm: int, speed_mm_s: int, until_s: int, seed: int
) -> tuple[Trace, ...]:
    """Return a trace for each host, with a new direction every 5 s, drawn until the leg ends in one of the cells."""
    return tuple(_walk(stations, start, reach_mm, speed_mm_s, until_s, seed, host) for host, start in enumerate(starts))


def _walk(
    stations: tuple[Place, ...], start: Place, reach_mm: int, speed_mm_s: int, until_s: int, seed: int, host: int
) -> Trace:
    places, draws, length_mm = [start], 0, speed_mm_s * TURN_S
    while (len(places) - 1) * TURN_S < until_s:
        direction = 2 * pi * draw_unit(seed, STREAM_WALKS, host, draws)
        draws += 1
        place = (places[-1][0] + round(length_mm * cos(direction)), places[-1][1] + round(length_mm * sin(direction)))
        if any(hypot(place[0] - x, place[1] - y) <= reach_mm for x, y in stations):
            places.append(place)
    return np.array([(TURN_S * S_PS * step, x, y) for step, (x, y) in enumerate(places)], np.int64)
