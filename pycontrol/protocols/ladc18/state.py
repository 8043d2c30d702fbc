"""All processes of ladc18 and their failure detectors as arrays.

Things that come and go (acks awaited, bundles, what is in them) are rows of a pool, chained in the order in which the
process that owns them looks at them. Nothing checks for room on the way: before each event there is room for the most
that it can add (`kernel.handle`), and `enlarged` makes more.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

from causeway.pycontrol.arrays import I32, I64, U8, Axis, Record, Rows, allocate, fields, fill, grown, with_room

NONE = -1
NEVER = 2**62

ROWS_PER_PROCESS = 256
MOST_ROWS = 1 << 16
"""To begin with: enough for the first round of tests among 4,096 processes."""


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
"""Of a pool: how many rows have been in use, and the first of those that are free again, chained by `next`; 0: none."""


class Acks(NamedTuple):
    """Pool: elements of ack_set. Those for one message are neighbors."""

    rows: Annotated[Rows, fields(m="i4", parent="i4", child="i4", previous="i4", next="i4"), ACK]
    use: Annotated[Record, USE]


class Bundles(NamedTuple):
    """Pool: delay_msg."""

    rows: Annotated[Rows, fields(
        k="i4", size_bytes="i4", due_ps="i8", timer="i8", count="i4", first="i4", last="i4", next="i4",
    ), BUNDLE]  # fmt: skip
    use: Annotated[Record, USE]


class Items(NamedTuple):
    """Pool: what is in delay_msg."""

    rows: Annotated[Rows, fields(item="i4", next="i4"), ITEM]
    use: Annotated[Record, USE]


class State(NamedTuple):
    """All processes."""

    correct: Annotated[U8, PROCESS, PROCESS, fill(1)]  # what the first and its detector think of the second
    delivered: Annotated[U8, PROCESS, MESSAGE]
    first_ack: Annotated[I32, PROCESS, MESSAGE, fill(NONE)]  # where its pending acks begin, in `acks`
    first: Annotated[I64, PROCESS, fill(NONE)]  # its first pending ack
    last_ack: Annotated[I64, PROCESS, fill(NONE)]
    owed: Annotated[I64, PROCESS]  # how many are pending
    first_bundle: Annotated[I64, PROCESS, fill(NONE)]  # the bundle that is due next
    source: Annotated[I32, MESSAGE]  # m.src
    parents: Annotated[I32, PROCESS]  # scratch
    sender: Annotated[I32, PACKET]
    end: Annotated[I32, PACKET._replace(more=1)]  # where its content ends, in `carried`
    carried: Annotated[I32, CARRY]  # items; of a test TEST, of a reply how many crashes its sender has learnt of
    acks: Acks
    bundles: Bundles
    items: Items
    samples: Annotated[Rows, fields(time_ps="i8", items="i4", size_bytes="i4"), SAMPLE]  # what process 0 has just sent
    tested: Annotated[U8, PROCESS, PROCESS]  # by place: tested in this round, and whether it has replied
    awaited: Annotated[I64, PROCESS]  # the place whose reply is waited for
    timer: Annotated[I64, PROCESS, fill(NONE)]  # its detector's timer
    limit_ps: Annotated[I64, PROCESS, fill(NEVER)]  # when the time limit of the reply waited for is up
    learned: Annotated[I32, PROCESS, PROCESS]  # crashed ones in the order in which it learnt of them
    known: Annotated[I64, PROCESS]  # how many those are
    counts: Annotated[Record, fields(
        sent="i8", carried="i8", timers="i8", messages="i8", samples="i8", need="i8", tests="i8", packets="i8",
        tree_messages="i8", ack_messages="i8", unfinished="i8", last_arrival_ps="i8",
    )]  # fmt: skip
    """`sent`: packets of processes and detectors; `packets`: those of processes. `need`: how many rows the event that
    found no room may add to anything."""


def rows_at_first(n: int) -> int:
    """Of everything that comes and goes."""
    return min(MOST_ROWS, ROWS_PER_PROCESS * n)


def make_state(n: int) -> State:
    """At time 0, with room for a message of each process."""
    rows = rows_at_first(n)
    s = allocate(
        State, process=n, message=n, packet=rows, carry=rows, ack=rows, bundle=rows, item=rows, sample=rows
    )  # fmt: skip
    for pool in (s.acks, s.bundles, s.items):
        pool.use["used"] = 1  # row 0 of a pool stands for none
    return s


def enlarged(s: State) -> State:
    """The state with room for `need` rows more of everything and for another message."""
    packet, carried, _, messages, _, need, *_ = s.counts.item()
    items = int(s.items.use["used"][0]) + need
    s = with_room(
        s, packet=packet + need, item=items, carry=carried + items, sample=need,
        ack=int(s.acks.use["used"][0]) + need, bundle=int(s.bundles.use["used"][0]) + need,
    )  # fmt: skip
    return grown(s, message=2 * len(s.source)) if messages == len(s.source) else s
