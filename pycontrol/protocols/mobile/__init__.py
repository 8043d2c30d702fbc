"""Causal broadcast for mobile hosts under support stations (paper mobile20). The map, in reading order:

- `messages`    every message of Section IV.A and its size on the wire
- `timing`      acknowledgement, retransmission, and the bound on outstanding messages
- `host`        Algorithm 1: what a mobile host does
- `sbuffer`     the end of a station's order that is not acknowledged
- `connection`  what a station keeps of one host
- `station`     Algorithms 2 and 3, and dissemination: what a support station does
- `handoff`     Algorithm 4: how a host goes from one station to another
- `meter`       counts what the evaluation of the paper counts

Start here: `mobile_protocol` builds the nodes of a network.
"""

from __future__ import annotations

from collections.abc import Sequence

from causeway.pycontrol.node import Node, PerNode
from causeway.pycontrol.protocols.mobile.host import Host
from causeway.pycontrol.protocols.mobile.meter import Meter
from causeway.pycontrol.protocols.mobile.station import Station
from causeway.pycontrol.protocols.mobile.timing import Timing

__all__ = ["Host", "Meter", "Station", "Timing", "mobile_protocol", "tree_neighbours"]


def tree_neighbours(stations: int, wires: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Every station's neighbours in the overlay."""
    neighbours: list[list[int]] = [[] for _ in range(stations)]
    for a, b in wires:
        neighbours[a].append(b)
        neighbours[b].append(a)
    return neighbours


def mobile_protocol(stations: int, wires: Sequence[tuple[int, int]], timing: Timing, meter: Meter) -> PerNode:
    """Nodes 0 .. stations-1 are stations, joined by the wires of a tree; the others are hosts."""
    neighbours = tree_neighbours(stations, wires)

    def make(id_: int) -> Node:
        return Station(timing, meter, neighbours[id_]) if id_ < stations else Host(timing, meter)

    return PerNode(make)
