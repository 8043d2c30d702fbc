"""Deactivation and Remove rounds (Sections IV-D and IV-E of dcs23): three messages, two phases.

    starter                      every other process
    Deactivate / Remove   -->    blocks its dynamicity, checks its conditions
                          <--    AckDeactivate / AckRemove, yes or no
    Decision              -->    unblocks; if all answered yes: deactivates / removes

A process changes the size of its clock only at its ticks, and reads the packets of rounds there. The exception is
checkExpand, which is never blocked: a message that needs a component must not wait for a round.

The functions here work on many processes at once. For each process they use only its own knowledge: its row of the
state, the messages that it sent, received or delivered, and the content of the round's packet. docs/papers/dcs23.md
explains where and why the conditions are stricter than the paper's.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causeway.pycontrol.protocols.dcs.state import DcsState

DEACTIVATE, REMOVE = 0, 1


@dataclass
class Round:
    """A round.

    Its request contains kind, k, incarnation, and the entries (Deactivate) or the known messages (Remove).
    """

    number: int
    kind: int
    starter: int
    k: int
    incarnation: NDArray[Any]
    """The incarnations of the components k to last."""
    entries: NDArray[np.int32]
    """C_k of the starter."""
    horizon: int
    """The starter had delivered the messages with ids below this one, except those in `unknown`."""
    unknown: NDArray[np.int64]
    """Ids of messages below the horizon that the starter had not delivered."""
    unknown_with: NDArray[np.int32]
    """The senders of those unknown messages that carry C_k. Each of them recognizes its own messages."""
    answers: NDArray[np.uint8]
    """The answer in each process's acknowledgement."""
    last: int = 0
    """The last component of the round. A Remove round may remove several components: k to last."""
    missing_answers: int = 0
    accepted: bool = True
    open: bool = field(default=True)
    """True until the starter has decided."""


def begin(s: DcsState, number: int, kind: int, starter: int, at_once: bool = False) -> Round:
    """Return a round for the starter's highest active (Deactivate) or highest (Remove) component (phase 1).

    With `at_once`, a Remove round removes all inactive components.
    """
    last = int(s.active[starter] if kind == DEACTIVATE else s.total[starter]) - 1
    k = int(s.active[starter]) if kind == REMOVE and at_once else last
    live = np.flatnonzero(s.left > 0)
    unknown = live[~s.has(np.array([starter]), live)[0]]
    carrying = unknown[(s.length[unknown] > k) & (s.m_incarnation[unknown, k] == s.incarnation[starter, k])]
    return Round(
        number, kind, starter, k, s.incarnation[starter, k : last + 1].copy(),
        s.component(np.array([starter]), k)[0].copy(),
        int(s.slots.at["next"][0]), s.m_id[unknown], s.sender[carrying], np.zeros(len(s.active), np.uint8),
        last=last, missing_answers=len(s.active) - 1,
    )  # fmt: skip


def may_begin(s: DcsState, kind: int, starter: int) -> bool:
    """Return whether the starter itself meets the conditions of a round."""
    nodes = np.array([starter])
    if kind == DEACTIVATE:
        k = int(s.active[starter]) - 1
        return k > 0 and not _increments(s, nodes, k)[0] and not _waits_for_increment(s, nodes, k)[0]
    return s.active[starter] < s.total[starter]


def acknowledge(s: DcsState, r: Round, nodes: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return which of some processes meet the conditions of the round."""
    return _may_deactivate(s, r, nodes) if r.kind == DEACTIVATE else _may_remove(s, r, nodes)


def decide(s: DcsState, r: Round, nodes: NDArray[np.int32]) -> None:
    """Carry out the decision of a round at some processes (phase 2)."""
    if not r.accepted:
        return
    if r.kind == DEACTIVATE:
        # The conditions are checked again, since a message that overtook the decision may have changed C_k.
        still = nodes[(s.active[nodes] == r.k + 1) & _may_deactivate(s, r, nodes)]
        s.active[still] -= 1
        return
    # A process that has learned of the removal from a message has already carried it out.
    for k in range(r.last, r.k - 1, -1):  # one by one, since a round for fewer components may have been decided before
        still = nodes[s.incarnation[nodes, k] == r.incarnation[k - r.k]]
        assert (s.active[still] <= k).all() and (s.total[still] <= k + 1).all(), "removal of a component in use"
        s.total[still] = np.minimum(s.total[still], k)
        s.incarnation[still, k] += 1
        s.counts["removed"] += len(still)


def _may_deactivate(s: DcsState, r: Round, nodes: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return which processes may deactivate C_k.

    No component above C_k is active, C_k equals the starter's, and the process neither increments it nor delays a
    message that does.
    """
    absent = s.total[nodes] <= r.k
    equal = (s.component(nodes, r.k) == r.entries).all(axis=1)
    equal = np.where(absent, not r.entries.any(), equal)
    return (
        (s.active[nodes] <= r.k + 1)
        & _knows(s, r, nodes)
        & equal
        & ~_increments(s, nodes, r.k)
        & ~_waits_for_increment(s, nodes, r.k)
    )


def _may_remove(s: DcsState, r: Round, nodes: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return which processes may remove C_k.

    C_k is the last component and inactive. The process has delivered all messages that the starter had delivered, and
    the starter had delivered all messages with C_k of the process. Hence no message with C_k is on its way.
    """
    known = np.flatnonzero((s.left > 0) & (s.m_id < r.horizon) & ~np.isin(s.m_id, r.unknown))
    has_all = s.has(nodes, known).all(axis=1)
    sent_all = (s.last_with[nodes, r.k] < r.horizon) & ~np.isin(nodes, r.unknown_with)
    idle = (s.active[nodes] <= r.k) & (s.total[nodes] <= r.last + 1) & _knows(s, r, nodes)
    return idle & has_all & sent_all


def _knows(s: DcsState, r: Round, nodes: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return which processes have the incarnations of the round's components."""
    return (s.incarnation[nodes, r.k : r.last + 1] == r.incarnation).all(axis=1)


def _increments(s: DcsState, nodes: NDArray[np.int32], k: int) -> NDArray[np.bool_]:
    """Return which processes have k in S_incr."""
    return (s.s_incr[nodes] == k).any(axis=1)


def _waits_for_increment(s: DcsState, nodes: NDArray[np.int32], k: int) -> NDArray[np.bool_]:
    """Return which processes delay the delivery of a message that increments C_k."""
    found = np.zeros(len(nodes), np.bool_)
    for i in np.flatnonzero(s.waits[nodes] > 0):
        slots = s.waiting[nodes[i], : s.waits[nodes[i]]]
        found[i] = (s.m_s_incr[slots] == k).any()
    return found
