"""Ends a run once nothing is left to arrive: the silence after the experiment need not be guessed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pycontrol.protocols.mobile.meter import S_PS

if TYPE_CHECKING:
    from pycontrol.node import Node

EVERY_PS = S_PS
ROUNDS = 3
"""So often in a row: a message between two stations is in nobody's buffer for the 10 ms of a wire."""


@dataclass
class Rest:
    """A chore (pycontrol/protocols/chores.py) that begins when the application falls silent. It ends the run, no more:
    whether all that was owed has arrived is for the checker to say."""

    stations: int
    quiet: int = 0

    def run(self, node: Node) -> int | None:
        nodes = node.host.nodes
        busy = any(map(_station_is_busy, nodes[: self.stations])) or any(map(_host_is_busy, nodes[self.stations :]))
        self.quiet = 0 if busy else self.quiet + 1
        if self.quiet == ROUNDS:
            node.stop()
            return None
        return EVERY_PS - node.host.context.reaction_ps


def _station_is_busy(station: Any) -> bool:
    """It keeps something for somebody, or a host is on its way from or to it."""
    if hasattr(station, "in_flight"):
        return bool(station.in_flight or station.pending)
    return bool(station.SBuffer) or any(h.H_lock or h.m_nd for h in station.h.values())


def _host_is_busy(host: Any) -> bool:
    """It has something to send, or is not connected."""
    connected = host.connected if hasattr(host, "connected") else host.state.value == "estab"
    return bool(host.SBuffer) or not connected
