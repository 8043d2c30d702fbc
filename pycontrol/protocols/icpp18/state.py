"""The state of all nodes of icpp18, as arrays.

Message number q of node s has the slot q * nodes + s. Bitsets are over slots.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

from causeway.pycontrol.state_arrays import I32, I64, U8, U64, Axis, Record, Rows, fields

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
    """The time that a sender's CPU needs for a packet, for the statistics of waiting times."""


class Load(NamedTuple):
    """The messages of one packet."""

    first: int  # place in `bundles`
    messages: int
    size_bytes: int


class Icpp18State(NamedTuple):
    """The arrays that the kernel reads and writes."""

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
    blocker: Annotated[I32, NODE, MESSAGE]  # first word of `depends` with a missing message, for each pending slot
    waiting: Annotated[I32, NODE]  # number of pending slots
    max_waiting: Annotated[I32, NODE]
    max_aggregated: Annotated[I32, NODE]
    slow_ps: Annotated[I64, NODE]  # the additional time before it sends, besides the reaction time
    cpu_free_ps: Annotated[I64, NODE]  # time at which its CPU has sent all its packets
    content: Annotated[I32, PACKET]  # slot, or -1 - offset into `bundles`
    bundles: Annotated[I32, BUNDLED]  # slots, with -1 after the last one of a packet
    by_messages: Annotated[I64, MESSAGES_CLASS]  # packets, by number of messages
    by_size: Annotated[I64, SIZE_CLASS]  # packets, by hundreds of bytes
    kept: Annotated[Rows, fields(company="i8", came_ps="i8", delivered_ps="i8"), KEEPER, MESSAGE]
    """The number of messages in the packet of each copy, and the times of the copy. There are no rows unless
    `keep_times` is set."""
    next: Annotated[Record, fields(packet="i8", message="i8", bundled="i8")]  # the next free ids and place
    counts: Annotated[Record, fields(
        packets="i8", messages="i8", carried="i8", received="i8", reception_ps="i8", delivered="i8", delivery_ps="i8",
        aggregated="i8", postponed="i8", bytes="i8", duplicates="i8", largest="i8", max_reception_ps="i8",
        max_delivery_ps="i8", full="i8", held="i8", queue_ps="i8",
    )]  # fmt: skip
