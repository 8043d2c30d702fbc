"""The contents of the bridge's frames: windows of events in one direction, actions in the other, both as columns.

A row of a window is an event, a row of `Actions` is an action; the columns are numpy arrays of equal length. There is
no Python object per event. The canonical order of events is (time, kind, node, ref), so that events of one instant have
the same order on every engine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from causeway.proto.contract import DeclaredEnum, constant, declared, may_lack, table

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]

# Declared and explained in proto/causeway.proto, as are the members of the enums below.
BROADCAST_PEER = constant("BROADCAST_PEER")
TOPICS = constant("TOPICS")
FOREVER = constant("FOREVER")
IGNORED = constant("IGNORED")


class Kind(DeclaredEnum):
    """Kinds of events, in canonical order of ties."""

    _ignore_ = "name number"
    for name, number in declared("Kind"):
        locals()[name] = number


class Act(DeclaredEnum):
    """Kinds of actions."""

    _ignore_ = "name number"
    for name, number in declared("Act"):
        locals()[name] = number


EVENT = table("Window", "events")
"""The columns of a window."""
ROW = table("Actions", "actions")
"""The columns of an answer."""
COLUMNS: tuple[str, ...] = ROW.names or ()
"""The names of the columns of an answer."""

T = TypeVar("T")


def _with_columns(message: str, row: np.dtype) -> Callable[[type[T]], type[T]]:
    """Return a decorator that makes a dataclass with one attribute for each column of the contract.

    Optional columns are keyword-only, and None if they are missing. The class is not frozen, since this would double
    the time to make an instance, and there is an instance for each frame.
    """

    def made(cls: type[T]) -> type[T]:
        own = cls.__annotations__
        first = {name: kind for name, kind in own.items() if not hasattr(cls, name)}
        cls.__annotations__ = {**first, **dict.fromkeys(row.names or (), "NDArray[Any]"), **own}
        for name in may_lack(message) & set(row.names or ()):
            setattr(cls, name, field(default=None, kw_only=True))
        return dataclass(slots=True)(cls)

    return made


@_with_columns("Window", EVENT)
class Window:
    """The events of one interval of simulated time, in canonical order."""

    number: int
    end_ps: int
    """All events before this instant are known; actions take effect at or after it."""
    reply: bool

    if TYPE_CHECKING:  # the columns: kind, time_ps, node, ref, arg and any that the contract adds

        def __init__(self, number: int, end_ps: int, reply: bool, *columns: Any, **named: Any) -> None: ...
        def __getattr__(self, name: str) -> NDArray[Any]: ...

    def __len__(self) -> int:
        return len(self.kind)


class Lookahead(NamedTuple):
    """A declared lookahead: `node` acts on a packet of this topic at least `lookahead_ps` after its arrival.

    It is valid from the end of the window that it answers until the next one for this node and topic. Such arrivals
    need not close a window, so an engine may send more of them in one exchange; the results of a run do not change. A
    node must not shorten a lookahead while it handles a packet of a topic with a lookahead.
    """

    node: int
    topic: int
    lookahead_ps: int


@_with_columns("Actions", ROW)
class Actions:
    """The answer of a protocol to one window."""

    stop: bool = False
    lookaheads: tuple[Lookahead, ...] = ()

    if TYPE_CHECKING:  # the columns: kind, time_ps, node, ref, peer, size_bytes, interface and any that ...

        def __init__(self, *columns: Any, **named: Any) -> None: ...
        def __getattr__(self, name: str) -> NDArray[Any]: ...

    def __len__(self) -> int:
        return len(self.kind)


PAD = tuple((0,) * (len(COLUMNS) - filled) for filled in range(len(COLUMNS) + 1))
"""`PAD[n]`: the zeros that complete a row of `ActionRows` after its first n numbers."""


class ActionRows(Actions):
    """Actions as rows of plain numbers (`ROW`), as the handlers of single nodes return them.

    The columns are made at the first access. Most windows have few rows; making columns for them would cost more than
    everything else, and a frame needs only the bytes.
    """

    __slots__ = ("made", "rows")

    def __init__(
        self,
        rows: list[tuple[int, ...]],
        stop: bool = False,
        lookaheads: tuple[Lookahead, ...] = (),
        made: tuple[int, int] | None = None,
    ) -> None:
        """Take rows of actions.

        Args:
            rows: The actions.
            stop: True if the run ends now.
            lookaheads: Declared lookaheads.
            made: The numbers of packets and timers that exist now, with ids from 0, if every row is valid already:
                `PerNode` validates the calls of a node when they happen, because it can then name the handler.
        """
        self.rows, self.stop, self.lookaheads, self.made = rows, stop, lookaheads, made

    def __len__(self) -> int:
        return len(self.rows)

    def __getattr__(self, name: str) -> Any:
        """Make the columns at the first access to one of them."""
        if name not in COLUMNS:
            raise AttributeError(name)
        table = np.array(self.rows, ROW)
        for column in COLUMNS:
            setattr(self, column, np.ascontiguousarray(table[column]))
        return getattr(self, name)


def column(actions: Actions, name: str) -> NDArray[Any]:
    """Return one of COLUMNS, or zeros if it is missing."""
    found = getattr(actions, name)
    return np.zeros(len(actions), ROW[name]) if found is None else found


def joined(parts: Sequence[Actions]) -> Actions:
    """Return several answers as one."""
    parts = [part for part in parts if len(part) or part.stop or part.lookaheads] or parts[:1]
    if len(parts) == 1:
        return parts[0]
    stop = any(part.stop for part in parts)
    lookaheads = tuple(lookahead for part in parts for lookahead in part.lookaheads)
    if all(isinstance(part, ActionRows) for part in parts):
        return ActionRows([row for part in parts for row in cast(ActionRows, part).rows], stop, lookaheads)
    columns: dict[str, Any] = {name: np.concatenate([column(part, name) for part in parts]) for name in COLUMNS}
    return Actions(**columns, stop=stop, lookaheads=lookaheads)


def no_actions(stop: bool = False) -> Actions:
    """Return an empty answer."""
    return Actions(
        np.empty(0, np.uint8), np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0, np.int64),
        np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.uint8), stop=stop,
    )  # fmt: skip


NO_ACTIONS = no_actions()


def sends(time_ps: I64, node: I32, packet: I64, peer: I32, size_bytes: I32, interface: int = 0) -> Actions:
    """Return actions that are all SENDs."""
    rows = len(time_ps)
    return Actions(
        np.zeros(rows, np.uint8), time_ps, node, packet, peer, size_bytes, np.full(rows, interface, np.uint8)
    )


def pack_position(x_mm: int, y_mm: int) -> int:
    """Return x and y as the `ref` of a STATION event: x in the high 32 bits, y in the low (both signed)."""
    return (x_mm << 32) | (y_mm & 0xFFFFFFFF)


def unpack_position(ref: int) -> tuple[int, int]:
    """Return the position (x_mm, y_mm) of the `ref` of a STATION event."""
    y_mm = ref & 0xFFFFFFFF
    return ref >> 32, y_mm - (1 << 32) if y_mm & 0x80000000 else y_mm
