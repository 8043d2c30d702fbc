"""The model of mobile20 for `causeway check`: a row of stations, a few hosts, and properties at quiescence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from causeway.explore.checks import Checks
from causeway.explore.mobile_model import MobileModel
from causeway.explore.model import LATE_CLOCKS, Budget, Model
from causeway.pycontrol.node import Node, PerNode
from causeway.pycontrol.protocols.mobile import Host, Meter, Station, Timing, tree_neighbours

STATIONS, HOSTS = 3, 3
FEW_STATIONS, FEW_HOSTS = 2, 2
"""The sizes for an exhaustive search."""


def join(host: Any) -> None:
    """Call Join if the host is not a member."""
    if host.state.value == "out":
        host.Join()


def leave(host: Any) -> None:
    """Call Leave if the host is a member."""
    if host.state.value != "out":
        host.Leave()


def settled(model: Any) -> str | None:
    """Check that at quiescence all buffers are empty, and that a member is kept only by the station of its cell."""
    stations, hosts = model.nodes[: model.stations], model.nodes[model.stations :]
    for station in stations:
        if len(station.SBuffer):
            return f"settled: station {station.id} still keeps messages"
        for id_, h in station.h.items():
            if h.H_lock or h.m_nd or h.RBuffer or model.nodes[id_].id_C != station.id:
                return f"settled: station {station.id} still keeps data of host {id_}"
    for host in hosts:
        keepers = tuple(station.id for station in stations if host.id in station.h)
        wanted = ("estab", model.places[host.id][:1]) if host.state.value != "out" else ("out", ())
        if (host.state.value, keepers) != wanted:
            return f"settled: host {host.id} is {host.state.value}, kept by stations {list(keepers)}"
        if host.SBuffer or host.RBuffer or host.RBuffer_Co:
            return f"settled: host {host.id} still keeps messages"
    return None


@dataclass(frozen=True)
class SteadyTiming(Timing):
    """Timing without jitter, so that equal histories lead to equal states."""

    @staticmethod
    def jittered_ps(wait_ps: int, random: Any) -> int:
        """Return the time unchanged."""
        return wait_ps


def small_protocol(stations: int, times: Timing) -> PerNode:
    """Return a row of stations, and hosts that join when the application calls Join."""
    wires = [(i, i + 1) for i in range(stations - 1)]
    neighbours, meter = tree_neighbours(stations, wires), Meter(to_ps=0)

    def make(id_: int) -> Node:
        if id_ < stations:
            return Station(times, meter, neighbours[id_])
        return Host(times, meter, joins_by_itself=False)

    return PerNode(make)


def small_model(protocol: PerNode, budget: Budget, stations: int, hosts: int) -> Model:
    """Return a model in which all hosts have called Join."""
    model = MobileModel(protocol, stations + hosts, budget, stations=stations)
    for host in model.nodes[stations:]:
        join(host)
    return model


def established(protocol: PerNode, budget: Budget, stations: int, hosts: int) -> Model:
    """Return a model in which all hosts have joined and no event is left."""
    model = small_model(protocol, budget, stations, hosts)
    while (choice := model.next_without_faults()) is not None:
        model.do(choice)
    model.log.clear()
    for node in protocol.nodes:
        vars(node)["random"] = None  # the state of a generator that was used would make equal states differ
    return model


def checks(params: Any) -> Checks:
    """Return the settings of `causeway check mobile20`.

    In an exhaustive search, hosts have joined at the beginning, and timeouts are longer than all transmissions.
    """
    chosen = params.model_fields_set
    stations = params.cells if "cells" in chosen else STATIONS
    hosts = params.hosts if "hosts" in chosen else HOSTS
    few_stations = params.cells if "cells" in chosen else FEW_STATIONS
    few_hosts = params.hosts if "hosts" in chosen else FEW_HOSTS
    intervals = params.acks == "intervals"
    every = Checks(
        properties=("once", "causal", "recovers"),
        at_end={"settled": settled},
        budget=Budget(broadcasts=1, moves=1),
        protocol=lambda: small_protocol(few_stations, SteadyTiming(ack_intervals=intervals)),
        model=lambda protocol, budget: established(protocol, budget, few_stations, few_hosts),
        clocks=LATE_CLOCKS,
    )
    return Checks(
        properties=("once", "causal", "recovers"),
        at_end={"settled": settled},
        calls={"leave": leave, "join": join},
        budget=Budget(broadcasts=25, calls=6, moves=25, losses=20, crashes=4),
        protocol=lambda: small_protocol(stations, Timing(ack_intervals=intervals)),
        model=lambda protocol, budget: small_model(protocol, budget, stations, hosts),
        every=every,
    )
