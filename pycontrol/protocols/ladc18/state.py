"""The state of all processes of ladc18 and their failure detectors, as arrays.

Pending acks, bundles and their items are rows of pools, linked in the order in which their process handles them. Before
each event, `kernel.handle` checks that there is room for the maximum that the event can add; `enlarged` makes more
room.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

from causeway.pycontrol.state_arrays import I32, I64, U8, Axis, Record, Rows, allocate, fields, fill, grown, with_room

NONE = -1
NEVER = 2**62

ROWS_PER_PROCESS = 256
MOST_ROWS = 1 << 16
"""The maximum number of rows at the start, which suffices for the first round of tests among 4,096 processes."""


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
ACK, BUNDLE, ITEM, SAMPLE = Axis("ack"), Axis("bundle"), Axis("item"), Axis("sample")
USE = fields(used="i8", free="i8")
"""The number of rows of a pool that have been used, and the first free row among them. Free rows are linked by `next`;
0: none."""


class Acks(NamedTuple):
    """The pool of elements of ack_set. Those for one message are adjacent in the list."""

    rows: Annotated[Rows, fields(m="i4", parent="i4", child="i4", previous="i4", next="i4"), ACK]
    use: Annotated[Record, USE]


class Bundles(NamedTuple):
    """The pool of bundles (delay_msg)."""

    rows: Annotated[Rows, fields(
        k="i4", size_bytes="i4", due_ps="i8", timer="i8", count="i4", first="i4", last="i4", next="i4",
    ), BUNDLE]  # fmt: skip
    use: Annotated[Record, USE]


class Items(NamedTuple):
    """The pool of items in bundles."""

    rows: Annotated[Rows, fields(item="i4", next="i4"), ITEM]
    use: Annotated[Record, USE]


class Ladc18State(NamedTuple):
    """The arrays that the kernels read and write."""

    # 1 if the first process and its detector consider the second one correct
    correct: Annotated[U8, PROCESS, PROCESS, fill(1)]
    delivered: Annotated[U8, PROCESS, MESSAGE]
    first_ack: Annotated[I32, PROCESS, MESSAGE, fill(NONE)]  # its first pending ack of the message, a row of `acks`
    first: Annotated[I64, PROCESS, fill(NONE)]  # its first pending ack
    last_ack: Annotated[I64, PROCESS, fill(NONE)]
    owed: Annotated[I64, PROCESS]  # number of its pending acks
    first_bundle: Annotated[I64, PROCESS, fill(NONE)]  # the bundle that is due next
    source: Annotated[I32, MESSAGE]  # m.src
    parents: Annotated[I32, PROCESS]  # scratch
    sender: Annotated[I32, PACKET]
    end: Annotated[I32, PACKET._replace(more=1)]  # end of the previous packet's content in `carried`
    carried: Annotated[I32, CARRY]  # items; for a test TEST, for a reply the number of crashes known to its sender
    acks: Acks
    bundles: Bundles
    items: Items
    samples: Annotated[Rows, fields(time_ps="i8", items="i4", size_bytes="i4"), SAMPLE]  # last packets of process 0
    tested: Annotated[U8, PROCESS, PROCESS]  # by place: NOT_TESTED, TESTED or REPLIED in this round
    awaited: Annotated[I64, PROCESS]  # the place of the process whose reply is awaited
    timer: Annotated[I64, PROCESS, fill(NONE)]  # its detector's timer
    limit_ps: Annotated[I64, PROCESS, fill(NEVER)]  # the time limit of the awaited reply
    learned: Annotated[I32, PROCESS, PROCESS]  # crashed processes in the order in which it learned of them
    known: Annotated[I64, PROCESS]  # their number
    counts: Annotated[Record, fields(
        sent="i8", carried="i8", timers="i8", messages="i8", samples="i8", need="i8", tests="i8", packets="i8",
        tree_messages="i8", ack_messages="i8", unfinished="i8", last_arrival_ps="i8",
        learned_ps="i8",
    )]  # fmt: skip
    """`sent`: packets of processes and detectors; `packets`: packets of processes. `need`: the maximum number of rows
    that the event without room may add to an array."""


def rows_at_first(n: int) -> int:
    """Return the number of rows of a pool at the start."""
    return min(MOST_ROWS, ROWS_PER_PROCESS * n)


def make_state(n: int) -> Ladc18State:
    """Return the state at time 0, with room for a message of each process."""
    rows = rows_at_first(n)
    s = allocate(
        Ladc18State, process=n, message=n, packet=rows, carry=rows, ack=rows, bundle=rows, item=rows, sample=rows
    )  # fmt: skip
    for pool in (s.acks, s.bundles, s.items):
        pool.use["used"] = 1  # row 0 of a pool is reserved for "none"
    return s


def enlarged(s: Ladc18State) -> Ladc18State:
    """Return the state with room for `need` more rows of all arrays, and for another message."""
    packet, carried, _, messages, _, need, *_ = s.counts.item()
    items = int(s.items.use["used"][0]) + need
    s = with_room(
        s, packet=packet + need, item=items, carry=carried + items, sample=need,
        ack=int(s.acks.use["used"][0]) + need, bundle=int(s.bundles.use["used"][0]) + need,
    )  # fmt: skip
    return grown(s, message=2 * len(s.source)) if messages == len(s.source) else s
