"""All processes of a run with logical clocks, as arrays."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from causeway.pycontrol.arrays import COUNTING, I32, I64, Axis, Record, fields, fill
from causeway.pycontrol.slots import SLOT, Slots

NODE, ENTRY, OWN, ITEM = Axis("node"), Axis("entry"), Axis("own"), Axis("item")
END = -1


class Lines(NamedTuple):
    """What waits at each process, in order of arrival. An item remembers one entry that lacked."""

    first: Annotated[I32, NODE, fill(END)]
    last: Annotated[I32, NODE, fill(END)]
    following: Annotated[I32, ITEM]
    slot: Annotated[I32, ITEM]
    entry: Annotated[I32, ITEM]
    spare: Annotated[I32, ITEM, COUNTING]  # items that are free, from `counts.waiting` on
    counts: Annotated[Record, fields(waiting="i8", waited="i8")]
    """Items that wait now, and those that ever did."""


class State(NamedTuple):
    """Everything the kernel reads and writes. A message in flight lives in a slot."""

    slots: Slots
    lines: Lines
    clock: Annotated[I32, NODE, ENTRY]
    f: Annotated[I32, NODE, OWN]
    need: Annotated[I32, SLOT, ENTRY]  # the sender's clock before it counted the message
    sender: Annotated[I32, SLOT]
    id_of: Annotated[I64, SLOT]
    copies: Annotated[I32, SLOT]  # how many processes have not delivered it yet


class Config(NamedTuple):
    """What does not change in a run."""

    reaction_ps: int
    overhead_bytes: int
    """Of a packet, besides its payload."""
    detect: bool
