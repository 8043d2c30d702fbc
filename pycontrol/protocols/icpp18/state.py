"""All nodes of icpp18 as arrays.

A message is a slot: message number q of node s is slot q * nodes + s. Bitsets are over slots.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

from causeway.pycontrol.arrays import I32, I64, U8, U64, Axis, Record, Rows, fields

NODE, MESSAGE, PACKET, BUNDLED = Axis("node"), Axis("message"), Axis("packet"), Axis("bundled")
KEEPER, MESSAGES_CLASS, SIZE_CLASS = Axis("keeper"), Axis("by_messages"), Axis("by_size")


class Config(NamedTuple):
    """The parameters of a run."""

    nodes: int
    reaction_ps: int
    aggregate: bool
    single_tree: bool
    message_bytes: int
    header_bytes: int
    entry_bytes: int
    mtu_bytes: int
    send_ps: int
    """How long a sender's CPU takes for a packet: what waits for it is counted."""


class Load(NamedTuple):
    """Messages that travel in one packet."""

    first: int  # place in `bundles`
    messages: int
    size_bytes: int


class State(NamedTuple):
    """Everything the kernel reads and writes."""

    depends: Annotated[U64, MESSAGE, MESSAGE.words]
    size: Annotated[I32, MESSAGE]  # bytes in a packet
    entries: Annotated[I32, MESSAGE]  # entries of the compressed vector clock
    id_of: Annotated[I64, MESSAGE]
    born_ps: Annotated[I64, MESSAGE]
    sent: Annotated[I32, NODE]  # messages it has broadcast
    received: Annotated[U64, NODE, MESSAGE.words]
    known: Annotated[U64, NODE, MESSAGE.words]  # vector_max
    vector_max: Annotated[I32, NODE, NODE]
    delivered: Annotated[U64, NODE, MESSAGE.words]  # vector_clock
    changed: Annotated[U8, NODE, NODE]  # clock entries that changed since its last broadcast
    changes: Annotated[I32, NODE]
    pending: Annotated[I32, NODE, MESSAGE]  # slots received and not delivered, in order of arrival
    blocker: Annotated[I32, NODE, MESSAGE]  # word of `depends` that still lacked something
    waiting: Annotated[I32, NODE]  # length of its row of `pending`
    max_waiting: Annotated[I32, NODE]
    max_aggregated: Annotated[I32, NODE]
    cpu_free_ps: Annotated[I64, NODE]  # when it has sent all that it was asked to send
    content: Annotated[I32, PACKET]  # slot, or -1 - offset into `bundles`
    bundles: Annotated[I32, BUNDLED]  # slots, -1 behind the last one of a packet
    by_messages: Annotated[I64, MESSAGES_CLASS]  # packets, by number of messages
    by_size: Annotated[I64, SIZE_CLASS]  # packets, by hundreds of bytes
    kept: Annotated[Rows, fields(company="i8", came_ps="i8", delivered_ps="i8"), KEEPER, MESSAGE]
    """Of a copy of a message: how many the packet had that brought it, and when; no rows if nobody asks."""
    next: Annotated[Record, fields(packet="i8", message="i8", bundled="i8")]  # free number or place
    counts: Annotated[Record, fields(
        packets="i8", messages="i8", carried="i8", received="i8", reception_ps="i8", delivered="i8", delivery_ps="i8",
        aggregated="i8", postponed="i8", bytes="i8", duplicates="i8", largest="i8", max_reception_ps="i8",
        max_delivery_ps="i8", full="i8", held="i8", queue_ps="i8",
    )]  # fmt: skip
