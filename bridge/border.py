"""The border: every row of every window and of every answer is checked here once, whatever the engine.

What lies behind it (kernels without bounds checks, simulators in C++) may believe what it reads. The loop asks the
border about each window before the protocol sees it, and about each answer before the engine does. A mistake is told
with its window, its row, what the row holds and what is allowed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn, cast

import numpy as np

from causeway.bridge import border_words as words
from causeway.bridge.border_kernel import (
    ALL_GOOD,
    BROADCASTS,
    CHANNELS,
    CONNECTIONS,
    EFFECT,
    END,
    FAR_PS,
    FIRST_MOVER,
    FLOOR,
    INSTANT,
    INTERFACES,
    KEPT,
    LOOK_UP,
    MISFIT,
    MOST_BROADCASTS,
    NO_TCP,
    NODES,
    PACKET_HIGH,
    PACKET_LOW,
    PACKETS_AT,
    SIZE,
    STATE,
    STATIONS,
    TIMER_HIGH,
    TIMER_LOW,
    TIMERS_AT,
    UNICASTS,
    first_bad_action,
    first_bad_event,
    settle,
)
from causeway.bridge.checked import MOST_NODES
from causeway.bridge.engine import RunSpec
from causeway.bridge.errors import RunError
from causeway.bridge.events import (
    COLUMNS,
    FOREVER,
    IGNORED,
    ROW,
    TOPICS,
    Act,
    ActionRows,
    Actions,
    Kind,
    Window,
    column,
)
from causeway.bridge.made import Ranges
from causeway.bridge.network import InetNetwork, MobileNetwork, Network
from causeway.bridge.schema import may_lack

INTERFACES_OF_NETWORKS = 3
"""See `bridge/network.py`."""
NO_TOPICS = np.empty(0, np.uint8)
MAY_LACK = may_lack("Actions")
SEND, SET_TIMER, CANCEL_TIMER = int(Act.SEND), int(Act.SET_TIMER), int(Act.CANCEL_TIMER)
TYPES = tuple(ROW[name] for name in COLUMNS)
LIMITS = {wanted: np.iinfo(wanted) for wanted in TYPES}


def _stations_of(network: Network) -> int:
    if isinstance(network, MobileNetwork):
        return len(network.station_xy_mm)
    return MOST_NODES if isinstance(network, InetNetwork) else network.nodes  # how many there are, only INET knows


class Border:
    """What is known of one run: how many nodes, which ids exist, how far its time is."""

    def __init__(self, spec: RunSpec) -> None:
        settle()
        network = spec.network
        self._s = s = np.zeros(SIZE, np.int64)
        self._fast = memoryview(cast(Any, s))  # of the same numbers: for Python, half as slow to get at
        s[NODES], s[INTERFACES], s[CHANNELS] = network.nodes, INTERFACES_OF_NETWORKS, len(spec.channels)
        s[STATIONS] = _stations_of(network)
        s[INSTANT] = s[STATE:] = -1
        s[CONNECTIONS] = 0 if isinstance(network, MobileNetwork) else NO_TCP
        s[FIRST_MOVER] = s[STATIONS] if isinstance(network, MobileNetwork) else network.nodes
        script = network.workload.script
        scripted = 0 if script is None else len(script.time_ps)
        s[MOST_BROADCASTS] = scripted or network.workload.messages or FAR_PS
        self._nodes, self._end_ps, self._effect_ps, self._next = network.nodes, 0, 0, 0
        self._packets, self._timers = Ranges(), Ranges()
        """Those outside of the ranges in the state."""

    def follow(self, window: Window) -> None:
        """Instead of `check_window`, for an engine that makes its events in this process, of actions checked here."""
        self._effect_ps = self._fast[EFFECT] = self._end_ps = self._fast[END] = window.end_ps

    # ---- windows --------------------------------------------------------------------------------------------------
    def check_window(self, window: Window) -> None:
        """Raises RunError if the window is not one that an engine may hand over now."""
        end_ps = window.end_ps
        if window.number != self._next:
            raise RunError(f"window {window.number} came instead of window {self._next}")
        if not self._end_ps <= end_ps < FAR_PS:
            raise RunError(
                f"window {window.number} is wrong: it ends at {end_ps} ps; allowed: {self._end_ps} ps, where the one "
                f"before it ended, to {FAR_PS - 1} ps"
            )
        if window.number == 0 and (end_ps or len(window.kind)):
            raise RunError(
                f"window 0 is wrong: it ends at {end_ps} ps and has {len(window)} rows; allowed: 0 ps and no rows"
            )
        effect_ps = window.effect_ps or end_ps
        if not end_ps <= effect_ps < FAR_PS:
            raise RunError(
                f"window {window.number} is wrong: its answer takes effect at {effect_ps} ps; allowed: {end_ps} ps, "
                f"where it ends, to {FAR_PS - 1} ps"
            )
        bad = first_bad_event(self._s, end_ps, window.kind, window.time_ps, window.node, window.ref, window.arg)
        if bad == LOOK_UP:
            bad = self._look_up(window)
        if bad >= 0:
            self._refuse_event(window, int(bad))
        self._next += 1
        self._end_ps = self._fast[END] = end_ps
        self._effect_ps = self._fast[EFFECT] = effect_ps

    def _look_up(self, window: Window) -> int:
        """The first row with an id that was never made, or a broadcast that came before; ALL_GOOD if there is none."""
        bad = [-1]
        for kinds, known in (((Kind.ARRIVAL, Kind.LOST), self._has_packet), ((Kind.TIMER,), self._has_timer)):
            rows = np.flatnonzero(np.isin(window.kind, [int(kind) for kind in kinds]))
            bad += rows[~known(window.ref[rows])][:1].tolist()
        rows = np.flatnonzero(window.kind == int(Kind.BROADCAST))
        _, first = np.unique(window.ref[rows], return_index=True)
        bad += np.delete(rows, first)[:1].tolist()
        return min((row for row in bad if row >= 0), default=ALL_GOOD)

    def _has_packet(self, ids: Any) -> Any:
        return _within(self._s, PACKET_LOW, ids) | self._packets.has(ids)

    def _has_timer(self, ids: Any) -> Any:
        return _within(self._s, TIMER_LOW, ids) | self._timers.has(ids)

    def _refuse_event(self, window: Window, row: int) -> NoReturn:
        s = self._s
        told = words.Event(*(int(c[row]) for c in (window.kind, window.time_ps, window.node, window.ref, window.arg)))
        before = words.Event(
            *(int(c[row - 1]) for c in (window.kind, window.time_ps, window.node, window.ref, window.arg))
        ) if row else None  # fmt: skip
        known = {
            Kind.ARRIVAL: lambda: bool(self._has_packet(np.array([told.ref]))[0]),
            Kind.LOST: lambda: bool(self._has_packet(np.array([told.ref]))[0]),
            Kind.TIMER: lambda: bool(self._has_timer(np.array([told.ref]))[0]),
        }
        limits = words.Limits(
            self._nodes, int(s[STATIONS]), int(s[INTERFACES]), self._end_ps, window.end_ps,
            int(s[FLOOR]), int(s[MOST_BROADCASTS]), int(s[BROADCASTS]), connections=int(s[CONNECTIONS]),
            owner=self._owner(told),
        )  # fmt: skip
        why = words.wrong_event(told, before, limits, known)
        raise RunError(f"window {window.number} is wrong: row {row} ({words.event(told)}): {why}")

    def _owner(self, told: words.Event) -> int:
        """Whose packet or timer it is, as far as that is known; else -1."""
        at = {Kind.ARRIVAL: PACKETS_AT, Kind.TIMER: TIMERS_AT}.get(cast(Kind, told.kind))
        if at is None:
            return -1
        at += 2 * (told.ref & (KEPT - 1))
        return int(self._s[at + 1]) if self._s[at] == told.ref else -1

    # ---- answers --------------------------------------------------------------------------------------------------
    def check_actions(self, actions: Actions, window: Window) -> None:
        """Raises RunError if the answer to `window` asks for what cannot be done."""
        if actions.patience:
            self._check_patience(actions, window)
        rows = len(actions)
        if not rows:
            return
        if isinstance(actions, ActionRows):
            if actions.made is not None:
                self._fast[PACKET_HIGH], self._fast[TIMER_HIGH] = actions.made
                return
            bad = self._first_bad_of_rows(actions)
        else:
            bad = self._first_bad_of_columns(actions)
        if bad >= 0:
            self._refuse_action(actions, window, bad)

    def _first_bad_of_rows(self, actions: ActionRows) -> int:
        """As `first_bad_action`, for a few rows."""
        s, nodes, effect_ps = self._fast, self._nodes, self._effect_ps
        packet, timer = s[PACKET_HIGH], s[TIMER_HIGH]
        packet_first, timer_first, unicast = packet, timer, False
        for kind, time_ps, node, ref, peer, size_bytes, interface, topic in actions.rows:
            if not (effect_ps <= time_ps < FAR_PS and 0 <= node < nodes):
                break
            if kind == SEND and ref == packet:
                if not (
                    -1 <= peer < nodes
                    and 0 <= size_bytes <= words.MOST_BYTES
                    and 0 <= interface < INTERFACES_OF_NETWORKS
                    and 0 <= topic < TOPICS
                ):
                    break
                packet += 1
                self._keep(PACKETS_AT, ref, peer)
                unicast |= peer >= 0
            elif kind == SET_TIMER and ref == timer:
                timer += 1
                self._keep(TIMERS_AT, ref, node)
            elif kind != CANCEL_TIMER or not s[TIMER_LOW] <= ref < timer:
                break
        else:
            if packet != packet_first:
                s[PACKET_HIGH] = packet
                s[UNICASTS] |= unicast
            if timer != timer_first:
                s[TIMER_HIGH] = timer
            return ALL_GOOD
        return self._first_bad_of_columns(actions)  # something rarer, or a mistake

    def _keep(self, at: int, id_: int, node: int) -> None:
        """A new id: whose it is."""
        at += 2 * (id_ & (KEPT - 1))
        self._fast[at], self._fast[at + 1] = id_, node

    def _first_bad_of_columns(self, actions: Actions) -> int:
        a = actions
        if isinstance(actions, ActionRows):
            _refuse_misfits(actions.rows)
        try:
            bad = first_bad_action(
                self._s, a.kind, a.time_ps, a.node, a.ref, a.peer, a.size_bytes, a.interface,
                NO_TOPICS if a.topic is None else a.topic,
            )  # fmt: skip
        except (AttributeError, TypeError):  # a column has another type, or is not even an array
            bad = MISFIT
        if bad == MISFIT:
            _convert(actions)
            return self._first_bad_of_columns(actions)
        return self._first_unknown(actions) if bad == LOOK_UP else int(bad)

    def _first_unknown(self, actions: Actions) -> int:
        """Ids outside of the ranges in the state join the others; the first row that cancels a timer never set."""
        s, kind, ref = self._s, actions.kind, actions.ref
        for made, low, others in ((SEND, PACKET_LOW, self._packets), (SET_TIMER, TIMER_LOW, self._timers)):
            new = ref[(kind == made) & ~_within(s, low, ref)]
            if len(new):
                _add(s, low, others, new)
        cancelled = np.flatnonzero(kind == CANCEL_TIMER)
        unknown = cancelled[~self._has_timer(ref[cancelled])]
        return int(unknown[0]) if len(unknown) else ALL_GOOD

    def _refuse_action(self, actions: Actions, window: Window, row: int) -> NoReturn:
        values = actions.rows[row] if isinstance(actions, ActionRows) else [column(actions, c)[row] for c in COLUMNS]
        told = words.Action(*(int(value) for value in values))
        limits = words.Limits(
            self._nodes, 0, int(self._s[INTERFACES]), self._effect_ps, 0, channels=int(self._s[CHANNELS]),
            connections=int(self._s[CONNECTIONS]), first_mover=int(self._s[FIRST_MOVER]),
        )  # fmt: skip
        raise RunError(
            f"the answer to window {window.number} is wrong: row {row} ({words.action(told)}): "
            f"{words.wrong_action(told, limits)}"
        )

    def _check_patience(self, actions: Actions, window: Window) -> None:
        for promise in actions.patience:
            node, topic, patience_ps = promise
            whole = all(isinstance(value, int | np.integer) for value in promise)
            if not (whole and 0 <= node < self._nodes and 0 < topic < TOPICS and IGNORED <= patience_ps <= FOREVER):
                raise RunError(
                    f"the answer to window {window.number} is wrong: a promise of patience (node {node}, topic "
                    f"{topic}, {patience_ps} ps); allowed: node 0 to {self._nodes - 1}, topic 1 to {TOPICS - 1}, 0 ps "
                    f"to FOREVER ({FOREVER}), or IGNORED ({IGNORED})"
                )


def _within(s: Any, low: int, ids: Any) -> Any:
    """Which ids are in the two ranges whose first place in the state is `low`."""
    return ((ids >= s[low]) & (ids < s[low + 1])) | ((ids >= s[low + 2]) & (ids < s[low + 3]))


def _add(s: Any, low: int, others: Ranges, ids: Any) -> None:
    """Adds ids to the others; the two longest ranges of all are then those in the state."""
    others.add(ids)
    for at in (low, low + 2):
        others.add_range(int(s[at]), int(s[at + 1]))
    s[low : low + 4] = 0
    for at, whole in zip((low, low + 2), others.take(2), strict=False):
        s[at : at + 2] = whole


def _convert(actions: Actions) -> None:
    """Gives the columns the types that engines read; what would not survive that as it is, is refused."""
    given = [getattr(actions, name) for name in COLUMNS]
    rows = np.size(given[0])
    for name, values in zip(COLUMNS, given, strict=True):
        lacks = values is None and name in MAY_LACK
        setattr(actions, name, None if lacks else _converted(name, values, rows))


def _refuse_misfits(rows: Sequence[tuple[Any, ...]]) -> None:
    """A value may not even fit its column."""
    for number, row in enumerate(rows):
        for name, wanted, value in zip(COLUMNS, TYPES, row, strict=True):
            limits = LIMITS[wanted]
            if not isinstance(value, int | np.integer) or not limits.min <= value <= limits.max:
                raise RunError(
                    f"an answer is wrong: row {number} has {name} {value!r}; allowed: {limits.min} to {limits.max}"
                )


def _converted(name: str, given: Any, rows: int) -> Any:
    """The column in the type that engines read, if nothing is lost."""
    wanted = ROW[name]
    array = np.asarray(given)
    if array.shape != (rows,):
        raise RunError(
            f"an answer is wrong: its column {name} has {array.size} rows, its column kind {rows}; allowed: columns "
            "of one length"
        )
    if array.dtype.kind not in "iu":
        raise RunError(
            f"an answer is wrong: its column {name} holds {array.dtype}; allowed: whole numbers ({wanted}; times are "
            "whole picoseconds)"
        )
    limits = LIMITS[wanted]
    beyond = np.flatnonzero((array < limits.min) | (array > limits.max))
    if len(beyond):
        raise RunError(
            f"an answer is wrong: row {beyond[0]} has {name} {array[beyond[0]]}; allowed: {limits.min} to {limits.max}"
        )
    return np.array(array, wanted)
