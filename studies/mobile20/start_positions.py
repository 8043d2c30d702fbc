"""Where hosts begin (Figure 2), in millimetres."""

from __future__ import annotations

from causeway.network.random import STREAM_PROTOCOL, draw_unit
from causeway.studies.hexagons import Place

WITHIN_MM = 115_000
"""A host that is put into a cell is at most so far from its station: 5 m inside the border."""

STREAM_PLACES = STREAM_PROTOCOL + 8


def host_places(stations: tuple[Place, ...], hosts: int, seed: int) -> tuple[Place, ...]:
    """As many hosts in every cell (one more in the first few if need be), each anywhere in the disc."""
    return tuple(_in_disc(stations[host % len(stations)], seed, host) for host in range(hosts))


def _in_disc(station: Place, seed: int, host: int) -> Place:
    """Uniform in the square around the station, drawn again until it is near enough."""
    attempt = 0
    while True:
        dx, dy = (
            round(WITHIN_MM * (2 * draw_unit(seed, STREAM_PLACES, host, 2 * attempt + axis) - 1)) for axis in (0, 1)
        )
        if dx * dx + dy * dy <= WITHIN_MM * WITHIN_MM:
            return station[0] + dx, station[1] + dy
        attempt += 1
