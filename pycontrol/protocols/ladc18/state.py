"""All processes of ladc18 and their failure detectors as arrays, and what a stretch of events gives.

Things that come and go (acks awaited, bundles, what is in them) are rows of a pool, chained in the order in which the
process that owns them looks at them. Nothing checks for room on the way: before each event there is room for the most
that it can add (`kernel.handle`), and `grown` makes more.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

compiled: Any = numba.njit(cache=True, _nrt=False)  # type: ignore[call-overload]
"""For functions that neither make nor keep arrays: without numba's reference counts, of which passing a tuple of arrays
on costs one for each array, a run takes a third of the time."""

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


class State(NamedTuple):
    """All processes. Rows are processes unless it says otherwise."""

    correct: NDArray[np.uint8]  # process, process: what the first and its detector think of the second
    delivered: NDArray[np.uint8]  # process, message
    first_ack: NDArray[np.int32]  # process, message: where its pending acks begin, in `ack`
    first: NDArray[np.int64]  # its first pending ack
    last_ack: NDArray[np.int64]
    owed: NDArray[np.int64]  # how many are pending
    first_bundle: NDArray[np.int64]  # the bundle that is due next
    source: NDArray[np.int32]  # message: m.src
    parents: NDArray[np.int32]  # scratch
    sender: NDArray[np.int32]  # packet
    end: NDArray[np.int32]  # packet + 1: where its content ends, in `carried`
    carried: NDArray[np.int32]  # items; of a test TEST, of a reply how many crashes its sender has learnt of
    ack: NDArray[np.int32]  # pool: elements of ack_set; those for one message are neighbors
    bundle: NDArray[np.int64]  # pool: delay_msg
    item: NDArray[np.int32]  # pool: what is in delay_msg
    tested: NDArray[np.uint8]  # process, place of the other one: tested in this round, and whether it has replied
    awaited: NDArray[np.int64]  # the place whose reply is waited for
    timer: NDArray[np.int64]  # its detector's timer
    limit_ps: NDArray[np.int64]  # when the time limit of the reply waited for is up
    learned: NDArray[np.int32]  # process, process: crashed ones in the order in which it learnt of them
    known: NDArray[np.int64]  # how many those are
    counts: NDArray[np.int64]


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
    counts = np.zeros(COUNTS, np.int64)
    counts[[ACKS, BUNDLES, ITEMS]] = 1  # row 0 of a pool stands for none
    return State(
        correct=np.ones((n, n), np.uint8), delivered=np.zeros((n, n), np.uint8),
        first_ack=np.full((n, n), NONE, np.int32), first=np.full(n, NONE), last_ack=np.full(n, NONE),
        owed=np.zeros(n, np.int64), first_bundle=np.full(n, NONE), source=np.zeros(n, np.int32),
        parents=np.zeros(n, np.int32), sender=np.zeros(ROWS, np.int32), end=np.zeros(ROWS + 1, np.int32),
        carried=np.zeros(ROWS, np.int32), ack=np.zeros((ROWS, 5), np.int32), bundle=np.zeros((ROWS, 8), np.int64),
        item=np.zeros((ROWS, 2), np.int32), tested=np.zeros((n, n), np.uint8), awaited=np.zeros(n, np.int64),
        timer=np.full(n, NONE), limit_ps=np.full(n, NEVER), learned=np.zeros((n, n), np.int32),
        known=np.zeros(n, np.int64), counts=counts,
    )  # fmt: skip


def make_out(rows: int) -> Out:
    """Room for so many of each."""
    types = (
        np.uint8, np.int64, np.int32, np.int64, np.int32, np.int32, np.uint8, np.int64, np.int32, np.int64, np.int64,
        np.int32, np.int32,
    )  # fmt: skip
    columns: list[Any] = [*(np.empty(rows, type_) for type_ in types), np.zeros(3, np.int64)]
    return Out(*columns)


def grown(s: State) -> State:
    """The state with room for NEED rows more of everything and for another message."""
    count = s.counts
    need = int(count[NEED])
    packets, items = int(count[PACKETS]) + need, int(count[ITEMS]) + need
    s = s._replace(
        sender=_with_room(s.sender, packets), end=_with_room(s.end, packets + 1), item=_with_room(s.item, items),
        carried=_with_room(s.carried, int(count[CARRIED]) + items), ack=_with_room(s.ack, int(count[ACKS]) + need),
        bundle=_with_room(s.bundle, int(count[BUNDLES]) + need),
    )  # fmt: skip
    if count[MESSAGES] == len(s.source):
        s = s._replace(
            source=np.concatenate([s.source, np.zeros_like(s.source)]),
            delivered=np.hstack([s.delivered, np.zeros_like(s.delivered)]),
            first_ack=np.hstack([s.first_ack, np.full_like(s.first_ack, NONE)]),
        )
    return s


def _with_room(array: NDArray[Any], rows: int) -> NDArray[Any]:
    """The array, at least twice as long if it has fewer rows."""
    if rows <= len(array):
        return array
    more = np.zeros((max(rows, 2 * len(array)) - len(array), *array.shape[1:]), array.dtype)
    return np.concatenate([array, more])
