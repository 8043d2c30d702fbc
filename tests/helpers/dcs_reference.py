"""A run of `Process`es on an engine: the reference implementation of `causeway.pycontrol.protocols.dcs.vectorized`.

It handles event by event, with the same packets, ticks and policy, and therefore gives the same digest. `Process` makes
all decisions of a process.
"""

from __future__ import annotations

import numpy as np

from causeway.bridge.events import BROADCAST_PEER, Act, Actions, Kind, Window
from causeway.network.random import draw
from causeway.pycontrol.protocol import BROADCAST, DELIVER, HELD, Context, Protocol
from causeway.pycontrol.protocols.clocks.entries import choose_entries
from causeway.pycontrol.protocols.dcs.kernel import CONTROL
from causeway.pycontrol.protocols.dcs.node import DEACTIVATE, REMOVE, Acknowledgement, Decision, Process, Request
from causeway.pycontrol.protocols.dcs.policies.base import STAY, View
from causeway.pycontrol.protocols.dcs.state import STREAM_ASSIGN, STREAM_POLICY, first_components
from causeway.pycontrol.protocols.dcs.vectorized import ENTRY_BYTES, HEADER_BYTES, DynamicClockSet


class ReferenceClockSet(Protocol):
    """Takes the settings of a `DynamicClockSet`."""

    passive = (Kind.ARRIVAL,)

    def __init__(self, like: DynamicClockSet) -> None:
        self.of = like

    def start(self, context: Context) -> None:
        super().start(context)
        o, n = self.of, context.nodes
        drawn = choose_entries(context.seed, n, o.size, o.increments, o.even)
        f = [tuple(int(x) for x in row) for row in drawn]
        first = first_components(n, o.components, o.assigned).tolist()
        self.draws = [0] * n
        self.limit = [o.components] * n
        self.behind = [False] * n
        self.processes = [
            Process(i, n, f.__getitem__, o.size, [k for k in first[i] if k >= 0], o.components, self._choose)
            for i in range(n)
        ]
        self.mail: list[list] = [[] for _ in range(n)]
        self.packets: dict[int, object] = {}
        self.tick, self.load, self.heard = [0] * n, np.zeros(n), [0] * n
        self.rounds = self.timers = self.messages = 0
        self.actions: list[tuple] = []
        self.log: list[tuple] = []

    def _choose(self, p: Process, limit: int, avoid: int | None) -> tuple[int, ...]:
        self.draws[p.i] += 1
        self.limit[p.i] = limit
        width, chosen = self.of.assigned, []
        if self.of.by_id and avoid is None:
            return tuple(sorted((p.i + i) % limit for i in range(min(width, limit))))
        left = [k for k in range(limit) if k != avoid]
        for i in range(min(width, len(left))):
            bits = draw(self.context.seed, STREAM_ASSIGN, p.i, self.draws[p.i] * width + i)
            chosen.append(left.pop(bits % len(left)))
        return tuple(sorted(chosen))

    def on_window(self, window: Window) -> Actions:
        o, n = self.of, self.context.nodes
        if window.number == 0 and o.policy.ticks:
            for i in range(n):
                self._timer(i, o.period_ps + i % o.phases * (o.period_ps // o.phases))
        for kind, now, i, ref, arg in zip(*(c.tolist() for c in (
            window.kind, window.time_ps, window.node, window.ref, window.arg)), strict=True):  # fmt: skip
            if kind == Kind.BROADCAST:
                self._broadcast(now, self.processes[i], arg)
            elif kind == Kind.ARRIVAL and ref >= CONTROL:
                self.mail[i].append(ref)
            elif kind == Kind.ARRIVAL:
                self._receive(now, self.processes[i], self.packets[ref])
            elif kind == Kind.TIMER:
                self._tick(now, self.processes[i])
        if self.log:
            columns = zip(*self.log, strict=True)
            types = (np.uint8, np.int64, np.int32, np.int64)
            self.context.observe(*(np.array(c, t) for c, t in zip(columns, types, strict=True)))
            self.log = []
        return self._take_actions()

    def _broadcast(self, now: int, p: Process, size: int) -> None:
        id_, self.messages = self.messages, self.messages + 1
        m = p.broadcast(id_)
        self.packets[id_] = m
        self.log += [(BROADCAST, now, p.i, id_), (DELIVER, now, p.i, id_)]
        self.log += [(DELIVER, now, p.i, w.id) for w in p.deliver_waiting()]
        self.heard[p.i] = len(p.delivered)
        size += HEADER_BYTES + ENTRY_BYTES * (len(m.d) * (self.of.size + 1) + self.of.assigned)
        self._send(now, p.i, id_, BROADCAST_PEER, size)

    def _receive(self, now: int, p: Process, m) -> None:
        done = p.receive(m)
        self.log += [(DELIVER, now, p.i, d.id) for d in done] or [(HELD, now, p.i, m.id)]

    def _tick(self, now: int, p: Process) -> None:
        o, n = self.of, self.context.nodes
        for ref in sorted(self.mail[p.i]):
            packet = self.packets[ref]
            self._post(now, p, p.read(packet))
            if isinstance(packet, Request):
                highest = p.active if packet.kind == DEACTIVATE else len(p.d)
                self.behind[p.i] = highest > packet.k + 1
        self.mail[p.i] = []
        rate = (len(p.delivered) - self.tick_heard(p)) * (1e12 / o.period_ps)
        self.load[p.i] += (rate - self.load[p.i]) * o.alpha
        wish = o.policy.wish(self._view(p))
        if not p.blocked:
            before = p.active
            self._expand(p, min(int(wish.grow_to[0]), o.capacity))
            assert p.active >= before
            if wish.assign_below[0] != STAY:
                p.assign(int(wish.assign_below[0]))
            if wish.avoid[0] != STAY and p.active > 1:
                p.assign(p.active, int(wish.avoid[0]))
            for kind, wanted in ((DEACTIVATE, wish.deactivate[0]), (REMOVE, wish.remove[0] and not wish.deactivate[0])):
                if wanted and (mail := p.begin(kind, self.rounds)):
                    self.rounds += 1
                    self.behind[p.i] = False
                    self._post(now, p, mail)
        self.tick[p.i] += 1
        self._timer(p.i, now + o.period_ps)
        assert n > 1

    def _expand(self, p: Process, wanted: int) -> None:
        """Several Expands at once take up new components once, at the end."""
        choose, p.choose = p.choose, lambda p, limit, avoid: p.s_incr
        expanded = False
        while p.active < wanted:
            expanded = p.expand()
        p.choose = choose
        if expanded:
            p.assign(p.active)

    def tick_heard(self, p: Process) -> int:
        """The number of messages that the process had delivered at its last tick."""
        self.last = getattr(self, "last", [0] * self.context.nodes)
        before, self.last[p.i] = self.last[p.i], len(p.delivered)
        return before

    def _view(self, p: Process) -> View:
        o, i = self.of, np.array([p.i], np.int32)
        s_incr = np.full((1, o.assigned), -1, np.int32)
        s_incr[0, : len(p.s_incr)] = p.s_incr
        sums = [[sum(c) / o.increments for c in p.d] + [0.0] * (o.capacity - len(p.d))]
        return View(
            self.tick[p.i], self.context.nodes, i, self.load[i], np.array([p.active], np.int32),
            np.array([len(p.d)], np.int32), s_incr, np.array([self.limit[p.i]], np.int32),
            np.array([self.behind[p.i]]), lambda: np.array(sums),
            lambda: np.array([(draw(self.context.seed, STREAM_POLICY, p.i, self.tick[p.i]) >> 11) / 2**53]),
        )  # fmt: skip

    def _post(self, now: int, p: Process, mail) -> None:
        n = self.context.nodes
        for to, packet in mail:
            request = packet.request if isinstance(packet, Decision) else packet
            what = {Request: n, Decision: n + 1, Acknowledgement: p.i}[type(packet)]
            entries = self.of.size if getattr(request, "kind", 0) == DEACTIVATE else 2 * n
            extra = ENTRY_BYTES * entries if isinstance(packet, Request) else 1
            ref = CONTROL + request.number * (n + 2) + what
            self.packets[ref] = packet
            self._send(now, p.i, ref, BROADCAST_PEER if to is None else to, HEADER_BYTES + extra)

    def _send(self, now: int, node: int, ref: int, peer: int, size: int) -> None:
        self.actions.append((Act.SEND, now + self.context.reaction_ps, node, ref, peer, size, 0))

    def _timer(self, node: int, due_ps: int) -> None:
        self.actions.append((Act.SET_TIMER, due_ps, node, self.timers, 0, 0, 0))
        self.timers += 1

    def _take_actions(self) -> Actions:
        rows = sorted(self.actions)
        self.actions = []
        types = (np.uint8, np.int64, np.int32, np.int64, np.int32, np.int32, np.uint8)
        columns = zip(*rows, strict=True) if rows else ((),) * 7
        return Actions(*(np.array(c, t) for c, t in zip(columns, types, strict=True)))


__all__ = ["DEACTIVATE", "REMOVE", "ReferenceClockSet"]
