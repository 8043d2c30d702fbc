"""All processes of a run with Dynamic Clock Sets: the vectorized implementation.

`kernel.handle` goes through a window: it broadcasts, receives and delivers messages, and stores the packets of rounds
for their receivers. At its tick, every `period_ps`, a process reads its packets (`mailroom`, `rounds`) and then carries
out the wishes of its policy.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causeway.bridge.events import BROADCAST_PEER, COLUMNS, NO_ACTIONS, Actions, Kind, Window, column, joined
from causeway.pycontrol.protocol import Context, Protocol
from causeway.pycontrol.protocols.clocks.entries import choose_entries
from causeway.pycontrol.protocols.dcs import kernel, resize, rounds
from causeway.pycontrol.protocols.dcs.mailroom import ENTRY_BYTES, HEADER_BYTES, Mailroom
from causeway.pycontrol.protocols.dcs.policies.base import STAY, Policy, View, Wish
from causeway.pycontrol.protocols.dcs.state import ABSENT, initial_state
from causeway.pycontrol.slots import reserve
from causeway.pycontrol.state_arrays import allocate, grown, size_of
from causeway.pycontrol.tape import ACT_SEND, ACT_SET_TIMER, K_BROADCAST, K_TIMER, Tape, events_of, take


class DynamicClockSet(Protocol):
    """The broadcast of dcs23 at all processes. A policy changes the sizes of their clocks."""

    passive = (Kind.ARRIVAL,)

    def __init__(
        self,
        policy: Policy,
        component_size: int = 50,
        components: int = 1,
        capacity: int = 1,
        increments: int = 2,
        assigned: int = 1,
        period_ps: int = 250_000_000_000,
        phases: int = 2,
        memory_ps: int = 2_000_000_000_000,
        messages: int = 0,
        until_ps: int = 0,
        even: bool = False,
        by_id: bool = False,
        remove_at_once: bool = False,
    ) -> None:
        """Set the parameters of Section V.

        Args:
            policy: Decides on sizes, S_incr and rounds.
            component_size: Entries of a component (M).
            components: Components of a clock at the start.
            capacity: The maximum number of components of a clock (C).
            increments: Entries of a component that a process increments (|f|).
            assigned: Components that a process increments (|S_incr|).
            period_ps: Time between two ticks of a process.
            phases: Groups of processes that tick at different instants.
            memory_ps: Time over which the load is averaged.
            messages: The run ends when this number of messages has been broadcast and delivered and all rounds are
                decided; 0: no such end.
            until_ps: The run ends when this time is reached, all messages are delivered and all rounds are decided.
            even: Share the entries of a component evenly among the processes.
            by_id: Choose S_incr by the process's id modulo the number of components, instead of at random.
            remove_at_once: A Remove round removes all inactive components, not only the last one.
        """
        assert 1 <= components <= capacity and assigned >= 1 and increments <= component_size
        self.policy, self.size, self.components, self.capacity = policy, component_size, components, capacity
        self.increments, self.assigned, self.period_ps, self.phases = increments, assigned, period_ps, phases
        self.alpha = min(1.0, period_ps / memory_ps)
        self.messages, self.until_ps, self.even, self.by_id = messages, until_ps, even, by_id
        self.remove_at_once = remove_at_once

    def start(self, context: Context) -> None:
        """Allocate the arrays."""
        super().start(context)
        n = context.nodes
        f = choose_entries(context.seed, n, self.size, self.increments, self.even)
        self.s = initial_state(f, self.size, self.capacity, self.components, self.assigned, context.seed, self.by_id)
        self._tape = allocate(Tape, reported=4096, act=0)
        self.mailroom = Mailroom(n, self.size, self.remove_at_once)
        self.tick = np.zeros(n, np.int64)
        self.load = np.zeros(n)
        self._heard = np.zeros(n, np.int64)
        self._timers = 0
        self._entries = _Average()
        self._actions: list[Actions] = []
        self.control_packets = self.control_bytes = 0

    # ---- windows --------------------------------------------------------------------------------------------------
    def on_window(self, window: Window) -> Actions:
        """Handle messages, the packets of rounds, and ticks."""
        if window.number == 0:
            return self._first_ticks() if self.policy.ticks else NO_ACTIONS
        first = int(self.s.slots.at["next"][0])
        mail = np.empty(len(window), np.int64)
        events, row = events_of(window), 0
        while True:
            why, row = kernel.handle(self.s, self._tape, mail, events, row)
            if why in (kernel.END, kernel.AT_TIMER):
                self._file_mail(window, mail)
                if why == kernel.END:
                    break
                end = row + int(np.searchsorted(window.time_ps[row:], window.time_ps[row], side="right"))
                end = row + int(np.count_nonzero(window.kind[row:end] == K_TIMER))
                self._on_ticks(int(window.time_ps[row]), window.node[row:end].astype(np.int32))
                row = end
            else:
                self._make_room(why)
        take(self._tape, self.context)
        self._send_messages(window, first)
        return self._take_actions()

    def _make_room(self, why: int) -> None:
        if why == kernel.NEEDS_SLOT:
            self.s = reserve(self.s, 1)
        elif why == kernel.NEEDS_WAITING:
            self.s = grown(self.s, wait=2 * size_of(self.s, "wait"))
        elif why == kernel.NEEDS_TAPE:
            self._tape = grown(self._tape, reported=2 * size_of(self._tape, "reported"))
        else:
            raise AssertionError("a message carries a component that its receiver has removed")

    def _send_messages(self, window: Window, first: int) -> None:
        """Send a packet for every message broadcast in this window. A message and its packet have the same id."""
        rows = np.flatnonzero(window.kind == K_BROADCAST)
        if not len(rows):
            return
        ids = np.arange(first, first + len(rows))
        ring = self.s.slots.ring
        # all of them have slots, since no process has received them yet
        length = self.s.length[ring[ids & (len(ring) - 1)]]
        size = HEADER_BYTES + window.arg[rows] + ENTRY_BYTES * (length * (self.size + 1) + self.assigned)
        effect_ps = window.time_ps[rows] + self.context.reaction_ps
        self._act(ACT_SEND, effect_ps, window.node[rows], ids, BROADCAST_PEER, size)

    # ---- ticks ----------------------------------------------------------------------------------------------------
    def _first_ticks(self) -> Actions:
        nodes = np.arange(self.context.nodes)
        self._set_timers(nodes, self.period_ps + nodes % self.phases * (self.period_ps // self.phases))
        return self._take_actions()

    def _set_timers(self, nodes: NDArray[Any], due_ps: NDArray[np.int64]) -> None:
        ids = self._timers + np.arange(len(nodes))
        self._timers += len(nodes)
        self._act(ACT_SET_TIMER, due_ps, nodes, ids, 0, np.zeros(len(nodes)))

    def _on_ticks(self, now_ps: int, nodes: NDArray[np.int32]) -> None:
        """Make processes read their packets, measure their load and carry out the policy's wishes."""
        self.mailroom.read(self.s, nodes)
        heard = self.s.heard[nodes]
        rate = (heard - self._heard[nodes]) * (1e12 / self.period_ps)
        self._heard[nodes] = heard
        self.load[nodes] += (rate - self.load[nodes]) * self.alpha
        self._grant(nodes, self.policy.wish(self._view(nodes)), not self._is_ending(now_ps))
        self.tick[nodes] += 1
        if not self._is_ending(now_ps):
            self._entries.add(self.s.active[nodes] * self.size)
        if nodes[0] == 0:
            self.context.record("dcs", "entries", now_ps, float(self.s.active.mean() * self.size))
        self._post(now_ps)
        if not self._is_ending(now_ps) or not self._is_quiet():
            self._set_timers(nodes, np.full(len(nodes), now_ps + self.period_ps))

    def _is_ending(self, now_ps: int) -> bool:
        """Return whether the last broadcast of the run is over."""
        return 0 < self.messages <= self.s.slots.at["next"][0] or 0 < self.until_ps <= now_ps

    def _is_quiet(self) -> bool:
        """Return whether all messages are delivered and all rounds decided."""
        return not self.s.left.any() and not self.mailroom.unread and not self.mailroom.blocked.any()

    def _view(self, nodes: NDArray[np.int32]) -> View:
        s, tick = self.s, int(self.tick[nodes[0]])
        per_component = (len(nodes), self.capacity, self.size)
        return View(
            tick, self.context.nodes, nodes, self.load[nodes], s.active[nodes], s.total[nodes], s.s_incr[nodes],
            s.limit[nodes], self.mailroom.behind[nodes],
            lambda: s.clock[nodes].reshape(per_component).sum(axis=2) / self.increments,
            lambda: resize.uniform(self.context.seed, nodes, tick),
        )  # fmt: skip

    def _grant(self, nodes: NDArray[np.int32], wish: Wish, rounds_too: bool) -> None:
        """Carry out the wishes of the processes that no round blocks: expand, choose S_incr, start rounds."""
        s, free = self.s, self.mailroom.blocked[nodes] == 0
        which = free & (wish.grow_to > s.active[nodes])
        resize.expand(s, nodes[which], wish.grow_to[which])
        which = free & (wish.assign_below != STAY)
        resize.assign_all(s, nodes[which], wish.assign_below[which], np.full(which.sum(), ABSENT))
        which = free & (wish.avoid != STAY) & (s.active[nodes] > 1)
        resize.assign_all(s, nodes[which], s.active[nodes[which]], wish.avoid[which])
        for i in np.flatnonzero(free & rounds_too & (wish.deactivate | wish.remove)):
            self.mailroom.begin(s, rounds.DEACTIVATE if wish.deactivate[i] else rounds.REMOVE, int(nodes[i]))

    def _file_mail(self, window: Window, mail: NDArray[np.int64]) -> None:
        count = int(self.s.counts["control_arrived"][0])
        if count:
            self.mailroom.unread.append((window.node[mail[:count]], window.ref[mail[:count]]))
            self.s.counts["control_arrived"] = 0

    def _post(self, now_ps: int) -> None:
        """Send the packets of rounds that processes wrote at this tick."""
        outbox, self.mailroom.outbox = self.mailroom.outbox, []
        if not outbox:
            return
        sender, packet, peer, size = (np.concatenate(c) for c in zip(*outbox, strict=True))
        self._act(ACT_SEND, np.full(len(sender), now_ps + self.context.reaction_ps), sender, packet, peer, size)
        copies = np.where(peer == BROADCAST_PEER, self.context.nodes - 1, 1)
        self.control_packets += int(copies.sum())
        self.control_bytes += int((copies * size).sum())

    # ---- output ---------------------------------------------------------------------------------------------------
    def _act(self, kind: int, time_ps, node, ref, peer, size) -> None:
        rows = len(node)
        self._actions.append(Actions(
            np.full(rows, kind, np.uint8), time_ps.astype(np.int64), node.astype(np.int32), ref.astype(np.int64),
            np.full(rows, peer, np.int32), size.astype(np.int32), np.zeros(rows, np.uint8),
        ))  # fmt: skip

    def _take_actions(self) -> Actions:
        """Return and clear the actions, in order of kind and time, so that the order does not depend on windows."""
        if not self._actions:
            return NO_ACTIONS
        parts, self._actions = self._actions, []
        if len(parts) == 1 and parts[0].kind[0] == ACT_SEND and len(parts[0]) == 1:
            return parts[0]
        whole = joined(parts)
        order = np.lexsort((whole.ref, whole.node, whole.time_ps, whole.kind))
        columns: dict[str, Any] = {name: column(whole, name)[order] for name in COLUMNS}
        return Actions(**columns)

    def scalars(self) -> Mapping[str, float]:
        """Return the counters of clocks, rounds and deliveries."""
        s, all_rounds = self.s, self.mailroom.rounds
        sent = max(int(s.slots.at["next"][0]), 1)
        return {
            "entries_mean": self._entries.mean if self.policy.ticks else float(s.active.mean() * self.size),
            "entries_max": max(self._entries.max, float(s.active.max() * self.size)),
            "entries_sent_mean": float(s.counts["sent_entries"][0]) / sent,
            "rounds": len(all_rounds),
            "rounds_refused": self.mailroom.refused,
            "rounds_open": sum(r.open for r in all_rounds),
            "rounds_remove": sum(r.kind == rounds.REMOVE for r in all_rounds),
            "removed": float(s.incarnation.max(axis=0).sum()),
            "waited": float(s.counts["waited"][0]),
            "expanded_by_message": float(s.counts["expanded_by_message"][0]),
            "assigned": float(s.counts["assigned"][0]),
            "stuck": float(s.waits.sum()),
            "undelivered": float(s.left.sum()),
            "control_packets": self.control_packets,
            "control_bytes": self.control_bytes,
            "handled": float(s.counts["delivered"][0]),
        }


class _Average:
    """The mean and maximum of values that are added over time."""

    def __init__(self) -> None:
        self.sum = self.count = self.max = 0.0

    def add(self, values: NDArray[Any]) -> None:
        self.sum += float(values.sum())
        self.count += len(values)
        self.max = max(self.max, float(values.max()))

    @property
    def mean(self) -> float:
        return self.sum / max(self.count, 1)
