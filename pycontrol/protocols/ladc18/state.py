"""All processes of ladc18 and their failure detectors as arrays, and what a stretch of events gives.

Things that come and go (acks awaited, bundles, what is in them) are rows of a pool, chained in the order in which the
process that owns them looks at them. Nothing checks for room on the way: before each event there is room for the most
that it can add (`kernel.handle`), and `enlarged` makes more.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causeway.pycontrol.arrays import I32, I64, U8, Axis, allocate, fill, grown, with_room

NONE = -1
NEVER = 2**62

(
    PACKETS, CARRIED, TIMERS, MESSAGES, TESTS, OWN_PACKETS, TREE_MESSAGES, ACK_MESSAGES, UNFINISHED, LAST_ARRIVAL,
    ACKS, FREE_ACKS, BUNDLES, FREE_BUNDLES, ITEMS, FREE_ITEMS, NEED,
) = range(17)  # fmt: skip
"""Places in `counts`. FREE_*: the first row of that pool that is free again, 0 if none. NEED: rows that the next event
may add to anything."""
COUNTS = 17

A_M, A_PARENT, A_CHILD, A_PREVIOUS, A_NEXT = range(5)
B_K, B_BYTES, B_DUE, B_TIMER, B_COUNT, B_FIRST, B_LAST, B_NEXT = range(8)
I_ITEM, I_NEXT = range(2)

ROWS = 1 << 16
"""Of everything to begin with: enough for the first round of tests among 4,096 processes."""


class Config(NamedTuple):
    """The parameters of a run."""

    processes: int
    height: int
    reaction_ps: int
    max_delay_ps: int
    max_payload: int
    tree_size: int
    ack_size: int
    interval_ps: int
    timeout_ps: int
    test_until_ps: int


PROCESS, MESSAGE, PACKET, CARRY = Axis("process"), Axis("message"), Axis("packet"), Axis("carry")
ACK, BUNDLE, ITEM, COUNT = Axis("ack"), Axis("bundle"), Axis("item"), Axis("count")
ACK_FIELD, BUNDLE_FIELD, ITEM_FIELD = Axis("ack_field"), Axis("bundle_field"), Axis("item_field")


class State(NamedTuple):
    """All processes."""

    correct: Annotated[U8, PROCESS, PROCESS, fill(1)]  # what the first and its detector think of the second
    delivered: Annotated[U8, PROCESS, MESSAGE]
    first_ack: Annotated[I32, PROCESS, MESSAGE, fill(NONE)]  # where its pending acks begin, in `ack`
    first: Annotated[I64, PROCESS, fill(NONE)]  # its first pending ack
    last_ack: Annotated[I64, PROCESS, fill(NONE)]
    owed: Annotated[I64, PROCESS]  # how many are pending
    first_bundle: Annotated[I64, PROCESS, fill(NONE)]  # the bundle that is due next
    source: Annotated[I32, MESSAGE]  # m.src
    parents: Annotated[I32, PROCESS]  # scratch
    sender: Annotated[I32, PACKET]
    end: Annotated[I32, PACKET._replace(more=1)]  # where its content ends, in `carried`
    carried: Annotated[I32, CARRY]  # items; of a test TEST, of a reply how many crashes its sender has learnt of
    ack: Annotated[I32, ACK, ACK_FIELD]  # pool: elements of ack_set; those for one message are neighbors
    bundle: Annotated[I64, BUNDLE, BUNDLE_FIELD]  # pool: delay_msg
    item: Annotated[I32, ITEM, ITEM_FIELD]  # pool: what is in delay_msg
    tested: Annotated[U8, PROCESS, PROCESS]  # by place: tested in this round, and whether it has replied
    awaited: Annotated[I64, PROCESS]  # the place whose reply is waited for
    timer: Annotated[I64, PROCESS, fill(NONE)]  # its detector's timer
    limit_ps: Annotated[I64, PROCESS, fill(NEVER)]  # when the time limit of the reply waited for is up
    learned: Annotated[I32, PROCESS, PROCESS]  # crashed ones in the order in which it learnt of them
    known: Annotated[I64, PROCESS]  # how many those are
    counts: Annotated[I64, COUNT]


class Out(NamedTuple):
    """What a stretch of events gave: actions, what to tell the observers, what process 0 sent."""

    kind: NDArray[np.uint8]
    time_ps: NDArray[np.int64]
    node: NDArray[np.int32]
    ref: NDArray[np.int64]
    peer: NDArray[np.int32]
    size_bytes: NDArray[np.int32]
    op: NDArray[np.uint8]
    op_time: NDArray[np.int64]
    op_node: NDArray[np.int32]
    op_message: NDArray[np.int64]
    sample_time: NDArray[np.int64]
    sample_items: NDArray[np.int32]
    sample_bytes: NDArray[np.int32]
    rows: NDArray[np.int64]  # actions, observations, samples


def make_state(n: int) -> State:
    """At time 0, with room for a message of each process."""
    s = allocate(
        State, process=n, message=n, packet=ROWS, carry=ROWS, ack=ROWS, bundle=ROWS, item=ROWS, count=COUNTS,
        ack_field=5, bundle_field=8, item_field=2,
    )  # fmt: skip
    s.counts[[ACKS, BUNDLES, ITEMS]] = 1  # row 0 of a pool stands for none
    return s


def make_out(rows: int) -> Out:
    """Room for so many of each."""
    types = (
        np.uint8, np.int64, np.int32, np.int64, np.int32, np.int32, np.uint8, np.int64, np.int32, np.int64, np.int64,
        np.int32, np.int32,
    )  # fmt: skip
    columns: list[Any] = [*(np.empty(rows, type_) for type_ in types), np.zeros(3, np.int64)]
    return Out(*columns)


def enlarged(s: State) -> State:
    """The state with room for NEED rows more of everything and for another message."""
    count = s.counts
    need = int(count[NEED])
    items = int(count[ITEMS]) + need
    s = with_room(
        s, packet=int(count[PACKETS]) + need, item=items, carry=int(count[CARRIED]) + items,
        ack=int(count[ACKS]) + need, bundle=int(count[BUNDLES]) + need,
    )  # fmt: skip
    return grown(s, message=2 * len(s.source)) if count[MESSAGES] == len(s.source) else s
