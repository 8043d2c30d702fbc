"""The hash error detector: the reference implementation of Algorithms 2 and 3 of the paper `hash`.

The class is one process, for readers and small runs. It keeps every set that the paper keeps, and tries sets of
messages one by one. The vectorized implementation is `vectorized.py`; both give the same digest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from causeway.pycontrol.node import EVERYONE, Node, PerNode
from causeway.pycontrol.protocol import FLAGGED, HELD, Context
from causeway.pycontrol.protocols.clocks.entries import choose_entries
from causeway.pycontrol.protocols.clocks.vectorized import ENTRY_BYTES, HEADER_BYTES
from causeway.pycontrol.protocols.hash.search import hash_of
from causeway.pycontrol.protocols.hash.state import Choices
from causeway.pycontrol.protocols.hash.vectorized import DEFAULT, HASH_BYTES, ID_BYTES

MASK_64 = (1 << 64) - 1


@dataclass(frozen=True)
class App:
    """A message. Its id replaces the paper's (p, seq); H is the hash of its sender's deliveries."""

    sender: int
    id: int
    V: tuple[int, ...]
    H: int

    def covers(self, other: App) -> bool:
        """Return whether the clock is at least that of the other message in every entry."""
        return all(own >= others for own, others in zip(self.V, other.V, strict=True))

    def ahead_of(self, other: App) -> int:
        """Return the number of counts by which the clock is ahead of the other."""
        return sum(self.V) - sum(other.V)


@dataclass(frozen=True)
class Req:
    """A request for the dependencies of a message."""

    id: int


@dataclass(frozen=True)
class Rsp:
    """The dependencies of a message."""

    id: int
    dep: frozenset[int]


@dataclass
class Waiting:
    """A received message that is not delivered yet. `requested`: REQ was sent.

    `dep`: the answer in RSP, if it has arrived.
    """

    m: App
    suspected: bool = False
    requested: bool = False
    dep: frozenset[int] | None = field(default=None)


class HashDetectorNode(Node):
    """Process p_i."""

    def __init__(
        self, clock_size: int, f: Sequence[Sequence[int]], limit: int, remember: int, retest: bool,
        choices: Choices = DEFAULT,
    ) -> None:  # fmt: skip
        self.V = [0] * clock_size
        self.f, self.limit, self.remember, self.retest = f, limit, remember, retest
        self.near, self.one_request, self.quiet, _ = choices
        self.asking = False
        self.recent: list[App] = []
        """Delivered messages, the newest last, for the search among near messages."""
        self.Rec: list[Waiting] = []
        self.Deliv: dict[int, int] = {}
        """Delivered messages and their senders, in order of delivery."""
        self.hash = 0
        self.Dep: set[int] = set()
        self.S_dep: dict[int, frozenset[int]] = {}

    # ---- Algorithm 2 ----------------------------------------------------------------------------------------------
    def on_broadcast(self, number: int, size_bytes: int) -> None:
        """Broadcast a message and deliver it here (lines 1-7)."""
        if self.quiet and self.asking:
            return
        id_, H = self.new_message(), self.hash
        self.S_dep[id_] = frozenset(self.Dep)  # line 2
        self.count(self.id, id_)  # line 3; a process's own messages belong to Deliv, too
        m = App(self.id, id_, tuple(self.V), H)
        if self.near:
            m = replace(m, H=sum(int(hash_of(one.id)) for one in self.candidates(m)) & MASK_64)
        self.recent.append(m)
        self.send(EVERYONE, m, size_bytes + HEADER_BYTES + ENTRY_BYTES * len(self.V) + HASH_BYTES)
        self.deliver(id_)
        self.Dep = {id_}  # line 7
        self.look_again()

    def on_packet(self, content: Any, sender: int, interface: int) -> None:
        """Handle an APP, REQ or RSP."""
        if isinstance(content, App):
            self.on_app(content)
        elif isinstance(content, Req):  # line 14
            dep = self.S_dep[content.id]
            self.send(sender, Rsp(content.id, dep), HEADER_BYTES + ID_BYTES * len(dep))
        else:
            self.asking = False
            for waiting in self.Rec:
                if waiting.m.id == content.id:
                    waiting.dep = content.dep
            self.look_again()

    def on_app(self, m: App) -> None:
        """Deliver a message, hold it, or request its dependencies (lines 8-13)."""
        waiting = Waiting(m)
        if not self.deliverable(m):
            self.runtime.note(HELD, self.id, m.id)
            self.Rec.append(waiting)
        elif self.error(m):
            self.Rec.append(waiting)
            self.suspect(waiting)
            if not waiting.requested:
                self.runtime.note(HELD, self.id, m.id)
        else:
            self.handle(m)
            self.look_again()

    def deliverable(self, m: App) -> bool:
        """Return whether the clock allows the delivery of the message (line 9)."""
        counted = self.f[m.sender]
        return all(self.V[x] >= m.V[x] - (x in counted) for x in range(len(self.V)))

    def suspect(self, waiting: Waiting) -> None:
        """Send a request (line 11), unless only one is allowed at a time and another one is open."""
        waiting.suspected = True
        if self.one_request and self.asking:
            return
        self.runtime.note(FLAGGED, self.id, waiting.m.id)
        waiting.requested = self.asking = True
        self.send(waiting.m.sender, Req(waiting.m.id), HEADER_BYTES)

    def ready(self, waiting: Waiting) -> bool:
        """Return whether a waiting message can be delivered now. It is tested as soon as the clock allows it."""
        if waiting.dep is not None:
            return waiting.dep <= self.Deliv.keys()  # line 15
        if waiting.requested:
            return self.retest and not self.error(waiting.m)
        if waiting.suspected and self.asking and not self.retest:
            return False
        if not self.deliverable(waiting.m):
            return False
        if self.error(waiting.m):
            self.suspect(waiting)
            return False
        return True

    def look_again(self) -> None:
        """Deliver the first waiting message that is ready, until none is."""
        while (waiting := next((w for w in self.Rec if self.ready(w)), None)) is not None:
            self.Rec.remove(waiting)
            self.handle(waiting.m)

    def handle(self, m: App) -> None:
        """Deliver a message (lines 17-21)."""
        self.count(m.sender, m.id)
        self.recent.append(m)
        self.Dep.add(m.id)
        self.deliver(m.id)

    def count(self, sender: int, id_: int) -> None:
        """Add a message to the clock, to Deliv and to the hash (lines 19 and 21)."""
        for x in self.f[sender]:
            self.V[x] += 1
        self.Deliv[id_] = sender
        self.hash = (self.hash + int(hash_of(id_))) & MASK_64

    # ---- Algorithm 3 ----------------------------------------------------------------------------------------------
    def error(self, m: App) -> bool:
        """Return whether no set of delivered messages has the hash of the message's dependencies."""
        if self.near:
            return not any(h & MASK_64 == m.H for h in self.near_sets(m))
        counted = self.f[m.sender]
        wanted = [self.V[x] - m.V[x] + (x in counted) for x in range(len(self.V))]
        self.hashes = 0
        sets = self.combinations(list(self.Deliv)[::-1][: self.remember], wanted)
        return not any((self.hash - h) & MASK_64 == m.H for h in sets)

    def candidates(self, m: App) -> list[App]:
        """Return the deliveries that may be dependencies of the message, the nearest first."""
        newest = self.recent[-self.remember :]
        fitting = [one for one in newest if one is not m and m.covers(one) and m.ahead_of(one) < self.near]
        return sorted(fitting, key=lambda one: (m.ahead_of(one), one.id))

    def near_sets(self, m: App) -> Iterator[int]:
        """Yield hashes of sets of candidates: all, then without some, in binary with the nearest as lowest digit."""
        hashes = [int(hash_of(one.id)) for one in self.candidates(m)]
        for number in range(min(self.limit, 2 ** len(hashes))):
            yield sum(h for digit, h in enumerate(hashes) if not number >> digit & 1)

    def combinations(self, newest: list[int], wanted: list[int]) -> Iterator[int]:
        """Yield the hashes of the sets with the counts `wanted`, in order of their oldest message, the newest first."""
        if not any(wanted):
            yield 0
            return
        fitting = [i for i in newest if all(wanted[x] > 0 for x in self.f[self.Deliv[i]])]
        for n, oldest in enumerate(fitting):
            if self.hashes >= self.limit:
                return
            rest = self.without(wanted, oldest)
            if self.enough(fitting[:n], rest):
                self.hashes += 1
                yield from self.complete(fitting[:n], rest, int(hash_of(oldest)))

    def complete(self, candidates: list[int], wanted: list[int], h: int) -> Iterator[int]:
        """Yield the hashes of a set with hash `h` and further candidates, so that it has the counts `wanted`."""
        if not any(wanted):
            yield h
            return
        first, others = candidates[0], candidates[1:]
        rest = self.without(wanted, first)
        if min(rest) >= 0:
            if self.hashes >= self.limit:
                return
            self.hashes += 1
            yield from self.complete(others, rest, h + int(hash_of(first)))
        if self.hashes < self.limit and self.enough(others, wanted):
            yield from self.complete(others, wanted, h)

    def without(self, wanted: list[int], id_: int) -> list[int]:
        """Return the counts that are still wanted after this message has joined the set."""
        counted = self.f[self.Deliv[id_]]
        return [w - (x in counted) for x, w in enumerate(wanted)]

    def enough(self, candidates: list[int], wanted: list[int]) -> bool:
        """Return whether the candidates together count every entry often enough."""
        cover = [0] * len(wanted)
        for i in candidates:
            for x in self.f[self.Deliv[i]]:
                cover[x] += 1
        return all(c >= w for c, w in zip(cover, wanted, strict=True))


class HashDetectorProcesses(PerNode):
    """All processes of a run, one node each."""

    node_class = HashDetectorNode

    def __init__(
        self, clock_size: int, entries: int, limit: int, remember: int = 4096, retest: bool = False, even: bool = False,
        choices: Choices = DEFAULT,
    ) -> None:  # fmt: skip
        super().__init__(lambda id_: self.node_class(self.clock_size, self.f, limit, remember, retest, choices))
        self.clock_size, self.entries, self.even = clock_size, entries, even

    def start(self, context: Context) -> None:
        """Choose f and make the nodes."""
        self.f = choose_entries(context.seed, context.nodes, self.clock_size, self.entries, self.even).tolist()
        super().start(context)
