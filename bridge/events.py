"""What crosses the bridge: windows of events one way, actions the other, both as columns.

A row of a window is an event, a row of `Actions` is an action; the columns are numpy arrays of equal length. There is
no Python object per event. The canonical order of events is (time, kind, node, ref): ties are the same on every engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

U8 = NDArray[np.uint8]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]

BROADCAST_PEER = -1
"""`peer` of a SEND that goes to everyone the interface reaches."""


TOPICS = 16
"""Packets can have a topic, 1 to 15, that says what they are about; 0 says nothing."""
FOREVER = (1 << 63) - 1
"""A patience without an end: the node never does anything about packets of that topic."""
IGNORED = -1
"""More than that, and for good: it does not learn from them either, so nobody need tell it of them."""


class Kind(IntEnum):
    """Kinds of events, in canonical order of ties."""

    NODE = 0
    """A node went down or came up. arg: 1 up, 0 down."""
    STATION = 1
    """A node moved. arg: nearest station or -1 (in no cell); ref: position, see `pack_position`."""
    ARRIVAL = 2
    """A packet arrived. ref: packet; arg: interface."""
    LOST = 3
    """The engine knows that `node` will not get a packet (node -1: nobody will). ref: packet; arg: interface."""
    TIMER = 4
    """A timer is due. ref: timer."""
    BROADCAST = 5
    """The workload asks `node` to broadcast. ref: number of the broadcast in the run; arg: payload bytes."""


class Act(IntEnum):
    """Kinds of actions."""

    SEND = 0
    """ref: packet; peer: destination or BROADCAST_PEER; size_bytes; interface."""
    SET_TIMER = 1
    """ref: timer id (fresh for every setting); time_ps: when it is due."""
    CANCEL_TIMER = 2
    """ref: timer id. A timer due before the action takes effect still fires."""
    NODE = 3
    """peer: 1 up, 0 down."""
    RECORD = 4
    """ref: bits of a float64; peer: channel. For engines that write result files of their own."""


@dataclass(slots=True)  # not frozen: that would double the time it takes to make one, and there is one for each frame
class Window:
    """The events of one stretch of simulated time, in canonical order."""

    number: int
    end_ps: int
    reply: bool
    kind: U8
    time_ps: I64
    node: I32
    ref: I64
    arg: I32

    def __len__(self) -> int:
        return len(self.kind)


class Patience(NamedTuple):
    """A promise: `node` does nothing about a packet of this topic sooner than `patience_ps` after its arrival.

    It holds from the end of the window that it answers, until the next one for this node and topic. Such arrivals need
    not close a window, so an engine may know more of them in one exchange; what a run computes does not change. What a
    node learns from packets that it is patient about must not make it less patient.
    """

    node: int
    topic: int
    patience_ps: int


@dataclass(slots=True)
class Actions:
    """What a protocol does about one window."""

    kind: U8
    time_ps: I64
    node: I32
    ref: I64
    peer: I32
    size_bytes: I32
    interface: U8
    stop: bool = False
    topic: U8 | None = None
    """Of what is sent; None: 0 everywhere."""
    patience: tuple[Patience, ...] = ()

    def __len__(self) -> int:
        return len(self.kind)


ROW = np.dtype([
    ("kind", "u1"), ("time_ps", "i8"), ("node", "i4"), ("ref", "i8"), ("peer", "i4"), ("size_bytes", "i4"),
    ("interface", "u1"), ("topic", "u1"),
])  # fmt: skip
COLUMNS: tuple[str, ...] = ROW.names or ()
"""Of actions."""


class ActionRows(Actions):
    """Actions as rows of plain numbers (`ROW`), as single nodes take them.

    The columns are made when somebody asks for one. For the few rows of most windows that would cost more than all else
    that is done about them, and the wire needs only the bytes.
    """

    __slots__ = ("rows",)

    def __init__(self, rows: list[tuple[int, ...]], stop: bool = False, patience: tuple[Patience, ...] = ()) -> None:
        self.rows, self.stop, self.patience = rows, stop, patience

    def __len__(self) -> int:
        return len(self.rows)

    def __getattr__(self, name: str) -> Any:
        """Called for a column that is not there yet."""
        if name not in COLUMNS:
            raise AttributeError(name)
        table = np.array(self.rows, ROW)
        for column in COLUMNS:
            setattr(self, column, np.ascontiguousarray(table[column]))
        return getattr(self, name)


def column(actions: Actions, name: str) -> NDArray[Any]:
    """One of COLUMNS; the topics, too, where there are none."""
    found = getattr(actions, name)
    return np.zeros(len(actions), np.uint8) if found is None else found


def joined(parts: Sequence[Actions]) -> Actions:
    """Several answers as one."""
    if len(parts) == 1:
        return parts[0]
    stop = any(part.stop for part in parts)
    patience = tuple(promise for part in parts for promise in part.patience)
    if all(isinstance(part, ActionRows) for part in parts):
        return ActionRows([row for part in parts for row in cast(ActionRows, part).rows], stop, patience)
    columns: dict[str, Any] = {name: np.concatenate([column(part, name) for part in parts]) for name in COLUMNS}
    return Actions(**columns, stop=stop, patience=patience)


def no_actions(stop: bool = False) -> Actions:
    """An empty answer."""
    return Actions(
        np.empty(0, np.uint8), np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0, np.int64),
        np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.uint8), stop,
    )  # fmt: skip


NO_ACTIONS = no_actions()


def sends(time_ps: I64, node: I32, packet: I64, peer: I32, size_bytes: I32, interface: int = 0) -> Actions:
    """Actions that are all SENDs."""
    rows = len(time_ps)
    return Actions(
        np.zeros(rows, np.uint8), time_ps, node, packet, peer, size_bytes, np.full(rows, interface, np.uint8)
    )


def pack_position(x_mm: int, y_mm: int) -> int:
    """A position as the `ref` of a STATION event: x in the high 32 bits, y in the low (both signed)."""
    return (x_mm << 32) | (y_mm & 0xFFFFFFFF)


def unpack_position(ref: int) -> tuple[int, int]:
    """The inverse of `pack_position`: (x_mm, y_mm)."""
    y_mm = ref & 0xFFFFFFFF
    return ref >> 32, y_mm - (1 << 32) if y_mm & 0x80000000 else y_mm
