"""All processes of a run with the hash error detector, as arrays."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causeway.pycontrol.arrays import I32, I64, U8, U64, Axis, Record, fields
from causeway.pycontrol.protocols.clocks.state import ENTRY, NODE, OWN, Lines
from causeway.pycontrol.slots import SLOT, Slots

RECENT, CANDIDATE = Axis("recent"), Axis("recent", more=1)
NEAR, MATE, SET = Axis("near"), Axis("mate"), Axis("set")
APP, REQ, RSP = 0, 1, 2
"""Kinds of packets."""


class Choices(NamedTuple):
    """What the paper leaves open, and what the authors' program does about it (docs/papers/hash.md)."""

    near: int = 0
    """Counts between two clocks below which messages are near (near.py); 0: the search goes by counts instead."""
    one_request: bool = False
    """Whether a process has at most one request on its way."""
    quiet: bool = False
    """Whether a process that waits for an answer skips its broadcasts; with one request at a time."""
    hash_bits: int = 64


class Packets(NamedTuple):
    """Packets in flight, in slots of their own: which message, which kind, from whom, how many copies are to come."""

    slots: Slots
    kind: Annotated[U8, SLOT]
    message: Annotated[I64, SLOT]
    sender: Annotated[I32, SLOT]
    copies: Annotated[I32, SLOT]


class Search(NamedTuple):
    """What the search for dependencies works on."""

    clock: Annotated[I32, NODE, ENTRY]
    f: Annotated[I32, NODE, OWN]
    need: Annotated[I32, SLOT, ENTRY]  # the sender's clock before it counted the message
    senders: Annotated[I32, NODE, RECENT]  # a ring of each process's last deliveries: whose
    messages: Annotated[I64, NODE, RECENT]  # and which
    delivered: Annotated[I64, NODE]  # how many it made
    wanted: Annotated[I32, ENTRY]  # room: how often an entry must still be counted
    cover: Annotated[I32, ENTRY]  # room: how often the candidates to come can count it
    entries: Annotated[I32, CANDIDATE, OWN]  # room
    hashes: Annotated[U64, CANDIDATE]  # room
    chosen: Annotated[NDArray[np.bool_], CANDIDATE]  # room


class Near(NamedTuple):
    """What the search among near messages works on: the newest messages, by their id modulo the size of the ring.

    Whether one message can be a dependency of another is the same for every receiver, so it is found once.
    """

    clock: Annotated[I32, NEAR, ENTRY]  # as the message carries it
    lacks: Annotated[U64, NODE, NEAR.words]  # which of them a process has not delivered
    mates: Annotated[I64, NEAR, MATE]  # ids of what may be a dependency of the message, the nearest first
    distance: Annotated[I32, NEAR, MATE]  # counts between their clocks
    found: Annotated[I32, NEAR]  # how many
    left_out: Annotated[U64, SET]  # room: the hash of what a set leaves out
    hashes: Annotated[U64, MATE]  # room: of the candidates


class State(NamedTuple):
    """Everything else that the kernel reads and writes. Bitsets are over the messages in flight."""

    slots: Slots
    lines: Lines
    search: Search
    near: Near
    hash_now: Annotated[U64, NODE]  # of all that a process has delivered
    lacks: Annotated[U64, NODE, SLOT.words]
    dep_now: Annotated[U64, NODE, SLOT.words]
    dep_count_now: Annotated[I32, NODE]
    sender: Annotated[I32, SLOT]
    id_of: Annotated[I64, SLOT]
    copies: Annotated[I32, SLOT]
    hash_at: Annotated[U64, SLOT]  # what the message carries: `hash_now` of its sender, or the hash of near messages
    dep: Annotated[U64, SLOT, SLOT.words]
    dep_count: Annotated[I32, SLOT]
    asking: Annotated[U8, NODE]  # whether a process waits for an answer
    dead: Annotated[I32, SLOT]  # slots of the messages that everybody has
    keep: Annotated[U64, SLOT.words]  # room for `sweep`
    counts: Annotated[Record, fields(requests="i8", hashes="i8", dead="i8", skipped="i8")]
    """REQs, hashes computed, broadcasts skipped, and how many slots are in `dead`."""


class Config(NamedTuple):
    """What does not change in a run."""

    reaction_ps: int
    app_bytes: int
    """Of an APP packet, besides its payload."""
    header_bytes: int
    id_bytes: int
    mask: np.uint64
    """Of the bits that a hash has."""
    limit: int
    retest: bool
    """Whether a message that was suspected is tested again after every delivery, until the answer comes."""
    near: int = 0
    one_request: bool = False
    quiet: bool = False
    """These three as in `Choices`."""
