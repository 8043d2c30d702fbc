"""mobile20 in a small world: a few stations in a row, a few hosts, and what must be so once all is quiet."""

from __future__ import annotations

from typing import Any

from causeway.pycontrol.check.checks import Checks
from causeway.pycontrol.check.mobile import MobileWorld
from causeway.pycontrol.check.world import Budget, World
from causeway.pycontrol.node import Node, PerNode
from causeway.pycontrol.protocols.mobile import Host, Meter, Station, Timing, tree_neighbours

STATIONS, HOSTS = 3, 3
WIRES = tuple((i, i + 1) for i in range(STATIONS - 1))


def join(host: Any) -> None:
    """The application joins, if it is not a member."""
    if host.state.value == "out":
        host.Join()


def leave(host: Any) -> None:
    """The application leaves."""
    if host.state.value != "out":
        host.Leave()


def settled(world: Any) -> str | None:
    """Once all is quiet nobody keeps anything, and every member is kept by the station of its cell, and by no other."""
    stations, hosts = world.nodes[: world.stations], world.nodes[world.stations :]
    for station in stations:
        if len(station.SBuffer):
            return f"settled: station {station.id} still keeps messages"
        for id_, h in station.h.items():
            if h.H_lock or h.m_nd or h.RBuffer or world.nodes[id_].id_C != station.id:
                return f"settled: station {station.id} still keeps something of host {id_}"
    for host in hosts:
        keepers = tuple(station.id for station in stations if host.id in station.h)
        wanted = ("estab", world.places[host.id][:1]) if host.state.value != "out" else ("out", ())
        if (host.state.value, keepers) != wanted:
            return f"settled: host {host.id} is {host.state.value}, kept by stations {list(keepers)}"
        if host.SBuffer or host.RBuffer or host.RBuffer_Co:
            return f"settled: host {host.id} still keeps messages"
    return None


def small_protocol(**timing: Any) -> PerNode:
    """Stations in a row, and hosts that join by themselves."""
    neighbours, meter, times = tree_neighbours(STATIONS, WIRES), Meter(), Timing(**timing)

    def make(id_: int) -> Node:
        if id_ < STATIONS:
            return Station(times, meter, neighbours[id_])
        return Host(times, meter, joins_by_itself=False)

    return PerNode(make)


def small_world(protocol: PerNode, budget: Budget) -> World:
    """All hosts join at once."""
    world = MobileWorld(protocol, STATIONS + HOSTS, budget, stations=STATIONS)
    for host in world.nodes[STATIONS:]:
        join(host)
    return world


def checks(params: Any) -> Checks:
    """What `causeway check mobile20` does."""
    return Checks(
        properties=("once", "causal", "recovers"),
        at_end={"settled": settled},
        calls={"leave": leave, "join": join},
        budget=Budget(broadcasts=25, calls=6, moves=25, losses=20, crashes=4),
        protocol=lambda: small_protocol(ack_intervals=params.acks == "intervals"),
        world=small_world,
    )
