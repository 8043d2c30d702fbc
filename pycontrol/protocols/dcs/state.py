"""The state of all processes' Dynamic Clock Sets, as arrays that the kernels read and write.

A process p keeps `total[p]` components of M entries; the first `active[p]` of them are active, the others inactive but
still counted. Entry x of component c says how many messages that increment it p has broadcast or delivered, since
component c was last removed; `incarnation[p, c]` says how often that was.

A message in flight lives in a slot. It carries its sender's active components as they were BEFORE the broadcast
incremented them (`need`): a receiver may deliver it once its own entries are at least that. That is the paper's
delivery condition, `D_m[x] - 1 <= D_i[x]` where the message incremented x and `D_m[x] <= D_i[x]` elsewhere, in one
comparison.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causeway.bridge.random import STREAM_PROTOCOL
from causeway.pycontrol.slots import Slots

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
U64 = NDArray[np.uint64]

STREAM_ASSIGN = STREAM_PROTOCOL + 1
STREAM_POLICY = STREAM_PROTOCOL + 2
"""Random streams: which components a process assigns itself to, and what its policy draws."""

ABSENT = -1
"""In S_incr: no further component."""

(DELIVERED, WAITED, EXPANDED_BY_MESSAGE, ASSIGNED, SENT_ENTRIES, CONTROL_ARRIVED, REMOVED) = range(7)
"""Places in `counts`."""
COUNTS = 7


class State(NamedTuple):
    """Processes by row, messages in flight by slot."""

    # Processes
    clock: I32  # [N, C * M] entries of all components, one after the other
    active: I32  # [N]
    total: I32  # [N]
    incarnation: I32  # [N, C]
    s_incr: I32  # [N, S] components the process increments, ascending, then ABSENT
    limit: I32  # [N] the process chose those among the components below this one
    f: I32  # [N, k] entries the process increments in each of them
    draws: I64  # [N] how often the process assigned itself
    heard: I64  # [N] messages broadcast and delivered
    waiting: I32  # [N, W] messages received and not delivered yet, in order of reception
    waits: I32  # [N] how many those are
    last_with: I64  # [N, C] the last message the process broadcast with that component attached, or -1
    # Messages in flight
    ring: I32
    free: I32
    slots: I64
    need: I32  # [slots, C * M]
    length: I32  # [slots] active components of the sender
    m_incarnation: I32  # [slots, C]
    m_s_incr: I32  # [slots, S]
    sender: I32  # [slots]
    m_id: I64  # [slots]
    got: U64  # [N, slots / 64] bit s: the process has delivered the message in slot s
    past: U64  # [slots, slots / 64] what the sender had delivered, of the messages in flight
    left: I32  # [slots] how many processes have not delivered it yet
    counts: I64  # [COUNTS]
    seed: I64  # [1]

    @property
    def capacity(self) -> int:
        """C: how many components a clock can have."""
        return self.incarnation.shape[1]

    @property
    def size(self) -> int:
        """M: entries of a component."""
        return self.clock.shape[1] // self.capacity

    def has(self, nodes: I32, slots: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which of these processes have delivered which of the messages in these slots: [nodes, slots]."""
        bits = self.got[np.asarray(nodes)[:, None], (slots >> 6)[None, :]] >> (slots & 63).astype(np.uint64)
        return (bits & np.uint64(1)).astype(np.bool_)

    def component(self, nodes: I32, k: int) -> I32:
        """The entries of component k at some processes."""
        return self.clock[nodes, k * self.size : (k + 1) * self.size]


def first_components(nodes: int, components: int, assigned: int) -> I32:
    """S_incr at the start: equal shares, the first processes in component 0."""
    s_incr = np.full((nodes, assigned), ABSENT, np.int32)
    own = np.arange(nodes) * components // nodes
    for i in range(min(assigned, components)):
        s_incr[:, i] = (own + i) % components
    s_incr[:, : min(assigned, components)].sort(axis=1)
    return s_incr


def initial_state(
    f: I32, size: int, capacity: int, components: int, assigned: int, seed: int, slots: Slots, waiting: int = 8
) -> State:
    """All processes with `components` empty active components."""
    nodes, places = len(f), slots.capacity
    return State(
        clock=np.zeros((nodes, capacity * size), np.int32),
        active=np.full(nodes, components, np.int32),
        total=np.full(nodes, components, np.int32),
        incarnation=np.zeros((nodes, capacity), np.int32),
        s_incr=first_components(nodes, components, assigned),
        limit=np.full(nodes, components, np.int32),
        f=f,
        draws=np.zeros(nodes, np.int64),
        heard=np.zeros(nodes, np.int64),
        waiting=np.zeros((nodes, waiting), np.int32),
        waits=np.zeros(nodes, np.int32),
        last_with=np.full((nodes, capacity), -1, np.int64),
        ring=slots.ring,
        free=slots.free,
        slots=slots.state,
        need=np.zeros((places, capacity * size), np.int32),
        length=np.zeros(places, np.int32),
        m_incarnation=np.zeros((places, capacity), np.int32),
        m_s_incr=np.zeros((places, assigned), np.int32),
        sender=np.zeros(places, np.int32),
        m_id=np.zeros(places, np.int64),
        got=np.zeros((nodes, places // 64), np.uint64),
        past=np.zeros((places, places // 64), np.uint64),
        left=np.zeros(places, np.int32),
        counts=np.zeros(COUNTS, np.int64),
        seed=np.array([seed], np.int64),
    )


def more_slots(s: State, slots: Slots) -> State:
    """Room for one more message in flight."""
    if not slots.reserve(1):
        return s._replace(ring=slots.ring)
    extra = slots.capacity - len(s.left)
    wide = ((0, 0), (0, extra // 64))
    s = s._replace(got=np.pad(s.got, wide), past=np.pad(s.past, wide))
    per_slot = ("need", "length", "m_incarnation", "m_s_incr", "sender", "m_id", "past", "left")
    longer = {k: np.concatenate([a := getattr(s, k), np.zeros((extra, *a.shape[1:]), a.dtype)]) for k in per_slot}
    return s._replace(ring=slots.ring, free=slots.free, **longer)


def more_waiting(s: State) -> State:
    """Twice the room for messages that wait."""
    return s._replace(waiting=np.concatenate([s.waiting, np.zeros_like(s.waiting)], axis=1))
