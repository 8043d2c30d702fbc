"""All processes of a run with the hash error detector, as arrays."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causeway.pycontrol.protocols.clocks.state import ENTRY, NODE, OWN, Lines
from causeway.pycontrol.slots import SLOT, Slots
from causeway.pycontrol.state_arrays import I32, I64, U8, U64, Axis, Record, fields

RECENT, CANDIDATE = Axis("recent"), Axis("recent", more=1)
NEAR, MATE, SET = Axis("near"), Axis("mate"), Axis("set")
APP, REQ, RSP = 0, 1, 2
"""Kinds of packets."""


class Choices(NamedTuple):
    """Details that the paper leaves open, with the choices of the authors' program (docs/papers/hash.md)."""

    near: int = 0
    """The search among near messages (near.py), whose clocks differ by fewer counts than this; 0: use search.py."""
    one_request: bool = False
    """Allow a process only one request at a time."""
    quiet: bool = False
    """Skip the broadcasts of a process that waits for an answer. Requires `one_request`."""
    hash_bits: int = 64


class Packets(NamedTuple):
    """Packets in flight, in slots of their own. `copies` is the number of copies that may still arrive."""

    slots: Slots
    kind: Annotated[U8, SLOT]
    message: Annotated[I64, SLOT]
    sender: Annotated[I32, SLOT]
    copies: Annotated[I32, SLOT]


class Search(NamedTuple):
    """The arrays of the search for dependencies (search.py)."""

    clock: Annotated[I32, NODE, ENTRY]
    f: Annotated[I32, NODE, OWN]
    need: Annotated[I32, SLOT, ENTRY]  # the sender's clock before it counted the message
    senders: Annotated[I32, NODE, RECENT]  # ring of each process's last deliveries: their senders
    messages: Annotated[I64, NODE, RECENT]  # ring of each process's last deliveries: their ids
    delivered: Annotated[I64, NODE]  # number of its deliveries
    wanted: Annotated[I32, ENTRY]  # scratch: counts of an entry that a set still needs
    cover: Annotated[I32, ENTRY]  # scratch: counts of an entry that the remaining candidates offer
    entries: Annotated[I32, CANDIDATE, OWN]  # scratch
    hashes: Annotated[U64, CANDIDATE]  # scratch
    chosen: Annotated[NDArray[np.bool_], CANDIDATE]  # scratch


class Near(NamedTuple):
    """The arrays of the search among near messages (near.py): a ring of the newest messages, indexed by id.

    A message can be a dependency of another one for all receivers or for none, so all receivers share `mates`.
    """

    clock: Annotated[I32, NEAR, ENTRY]  # in the form in which the message carries it
    lacks: Annotated[U64, NODE, NEAR.words]  # messages that a process has not delivered
    mates: Annotated[I64, NEAR, MATE]  # ids of possible dependencies of the message, the nearest first
    distance: Annotated[I32, NEAR, MATE]  # counts between the clocks of the message and its mates
    found: Annotated[I32, NEAR]  # number of mates
    left_out: Annotated[U64, SET]  # scratch: the hash of the candidates that a set leaves out
    hashes: Annotated[U64, MATE]  # scratch: the hashes of the candidates


class HashState(NamedTuple):
    """The other arrays that the kernel reads and writes. Bitsets are over the messages in flight."""

    slots: Slots
    lines: Lines
    search: Search
    near: Near
    hash_now: Annotated[U64, NODE]  # hash of all deliveries of a process
    lacks: Annotated[U64, NODE, SLOT.words]
    dep_now: Annotated[U64, NODE, SLOT.words]
    dep_count_now: Annotated[I32, NODE]
    sender: Annotated[I32, SLOT]
    id_of: Annotated[I64, SLOT]
    copies: Annotated[I32, SLOT]
    hash_at: Annotated[U64, SLOT]  # hash in the message: `hash_now` of its sender, or that of near messages
    dep: Annotated[U64, SLOT, SLOT.words]
    dep_count: Annotated[I32, SLOT]
    asking: Annotated[U8, NODE]  # 1 if a process waits for an answer
    dead: Annotated[I32, SLOT]  # slots of messages that all nodes have delivered, until `sweep` frees them
    keep: Annotated[U64, SLOT.words]  # scratch space of `sweep`
    counts: Annotated[Record, fields(requests="i8", hashes="i8", dead="i8", skipped="i8")]
    """The numbers of REQs, of computed hashes, of slots in `dead`, and of skipped broadcasts."""


class Config(NamedTuple):
    """The constants of a run."""

    reaction_ps: int
    app_bytes: int
    """The bytes of an APP packet in addition to its payload."""
    header_bytes: int
    id_bytes: int
    mask: np.uint64
    """The bits of a hash that are compared."""
    limit: int
    retest: bool
    """Test a suspected message again after every delivery, until the answer arrives."""
    near: int = 0
    one_request: bool = False
    quiet: bool = False
    """`near`, `one_request` and `quiet` have the same meaning as in `Choices`."""
