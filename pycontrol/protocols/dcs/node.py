"""The reference implementation of Dynamic Clock Sets: one process, with the paper's names (dcs23, Sections III and IV).

Tests compare it with the vectorized implementation (`kernel.py`, `rounds.py`) on the same events, and search models of
it exhaustively. `docs/papers/dcs23.md` explains the departures from the paper's text. Each of these conditions is a
separate method, so that a test can replace it by the printed text and show that this fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

DEACTIVATE, REMOVE = 0, 1
Entries = tuple[int, ...]
Choose = Callable[["Process", int, int | None], tuple[int, ...]]
"""Chooses S_incr: (process, limit, avoid) -> components below the limit. It is random in runs and fixed in tests."""


@dataclass(frozen=True)
class Message:
    """A message (m, D_m, S_incr_m). `d` is its sender's active components after it incremented them."""

    id: int
    sender: int
    d: tuple[Entries, ...]
    s_incr: tuple[int, ...]
    incarnation: Entries


@dataclass(frozen=True)
class Request:
    """The request of a Deactivate or Remove round (phase 1)."""

    number: int
    kind: int
    starter: int
    k: int
    incarnation: int
    c_k: Entries = ()
    """Deactivate: the entries of C_k at the starter."""
    known: frozenset[int] = frozenset()
    """Remove: the messages that the starter has delivered."""


@dataclass(frozen=True)
class Acknowledgement:
    """The answer to a request: AckDeactivate or AckRemove."""

    number: int
    sender: int
    yes: bool


@dataclass(frozen=True)
class Decision:
    """The decision of a round: DecisionDeactivate or DecisionRemove (phase 2)."""

    request: Request
    yes: bool


Mail = tuple[int | None, "Request | Acknowledgement | Decision"]
"""A packet to send, after its receiver; None: all other processes."""


class Process:
    """The process p_i."""

    def __init__(
        self, i: int, n: int, f: Callable[[int], Entries], size: int, s_incr: Iterable[int], components: int,
        choose: Choose,
    ) -> None:  # fmt: skip
        self.i, self.n, self.f, self.size, self.choose = i, n, f, size, choose
        self.d = [[0] * size for _ in range(components)]
        """D_i: all components; the first `active` of them are active."""
        self.active = components
        self.s_incr = tuple(s_incr)
        self.incarnation: dict[int, int] = {}
        """The number of removals of each component that has been removed at least once."""
        self.waiting: list[Message] = []
        self.delivered: set[int] = set()
        self.sent: list[Message] = []
        self.blocked: frozenset[int] = frozenset()
        """The undecided rounds in which this process takes part."""
        self.answers: dict[int, tuple[Request, int, bool]] = {}
        """The undecided rounds that it started: the request, the number of missing answers, and whether all answers so
        far are yes."""

    # ---- Algorithm 2 ----------------------------------------------------------------------------------------------
    def broadcast(self, id_: int) -> Message:
        """Return a new message, and deliver it here at once (lines 1-2)."""
        self._increment(self.i, self.s_incr)
        d = tuple(tuple(c) for c in self.d[: self.active])
        incarnation = tuple(self.incarnation.get(k, 0) for k in range(self.active))
        m = Message(id_, self.i, d, self.s_incr, incarnation)
        self.sent.append(m)
        self.delivered.add(id_)
        return m

    def receive(self, m: Message) -> list[Message]:
        """Receive a message, and return the messages that are delivered now, in order (lines 3-7)."""
        if m.id in self.delivered or m in self.waiting:
            return []
        self._learn_removals(m)
        self.check_expand(m)
        if not self.deliverable(m):
            self.waiting.append(m)
            return []
        self._deliver(m)
        return [m, *self.deliver_waiting()]

    def deliver_waiting(self) -> list[Message]:
        """Deliver the first waiting message that is deliverable, until none is; return them in order."""
        done = []
        while ready := next((m for m in self.waiting if self.deliverable(m)), None):
            self.waiting.remove(ready)
            self._deliver(ready)
            done.append(ready)
        return done

    def deliverable(self, m: Message) -> bool:
        """Return whether the message may be delivered (lines 4 and 5)."""
        for k, c_m in enumerate(m.d):
            for x in range(self.size):
                counted = 1 if k in m.s_incr and x in self.f(m.sender) else 0
                if c_m[x] - counted > self.d[k][x]:
                    return False
        return True

    def _deliver(self, m: Message) -> None:
        """Deliver a message (line 6)."""
        self._increment(m.sender, m.s_incr)
        self.delivered.add(m.id)

    def _increment(self, j: int, s_incr: tuple[int, ...]) -> None:
        for k in s_incr:
            for x in self.f(j):
                self.d[k][x] += 1

    # ---- the clock's size -----------------------------------------------------------------------------------------
    def check_expand(self, m: Message) -> None:
        """Add or reactivate the components that a message needs, even during rounds: checkExpand(), Section IV-B."""
        before = self.active
        if len(self.d) < len(m.d):
            while len(self.d) < len(m.d):
                self.add()
        else:
            news = [k for k in range(self.active, len(m.d)) if self._has_news(m, k)]
            self.active = max([self.active, *(k + 1 for k in news)])
        if self.active != before:
            self.s_incr = self.choose(self, self.active, None)

    def _has_news(self, m: Message, k: int) -> bool:
        return any(own < carried for own, carried in zip(self.d[k], m.d[k], strict=True))

    def add(self) -> None:
        """Append a component and make all components active: Add(), Section III-D."""
        self.d.append([0] * self.size)
        self.active = len(self.d)

    def expand(self) -> bool:
        """Activate or add one component and choose a new S_incr (Section IV-C). Return False if a round prevents it."""
        if self.blocked:
            return False
        if self.active < len(self.d):
            self.active += 1
        else:
            self.add()
        self.s_incr = self.choose(self, self.active, None)
        return True

    def assign(self, limit: int, avoid: int | None = None) -> bool:
        """Choose a new S_incr among the active components below a limit. Return False if a round prevents it."""
        if self.blocked:
            return False
        self.s_incr = self.choose(self, min(limit, self.active), avoid)
        return True

    def _learn_removals(self, m: Message) -> None:
        """Carry out the removals that a message proves by newer incarnations of components."""
        for k, incarnation in enumerate(m.incarnation):
            if incarnation > self.incarnation.get(k, 0):
                self._cut(k)
                self.incarnation[k] = incarnation
            assert incarnation == self.incarnation.get(k, 0), "a message carries a component that was removed here"

    def _cut(self, k: int) -> None:
        del self.d[k:]
        self.active = min(self.active, k)

    # ---- rounds (Sections IV-D, IV-E) -----------------------------------------------------------------------------
    def begin(self, kind: int, number: int) -> list[Mail]:
        """Start a round (phase 1) for the highest active (Deactivate) or highest (Remove) component, if allowed.

        Returns:
            The packets to send.
        """
        k = (self.active if kind == DEACTIVATE else len(self.d)) - 1
        request = Request(number, kind, self.i, k, self.incarnation.get(k, 0), tuple(self.d[k]))
        if kind == REMOVE:
            request = replace(request, c_k=(), known=frozenset(self.delivered))
        if self.blocked or k == 0 or not self.agrees(request):
            return []
        self.blocked |= {number}
        self.answers[number] = (request, self.n - 1, True)
        return [(None, request)]

    def read(self, packet: Request | Acknowledgement | Decision) -> list[Mail]:
        """Handle a packet of a round and return the packets to send because of it."""
        if isinstance(packet, Request):
            yes = self.agrees(packet)
            self.blocked |= {packet.number}
            return [(packet.starter, Acknowledgement(packet.number, self.i, yes))]
        if isinstance(packet, Decision):
            self.apply(packet)
            return []
        request, left, yes = self.answers[packet.number]
        self.answers[packet.number] = (request, left - 1, yes and packet.yes)
        if left > 1:
            return []
        decision = Decision(request, yes and packet.yes)
        del self.answers[packet.number]
        self.apply(decision)
        return [(None, decision)]

    def agrees(self, r: Request) -> bool:
        """Return whether this process meets the conditions of a round now."""
        return self.may_deactivate(r) if r.kind == DEACTIVATE else self.may_remove(r)

    def may_deactivate(self, r: Request) -> bool:
        """Return whether C_k may be deactivated.

        It equals the starter's, no component above it is active, and neither this process nor a waiting message
        increments it.
        """
        own = tuple(self.d[r.k]) if r.k < len(self.d) else (0,) * self.size
        return (
            self.active <= r.k + 1
            and self.incarnation.get(r.k, 0) == r.incarnation
            and own == r.c_k
            and r.k not in self.s_incr
            and not any(r.k in m.s_incr for m in self.waiting)
        )

    def may_remove(self, r: Request) -> bool:
        """Return whether C_k may be removed.

        It must be inactive and the last one, and no message on its way to or from this process may have it.
        """
        return (
            self.active <= r.k
            and len(self.d) <= r.k + 1
            and self.incarnation.get(r.k, 0) == r.incarnation
            and r.known <= self.delivered
            and all(m.id in r.known for m in self.sent if len(m.d) > r.k and m.incarnation[r.k] == r.incarnation)
        )

    def apply(self, decision: Decision) -> None:
        """Carry out a decision (phase 2)."""
        r = decision.request
        self.blocked -= {r.number}
        if not decision.yes:
            return
        if r.kind == DEACTIVATE:
            if self.active == r.k + 1 and self.may_deactivate(r):
                self.active -= 1
        elif self.incarnation.get(r.k, 0) == r.incarnation:
            assert self.active <= r.k and len(self.d) <= r.k + 1, "removal of a component in use"
            self._cut(r.k)
            self.incarnation[r.k] = r.incarnation + 1
