"""The hash error detector written as one process. Reads like Algorithms 2 and 3 of the paper `hash`.

The same protocol over columns is `columns.py`; both give the same digest. This one is for reading and for small
runs: it keeps every set that the paper keeps, whole, and tries sets of messages one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from causeway.pycontrol.node import EVERYONE, Node, PerNode
from causeway.pycontrol.protocol import FLAGGED, HELD, Context
from causeway.pycontrol.protocols.clocks.columns import ENTRY_BYTES, HEADER_BYTES
from causeway.pycontrol.protocols.clocks.entries import choose_entries
from causeway.pycontrol.protocols.hash.columns import HASH_BYTES, ID_BYTES
from causeway.pycontrol.protocols.hash.search import hash_of

MASK_64 = (1 << 64) - 1


@dataclass(frozen=True)
class App:
    """A message: its id stands for (p, seq); H is the hash of its sender's deliveries."""

    sender: int
    id: int
    V: tuple[int, ...]
    H: int


@dataclass(frozen=True)
class Req:
    """Asks for the dependencies of a message."""

    id: int


@dataclass(frozen=True)
class Rsp:
    """The dependencies of a message."""

    id: int
    dep: frozenset[int]


@dataclass
class Waiting:
    """A received message that is not delivered yet: asked for (tested, REQ sent), answered (RSP came)."""

    m: App
    asked: bool = False
    dep: frozenset[int] | None = field(default=None)


class HashDetectorNode(Node):
    """Process p_i."""

    def __init__(self, clock_size: int, f: Sequence[Sequence[int]], limit: int, remember: int, retest: bool) -> None:
        self.V = [0] * clock_size
        self.f, self.limit, self.remember, self.retest = f, limit, remember, retest
        self.Rec: list[Waiting] = []
        self.Deliv: dict[int, int] = {}
        """Delivered messages and their senders, in order of delivery."""
        self.hash = 0
        self.Dep: set[int] = set()
        self.S_dep: dict[int, frozenset[int]] = {}

    # ---- Algorithm 2 ----------------------------------------------------------------------------------------------
    def on_broadcast(self, number: int, size_bytes: int) -> None:
        id_, H = self.broadcast(), self.hash
        self.S_dep[id_] = frozenset(self.Dep)  # line 2
        self.count(self.id, id_)  # line 3; and its own messages are delivered ones too
        m = App(self.id, id_, tuple(self.V), H)
        self.send(EVERYONE, m, size_bytes + HEADER_BYTES + ENTRY_BYTES * len(self.V) + HASH_BYTES)
        self.deliver(id_)
        self.Dep = {id_}  # line 7
        self.look_again()

    def on_packet(self, content: Any, sender: int, interface: int) -> None:
        if isinstance(content, App):
            self.on_app(content)
        elif isinstance(content, Req):  # line 14: the answer goes to the process that asked
            dep = self.S_dep[content.id]
            self.send(sender, Rsp(content.id, dep), HEADER_BYTES + ID_BYTES * len(dep))
        else:
            for waiting in self.Rec:
                if waiting.m.id == content.id:
                    waiting.dep = content.dep
            self.look_again()

    def on_app(self, m: App) -> None:
        """Lines 8-13."""
        waiting = Waiting(m)
        if not self.deliverable(m):
            self.host.note(HELD, self.id, m.id)
            self.Rec.append(waiting)
        elif self.error(m):
            self.Rec.append(waiting)
            self.request(waiting)
        else:
            self.handle(m)
            self.look_again()

    def deliverable(self, m: App) -> bool:
        """Line 9."""
        counted = self.f[m.sender]
        return all(self.V[x] >= m.V[x] - (x in counted) for x in range(len(self.V)))

    def request(self, waiting: Waiting) -> None:
        """Line 11."""
        self.host.note(FLAGGED, self.id, waiting.m.id)
        waiting.asked = True
        self.send(waiting.m.sender, Req(waiting.m.id), HEADER_BYTES)

    def ready(self, waiting: Waiting) -> bool:
        """Whether a waiting message can be delivered now; the first time that its clock allows it, it is tested."""
        if waiting.dep is not None:
            return waiting.dep <= self.Deliv.keys()  # line 15
        if waiting.asked:
            return self.retest and not self.error(waiting.m)
        if not self.deliverable(waiting.m):
            return False
        if self.error(waiting.m):
            self.request(waiting)
            return False
        return True

    def look_again(self) -> None:
        """Delivers the first waiting message that can be, as long as there is one."""
        while (waiting := next((w for w in self.Rec if self.ready(w)), None)) is not None:
            self.Rec.remove(waiting)
            self.handle(waiting.m)

    def handle(self, m: App) -> None:
        """Lines 17-21."""
        self.count(m.sender, m.id)
        self.Dep.add(m.id)
        self.deliver(m.id)

    def count(self, sender: int, id_: int) -> None:
        """Lines 19 and 21."""
        for x in self.f[sender]:
            self.V[x] += 1
        self.Deliv[id_] = sender
        self.hash = (self.hash + int(hash_of(id_))) & MASK_64

    # ---- Algorithm 3 ----------------------------------------------------------------------------------------------
    def error(self, m: App) -> bool:
        """True unless a set of delivered messages has the hash of the message's dependencies."""
        counted = self.f[m.sender]
        wanted = [self.V[x] - m.V[x] + (x in counted) for x in range(len(self.V))]
        self.hashes = 0
        sets = self.combinations(list(self.Deliv)[::-1][: self.remember], wanted)
        return not any((self.hash - h) & MASK_64 == m.H for h in sets)

    def combinations(self, newest: list[int], wanted: list[int]) -> Iterator[int]:
        """Hashes of the sets of messages that count `wanted`: first those whose oldest message is newest."""
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
        """Hashes of the sets with hash `h` so far, completed with candidates in turn."""
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
        """What is wanted once this message is in the set."""
        counted = self.f[self.Deliv[id_]]
        return [w - (x in counted) for x, w in enumerate(wanted)]

    def enough(self, candidates: list[int], wanted: list[int]) -> bool:
        """Whether the candidates count every entry often enough."""
        cover = [0] * len(wanted)
        for i in candidates:
            for x in self.f[self.Deliv[i]]:
                cover[x] += 1
        return all(c >= w for c, w in zip(cover, wanted, strict=True))


class HashDetectorProcesses(PerNode):
    """All processes, each one written as a node."""

    node_class = HashDetectorNode

    def __init__(
        self, clock_size: int, entries: int, limit: int, remember: int = 4096, retest: bool = False, even: bool = False
    ) -> None:
        super().__init__(lambda id_: self.node_class(self.clock_size, self.f, limit, remember, retest))
        self.clock_size, self.entries, self.even = clock_size, entries, even

    def start(self, context: Context) -> None:
        self.copies_of_broadcast = context.nodes - 1
        self.f = choose_entries(context.seed, context.nodes, self.clock_size, self.entries, self.even).tolist()
        super().start(context)
