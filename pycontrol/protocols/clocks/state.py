"""All processes of a run with logical clocks, as arrays."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from causeway.pycontrol.slots import SLOT, Slots
from causeway.pycontrol.state_arrays import COUNTING, I32, I64, Axis, Record, fields, fill

NODE, ENTRY, OWN, ITEM = Axis("node"), Axis("entry"), Axis("own"), Axis("item")
END = -1


class Lines(NamedTuple):
    """The queues of waiting messages: linked lists in order of arrival. The clock was behind in `entry`."""

    first: Annotated[I32, NODE, fill(END)]
    last: Annotated[I32, NODE, fill(END)]
    following: Annotated[I32, ITEM]
    slot: Annotated[I32, ITEM]
    entry: Annotated[I32, ITEM]
    spare: Annotated[I32, ITEM, COUNTING]  # free items, from `counts.waiting` on
    counts: Annotated[Record, fields(waiting="i8", waited="i8")]
    """The number of items that wait now, and the number of all items that have waited."""


class ClockState(NamedTuple):
    """The arrays that the kernel reads and writes. A message in flight has a slot."""

    slots: Slots
    lines: Lines
    clock: Annotated[I32, NODE, ENTRY]
    f: Annotated[I32, NODE, OWN]
    need: Annotated[I32, SLOT, ENTRY]  # the sender's clock before it counted the message
    sender: Annotated[I32, SLOT]
    id_of: Annotated[I64, SLOT]
    copies: Annotated[I32, SLOT]  # number of processes that have not delivered it yet


class Config(NamedTuple):
    """The constants of a run."""

    reaction_ps: int
    overhead_bytes: int
    """The bytes of a packet in addition to its payload."""
    detect: bool
