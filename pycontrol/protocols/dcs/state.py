"""The state of all processes' Dynamic Clock Sets, as arrays that the kernels read and write.

A process p keeps `total[p]` components of M entries; the first `active[p]` of them are active, and the others are
inactive but still counted. Entry x of component c counts the messages that increment it and that p has broadcast or
delivered since component c was last removed. `incarnation[p, c]` counts the removals of component c.

A message in flight has a slot. It carries its sender's active components as they were BEFORE the broadcast incremented
them (`need`), and a receiver may deliver it once its own entries are at least that. This is the paper's delivery
condition, `D_m[x] - 1 <= D_i[x]` where the message incremented x and `D_m[x] <= D_i[x]` elsewhere, as one comparison.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causeway.network.random import STREAM_PROTOCOL
from causeway.pycontrol.slots import SLOT, Slots, new_slots
from causeway.pycontrol.state_arrays import I32, I64, U64, Axis, Record, allocate, fields, fill

STREAM_ASSIGN = STREAM_PROTOCOL + 1
STREAM_POLICY = STREAM_PROTOCOL + 2
"""Random streams: for the components in S_incr, and for policies."""

ABSENT = -1
"""The mark of an unused place in S_incr."""

NODE, COMPONENT, ENTRY, OWN = Axis("node"), Axis("component"), Axis("entry"), Axis("own")
INCREMENTED, WAIT = Axis("incremented"), Axis("wait")


class DcsState(NamedTuple):
    """Processes by row, messages in flight by slot."""

    slots: Slots
    # Processes
    clock: Annotated[I32, NODE, ENTRY]  # entries of all components, one after the other
    active: Annotated[I32, NODE]
    total: Annotated[I32, NODE]
    incarnation: Annotated[I32, NODE, COMPONENT]
    s_incr: Annotated[I32, NODE, INCREMENTED]  # components that the process increments, ascending, then ABSENT
    limit: Annotated[I32, NODE]  # s_incr was chosen among the components below this number
    f: Annotated[I32, NODE, OWN]  # entries that the process increments in each of them
    draws: Annotated[I64, NODE]  # number of times that s_incr was chosen
    heard: Annotated[I64, NODE]  # messages broadcast and delivered
    waiting: Annotated[I32, NODE, WAIT]  # messages received and not delivered yet, in order of reception
    waits: Annotated[I32, NODE]  # number of messages in `waiting`
    # the last message that the process broadcast with this component
    last_with: Annotated[I64, NODE, COMPONENT, fill(-1)]
    # Messages in flight
    need: Annotated[I32, SLOT, ENTRY]
    length: Annotated[I32, SLOT]  # active components of the sender
    m_incarnation: Annotated[I32, SLOT, COMPONENT]
    m_s_incr: Annotated[I32, SLOT, INCREMENTED]
    sender: Annotated[I32, SLOT]
    m_id: Annotated[I64, SLOT]
    got: Annotated[U64, NODE, SLOT.words]  # bit s: the process has delivered the message in slot s
    past: Annotated[U64, SLOT, SLOT.words]  # messages in flight that the sender had delivered
    left: Annotated[I32, SLOT]  # number of processes that have not delivered it yet
    # The run
    counts: Annotated[Record, fields(
        delivered="i8", waited="i8", expanded_by_message="i8", assigned="i8", sent_entries="i8", control_arrived="i8",
        removed="i8",
    )]  # fmt: skip
    constant: Annotated[Record, fields(seed="i8", by_id="i8")]
    taken: Annotated[I64, INCREMENTED._replace(more=1)]  # scratch space of `assign`

    @property
    def capacity(self) -> int:
        """C: the number of components that a clock can have."""
        return self.incarnation.shape[1]

    @property
    def size(self) -> int:
        """M: the number of entries of a component."""
        return self.clock.shape[1] // self.capacity

    def has(self, nodes: I32, slots: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which of these processes have delivered which of the messages in these slots: [nodes, slots]."""
        bits = self.got[np.asarray(nodes)[:, None], (slots >> 6)[None, :]] >> (slots & 63).astype(np.uint64)
        return (bits & np.uint64(1)).astype(np.bool_)

    def component(self, nodes: I32, k: int) -> I32:
        """Return the entries of component k at some processes."""
        return self.clock[nodes, k * self.size : (k + 1) * self.size]


def first_components(nodes: int, components: int, assigned: int) -> I32:
    """Return S_incr at the start: equal shares, the first processes in component 0."""
    s_incr = np.full((nodes, assigned), ABSENT, np.int32)
    own = np.arange(nodes) * components // nodes
    for i in range(min(assigned, components)):
        s_incr[:, i] = (own + i) % components
    s_incr[:, : min(assigned, components)].sort(axis=1)
    return s_incr


def initial_state(
    f: I32, size: int, capacity: int, components: int, assigned: int, seed: int, by_id: bool = False
) -> DcsState:
    """Return the state in which each process has `components` active components of zeros."""
    nodes, places = len(f), 256
    s = allocate(
        DcsState, {"slots": new_slots(places), "f": f, "s_incr": first_components(nodes, components, assigned)},
        node=nodes, component=capacity, entry=capacity * size, incremented=assigned, wait=8, slot=places,
    )  # fmt: skip
    s.active[:] = s.total[:] = s.limit[:] = components
    s.constant["seed"], s.constant["by_id"] = seed, by_id
    return s
