"""Causal broadcast for mobile hosts under support stations (paper mobile20).

`mobile_protocol` builds the nodes of a network. In reading order:

- `messages`      the messages of Section IV.A and their sizes on the wire
- `timing`        acknowledgement, retransmission, and the bound on outstanding messages
- `host`          Algorithm 1: the mobile host
- `sbuffer`       the messages of a station that are not acknowledged yet
- `connection`    the state of one host at a station
- `station`       Algorithms 2 and 3, and dissemination: the support station
- `handoff`       Algorithm 4: the handoff of a host between stations
- `meter`         the counters of the paper's evaluation
- `tcp_flooding`  flooding over TCP, with which the paper compares
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
    """Return the neighbours of every station in the overlay."""
    neighbours: list[list[int]] = [[] for _ in range(stations)]
    for a, b in wires:
        neighbours[a].append(b)
        neighbours[b].append(a)
    return neighbours


def mobile_protocol(stations: int, wires: Sequence[tuple[int, int]], timing: Timing, meter: Meter) -> PerNode:
    """Return the protocol of a network whose nodes 0 .. stations-1 are stations and whose other nodes are hosts.

    Args:
        stations: The number of stations.
        wires: The edges of the tree of stations.
        timing: The times and bounds of all nodes.
        meter: The counters of the evaluation.
    """
    neighbours = tree_neighbours(stations, wires)

    def make(id_: int) -> Node:
        return Station(timing, meter, neighbours[id_]) if id_ < stations else Host(timing, meter)

    return PerNode(make)
