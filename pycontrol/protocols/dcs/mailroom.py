"""The packets of rounds: which process has what in its mail, and what it sends at its tick.

A packet of round r has the id CONTROL + r * (N + 2) + what: below N `what` is the acknowledgement of process `what`, N
is the request, N + 1 the decision.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from causeway.bridge.events import BROADCAST_PEER
from causeway.pycontrol.protocols.dcs import rounds
from causeway.pycontrol.protocols.dcs.kernel import CONTROL
from causeway.pycontrol.protocols.dcs.state import State

HEADER_BYTES = 16
ENTRY_BYTES = 4


class Mailroom:
    """All rounds of a run, and the mail about them."""

    def __init__(self, nodes: int, component_size: int) -> None:
        self.nodes, self.component_size = nodes, component_size
        self.rounds: list[rounds.Round] = []
        self.refused = 0
        self.blocked = np.zeros(nodes, np.int32)
        """In how many undecided rounds each process takes part."""
        self.behind = np.zeros(nodes, np.bool_)
        """Who refused a round because of a component above the one it is about, and has not started one since."""
        self.unread: list[tuple[NDArray[np.int32], NDArray[np.int64]]] = []
        """(receivers, packets)"""
        self.outbox: list[tuple[NDArray[Any], ...]] = []
        """Sender, packet, peer, size: what is sent at the tick that is being handled."""

    def begin(self, s: State, kind: int, starter: int) -> bool:
        """Starts a round if the starter meets the conditions itself."""
        if not rounds.may_begin(s, kind, starter):
            return False
        r = rounds.begin(s, len(self.rounds), kind, starter)
        self.rounds.append(r)
        self.blocked[starter] += 1
        self.behind[starter] = False
        entries = self.component_size if kind == rounds.DEACTIVATE else 2 * self.nodes
        self._send(r, self.nodes, starter, BROADCAST_PEER, ENTRY_BYTES * entries)
        return True

    def read(self, s: State, nodes: NDArray[np.int32]) -> None:
        """Some processes read their mail: by round, and there answers first, then the request, then the decision."""
        if not self.unread:
            return
        to, packet = (np.concatenate(c) for c in zip(*self.unread, strict=True))
        due = np.zeros(self.nodes, np.bool_)
        due[nodes] = True
        mine = due[to]
        self.unread = [(to[~mine], packet[~mine])] if not mine.all() else []
        number, what = np.divmod(packet[mine] - CONTROL, self.nodes + 2)
        to = to[mine]
        for n in np.unique(number):
            this = number == n
            self._read_round(s, self.rounds[n], what[this], to[this])

    def _read_round(self, s: State, r: rounds.Round, what: NDArray[np.int64], to: NDArray[np.int32]) -> None:
        answers = what[what < self.nodes]
        if len(answers):
            r.missing_answers -= len(answers)
            r.accepted &= bool(r.answers[answers].all())
            if r.missing_answers == 0:
                self._decide(s, r)
        asked = np.sort(to[what == self.nodes])
        if len(asked):
            r.answers[asked] = rounds.acknowledge(s, r, asked)
            self.blocked[asked] += 1
            highest = s.active if r.kind == rounds.DEACTIVATE else s.total
            self.behind[asked] = highest[asked] > r.k + 1
            self._send(r, asked, asked, r.starter, 1)
        told = np.sort(to[what == self.nodes + 1])
        if len(told):
            self.blocked[told] -= 1
            rounds.decide(s, r, told)

    def _decide(self, s: State, r: rounds.Round) -> None:
        r.open = False
        self.refused += not r.accepted
        starter = np.array([r.starter], np.int32)
        self.blocked[starter] -= 1
        rounds.decide(s, r, starter)
        self._send(r, self.nodes + 1, r.starter, BROADCAST_PEER, 1)

    def _send(self, r: rounds.Round, what: Any, sender: Any, peer: int, extra_bytes: int) -> None:
        """One packet from a process, or one from each of some processes."""
        packet = CONTROL + r.number * (self.nodes + 2) + np.atleast_1d(what).astype(np.int64)
        rows = len(packet)
        size = np.full(rows, HEADER_BYTES + extra_bytes)
        self.outbox.append((np.atleast_1d(sender), packet, np.full(rows, peer), size))
