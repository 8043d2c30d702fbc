"""The packets of rounds. At its tick, each process reads the packets that it has received, and sends its own.

A packet of round r has the id CONTROL + r * (N + 2) + part. Part N is the request, N + 1 the decision, and p < N the
acknowledgement of process p.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from causeway.bridge.events import BROADCAST_PEER
from causeway.pycontrol.protocols.dcs import rounds
from causeway.pycontrol.protocols.dcs.kernel import CONTROL
from causeway.pycontrol.protocols.dcs.state import DcsState

HEADER_BYTES = 16
ENTRY_BYTES = 4


class Mailroom:
    """All rounds of a run, and the packets about them."""

    def __init__(self, nodes: int, component_size: int, at_once: bool = False) -> None:
        self.nodes, self.component_size, self.at_once = nodes, component_size, at_once
        self.rounds: list[rounds.Round] = []
        self.refused = 0
        self.blocked = np.zeros(nodes, np.int32)
        """The number of undecided rounds in which each process takes part."""
        self.behind = np.zeros(nodes, np.bool_)
        """The processes that refused a round because they had a component above that of the round, and that have not
        started one since."""
        self.unread: list[tuple[NDArray[np.int32], NDArray[np.int64]]] = []
        """Received packets that have not been read yet: (receivers, packets)."""
        self.outbox: list[tuple[NDArray[Any], ...]] = []
        """Packets to send at the current tick: (senders, packets, peers, sizes)."""

    def begin(self, s: DcsState, kind: int, starter: int) -> bool:
        """Start a round if the starter itself meets the conditions; return whether it did."""
        if not rounds.may_begin(s, kind, starter):
            return False
        r = rounds.begin(s, len(self.rounds), kind, starter, self.at_once)
        self.rounds.append(r)
        self.blocked[starter] += 1
        self.behind[starter] = False
        entries = self.component_size if kind == rounds.DEACTIVATE else 2 * self.nodes
        self._send(r, self.nodes, starter, BROADCAST_PEER, ENTRY_BYTES * entries)
        return True

    def read(self, s: DcsState, nodes: NDArray[np.int32]) -> None:
        """Make some processes read their packets, by round: first answers, then the request, then the decision."""
        if not self.unread:
            return
        to, packet = (np.concatenate(c) for c in zip(*self.unread, strict=True))
        due = np.zeros(self.nodes, np.bool_)
        due[nodes] = True
        read_now = due[to]
        self.unread = [(to[~read_now], packet[~read_now])] if not read_now.all() else []
        number, part = np.divmod(packet[read_now] - CONTROL, self.nodes + 2)
        to = to[read_now]
        for n in np.unique(number):
            this = number == n
            self._read_round(s, self.rounds[n], part[this], to[this])

    def _read_round(self, s: DcsState, r: rounds.Round, part: NDArray[np.int64], to: NDArray[np.int32]) -> None:
        answers = part[part < self.nodes]
        if len(answers):
            r.missing_answers -= len(answers)
            r.accepted &= bool(r.answers[answers].all())
            if r.missing_answers == 0:
                self._decide(s, r)
        requested = np.sort(to[part == self.nodes])
        if len(requested):
            r.answers[requested] = rounds.acknowledge(s, r, requested)
            self.blocked[requested] += 1
            highest = s.active if r.kind == rounds.DEACTIVATE else s.total
            self.behind[requested] = highest[requested] > r.last + 1
            self._send(r, requested, requested, r.starter, 1)
        decided = np.sort(to[part == self.nodes + 1])
        if len(decided):
            self.blocked[decided] -= 1
            rounds.decide(s, r, decided)

    def _decide(self, s: DcsState, r: rounds.Round) -> None:
        r.open = False
        self.refused += not r.accepted
        starter = np.array([r.starter], np.int32)
        self.blocked[starter] -= 1
        rounds.decide(s, r, starter)
        self._send(r, self.nodes + 1, r.starter, BROADCAST_PEER, 1)

    def _send(self, r: rounds.Round, part: Any, sender: Any, peer: int, extra_bytes: int) -> None:
        """Send a packet from one process, or from each of several. `part` and `sender` are numbers or arrays."""
        packet = CONTROL + r.number * (self.nodes + 2) + np.atleast_1d(part).astype(np.int64)
        rows = len(packet)
        size = np.full(rows, HEADER_BYTES + extra_bytes)
        self.outbox.append((np.atleast_1d(sender), packet, np.full(rows, peer), size))
