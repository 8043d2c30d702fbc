"""Start positions of hosts (Figure 2), in millimetres."""

from __future__ import annotations

from causeway.network.hexagons import Place
from causeway.network.random import STREAM_PROTOCOL, draw_unit

WITHIN_MM = 115_000
"""The maximum distance of a host from the station of its cell at the start: 5 m inside the border of the cell."""

STREAM_PLACES = STREAM_PROTOCOL + 8


def host_places(stations: tuple[Place, ...], hosts: int, seed: int) -> tuple[Place, ...]:
    """Return a random position in a cell for every host.

    All cells have the same number of hosts, or the first ones have one more.
    """
    return tuple(_in_disc(stations[host % len(stations)], seed, host) for host in range(hosts))


def _in_disc(station: Place, seed: int, host: int) -> Place:
    """Draw positions in the square around the station until one is in the disc, so that they are uniform there."""
    attempt = 0
    while True:
        dx, dy = (
            round(WITHIN_MM * (2 * draw_unit(seed, STREAM_PLACES, host, 2 * attempt + axis) - 1)) for axis in (0, 1)
        )
        if dx * dx + dy * dy <= WITHIN_MM * WITHIN_MM:
            return station[0] + dx, station[1] + dy
        attempt += 1
