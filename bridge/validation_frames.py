"""Validation of every window and every answer of a run, once, for all engines.

Kernels without bounds checks and simulators in C++ rely on it. The loop calls `FrameValidator.check_window` before the
protocol sees a window, and `FrameValidator.check_actions` before the engine sees the answer. An error names the window,
the row, the values of the row and the allowed values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn, cast

import numpy as np

from causeway.bridge import validation_messages as words
from causeway.bridge.engine import RunSpec
from causeway.bridge.events import (
    COLUMNS,
    ROW,
    Act,
    ActionRows,
    Actions,
    Kind,
    Window,
    column,
)
from causeway.bridge.id_ranges import Ranges
from causeway.bridge.validation import (
    INTERFACES,
    LIMITS,
    MOST_NODES,
    PLACES,
    first_broken,
    rules_of_table,
)
from causeway.bridge.validation_kernel import (
    ALL_GOOD,
    FAR_PS,
    KEPT,
    LOOK_UP,
    MISFIT,
    NO_TCP,
    OUT_OF_TURN,
    STATE,
    compiled_kernels,
)
from causeway.errors import RunError
from causeway.network.networks import InetNetwork, MobileNetwork, Network
from causeway.proto.contract import may_lack, table

OPTIONAL = may_lack("Actions")
SEND, SET_TIMER, CANCEL_TIMER = int(Act.SEND), int(Act.SET_TIMER), int(Act.CANCEL_TIMER)
TYPES = tuple(ROW[name] for name in COLUMNS)
TYPE_LIMITS = {wanted: np.iinfo(wanted) for wanted in TYPES}
PROMISE = table("Actions", "promises").names or ()


def _stations_of(network: Network) -> int:
    if isinstance(network, MobileNetwork):
        return len(network.station_xy_mm)
    return MOST_NODES if isinstance(network, InetNetwork) else network.nodes  # only INET knows their number


def _has_vehicles(network: Network) -> bool:
    return isinstance(network, InetNetwork) and network.movement is not None


class FrameValidator:
    """The validation of one run, with the number of nodes, the ids that exist and the time reached."""

    def __init__(self, spec: RunSpec) -> None:
        self._kernels = compiled_kernels()
        self._first_bad_event, self._first_bad_action = self._kernels[:2]
        network = spec.network
        self._state = np.zeros(1, STATE)
        self._s = s = self._state.view(np.recarray)
        is_mobile = isinstance(network, MobileNetwork)
        script = network.workload.script
        scripted = 0 if script is None else len(script.time_ps)
        at = s[0]
        at.nodes, at.interfaces, at.channels = network.nodes, INTERFACES, len(spec.channels)
        at.stations = _stations_of(network)
        at.first_mover = at.stations if is_mobile else 0 if _has_vehicles(network) else network.nodes
        at.connections = 0 if is_mobile else NO_TCP
        at.most_broadcasts = scripted or network.workload.messages or FAR_PS
        at.instant_ps = at.packet_owners[:] = at.timer_owners[:] = -1
        self._nodes, self._fast = network.nodes, StateViews(s)
        self._packets, self._timers = Ranges(), Ranges()  # the ids outside the ranges in the state

    def follow(self, window: Window) -> None:
        """Record the end of a window without checking its rows.

        This is enough for an engine in this process, which computes its events from actions that were validated here.
        """
        self._fast.end_ps[0] = window.end_ps

    @property
    def broadcasts(self) -> int:
        """One more than the highest broadcast number seen so far.

        Includes the broadcasts that the engine left out because their node was down, except any after the last one
        seen.
        """
        return int(self._s.broadcasts[0])

    # ---- windows --------------------------------------------------------------------------------------------------
    def check_window(self, window: Window) -> None:
        """Validate a window that an engine hands over.

        Raises:
            RunError: The window has a wrong number, or one of its rows is wrong.
        """
        w = window
        bad = self._first_bad_event(self._state, w.number, w.end_ps, w.kind, w.time_ps, w.node, w.ref, w.arg)
        if bad != ALL_GOOD:
            self._resolve(window, bad)
        fast = self._fast
        fast.number[0], fast.end_ps[0] = w.number + 1, w.end_ps

    def _resolve(self, window: Window, bad: int) -> None:
        """Refuse the window if a result of the kernel other than ALL_GOOD means that it is wrong."""
        if bad == OUT_OF_TURN:
            self._refuse_window(window)
        if bad == LOOK_UP:
            bad = self._look_up(window)
        if bad >= 0:
            self._refuse_event(window, int(bad))

    def _refuse_window(self, window: Window) -> NoReturn:
        number, end_ps = int(self._s.number[0]), int(self._s.end_ps[0])
        if window.number != number:
            raise RunError(f"window {window.number} came instead of window {number}")
        if not end_ps <= window.end_ps < FAR_PS:
            raise RunError(
                f"window {number} is wrong: it ends at {window.end_ps} ps; allowed: {end_ps} ps, where the one before "
                f"it ended, to {FAR_PS - 1} ps"
            )
        raise RunError(
            f"window 0 is wrong: it ends at {window.end_ps} ps and has {len(window)} rows; allowed: 0 ps and no rows"
        )

    def _look_up(self, window: Window) -> int:
        """Return the first row with an id that was never made or a broadcast seen before; ALL_GOOD if there is none."""
        bad = [-1]
        for kinds, known in (((Kind.ARRIVAL, Kind.LOST), self._has_packet), ((Kind.TIMER,), self._has_timer)):
            rows = np.flatnonzero(np.isin(window.kind, [int(kind) for kind in kinds]))
            bad += rows[~known(window.ref[rows])][:1].tolist()
        rows = np.flatnonzero(window.kind == int(Kind.BROADCAST))
        _, first = np.unique(window.ref[rows], return_index=True)
        bad += np.delete(rows, first)[:1].tolist()
        return min((row for row in bad if row >= 0), default=ALL_GOOD)

    def _has_packet(self, ids: Any) -> Any:
        return _within(self._s.packets[0], ids) | self._packets.has(ids)

    def _has_timer(self, ids: Any) -> Any:
        return _within(self._s.timers[0], ids) | self._timers.has(ids)

    def _refuse_event(self, window: Window, row: int) -> NoReturn:
        at = self._s[0]
        columns = (window.kind, window.time_ps, window.node, window.ref, window.arg)
        event = words.Event(*(int(values[row]) for values in columns))
        before = words.Event(*(int(values[row - 1]) for values in columns)) if row else None
        known = {
            Kind.ARRIVAL: lambda: bool(self._has_packet(np.array([event.ref]))[0]),
            Kind.LOST: lambda: bool(self._has_packet(np.array([event.ref]))[0]),
            Kind.TIMER: lambda: bool(self._has_timer(np.array([event.ref]))[0]),
        }
        limits = words.Limits(
            self._nodes, int(at.stations), int(at.interfaces), int(at.end_ps), window.end_ps, int(at.floor),
            int(at.most_broadcasts), int(at.broadcasts), connections=int(at.connections), owner=self._owner(event),
        )  # fmt: skip
        why = words.wrong_event(event, before, limits, known)
        raise RunError(f"window {window.number} is wrong: row {row} ({words.event(event)}): {why}")

    def _owner(self, event: words.Event) -> int:
        """Return the node for which the packet is, or which set the timer; -1 if it is unknown."""
        at = self._s[0]
        owners = {Kind.ARRIVAL: at.packet_owners, Kind.TIMER: at.timer_owners}.get(cast(Kind, event.kind))
        if owners is None:
            return -1
        owner = owners[event.ref & (KEPT - 1)]
        return int(owner["node"]) if owner["id"] == event.ref else -1

    # ---- answers --------------------------------------------------------------------------------------------------
    def check_actions(self, actions: Actions, window: Window) -> None:
        """Validate the answer to `window`.

        Raises:
            RunError: A row or a declared lookahead is wrong, or a column does not fit.
        """
        if actions.lookaheads:
            self._check_lookahead(actions, window)
        if isinstance(actions, ActionRows):
            if not actions.rows:
                return
            if actions.made is not None:
                self._fast.packets_high[0], self._fast.timers_high[0] = actions.made
                return
            _refuse_misfits(actions.rows)
        bad = self._first_bad_of_columns(actions)
        if bad >= 0:
            self._refuse_action(actions, window, bad)

    def _first_bad_of_columns(self, actions: Actions) -> int:
        a = actions
        try:
            bad = self._first_bad_action(
                self._state, a.kind, a.time_ps, a.node, a.ref, a.peer, a.size_bytes, a.interface
            )
            if a.topic is not None:
                bad = _first_of(bad, self._kernels.first_bad_topic(a.topic, len(a.kind)))
        except (AttributeError, TypeError):  # a column has another type, or is not even an array
            bad = MISFIT
        if bad == ALL_GOOD:
            return ALL_GOOD
        if bad == MISFIT:
            _convert(actions)
            return self._first_bad_of_columns(actions)
        return self._first_unknown(actions) if bad == LOOK_UP else int(bad)

    def _first_unknown(self, actions: Actions) -> int:
        """Record new ids that extend no range in the state.

        Return the first row that cancels a timer that was never set.
        """
        s, kind, ref = self._s, actions.kind, actions.ref
        for made, ranges, others in ((SEND, s.packets, self._packets), (SET_TIMER, s.timers, self._timers)):
            new = ref[(kind == made) & ~_within(ranges[0], ref)]
            if len(new):
                _add(ranges, others, new)
        cancelled = np.flatnonzero(kind == CANCEL_TIMER)
        unknown = cancelled[~self._has_timer(ref[cancelled])]
        return int(unknown[0]) if len(unknown) else ALL_GOOD

    def _refuse_action(self, actions: Actions, window: Window, row: int) -> NoReturn:
        values = actions.rows[row] if isinstance(actions, ActionRows) else [column(actions, c)[row] for c in COLUMNS]
        at = self._s[0]
        action = words.Action(*(int(value) for value in values))
        limits = {name: int(at.held[PLACES[name]]) for name in LIMITS}
        raise RunError(
            f"the answer to window {window.number} is wrong: row {row} ({words.action(action)}): "
            f"{words.wrong_action(action, limits)}"
        )

    def _check_lookahead(self, actions: Actions, window: Window) -> None:
        for lookahead in actions.lookaheads:
            if not all(isinstance(value, int | np.integer) for value in lookahead):
                why = f"{lookahead}; allowed: whole numbers"
            else:
                held = {"nodes": self._nodes, **dict(zip(PROMISE, lookahead, strict=True))}
                if (broken := first_broken(rules_of_table("Actions", "promises"), held)) is None:
                    continue
                why = broken.words(held)
            raise RunError(f"the answer to window {window.number} is wrong: {why}")


class StateViews:
    """Memory views of fields of the state, which Python reads in half the time. Each value is the first of its view."""

    __slots__ = ("end_ps", "number", "packets_high", "timers_high")

    def __init__(self, s: Any) -> None:
        self.number, self.end_ps = (memoryview(s[name]) for name in ("number", "end_ps"))
        self.packets_high, self.timers_high = (memoryview(s[name]["high"]) for name in ("packets", "timers"))


def _first_of(bad: int, topic: int) -> int:
    """Return the lower of the two bad rows.

    The result is MISFIT if one of them is MISFIT. If no topic is wrong, it is `bad`, which may be LOOK_UP.
    """
    if MISFIT in (bad, topic):
        return MISFIT
    return topic if topic >= 0 and not 0 <= bad < topic else bad


def _within(ranges: Any, ids: Any) -> Any:
    """Return a mask of the ids that are in one of two ranges."""
    return ((ids >= ranges.low) & (ids < ranges.high)) | ((ids >= ranges.low_2) & (ids < ranges.high_2))


def _add(ranges: Any, others: Ranges, ids: Any) -> None:
    """Add ids to the others, and keep the two longest ranges of all in the state."""
    others.add(ids)
    for low, high in (("low", "high"), ("low_2", "high_2")):
        others.add_range(int(ranges[low][0]), int(ranges[high][0]))
    longest = [*others.take(2), (0, 0), (0, 0)]
    (ranges["low"], ranges["high"]), (ranges["low_2"], ranges["high_2"]) = longest[:2]


def _convert(actions: Actions) -> None:
    """Convert the columns to the types that engines read; refuse values that would change."""
    given = [getattr(actions, name) for name in COLUMNS]
    rows = np.size(given[0])
    for name, values in zip(COLUMNS, given, strict=True):
        lacks = values is None and name in OPTIONAL
        setattr(actions, name, None if lacks else _converted(name, values, rows))


def _refuse_misfits(rows: Sequence[tuple[Any, ...]]) -> None:
    """Refuse rows with a value that its column cannot hold."""
    for number, row in enumerate(rows):
        for name, wanted, value in zip(COLUMNS, TYPES, row, strict=True):
            limits = TYPE_LIMITS[wanted]
            if not isinstance(value, int | np.integer) or not limits.min <= value <= limits.max:
                raise RunError(
                    f"an answer is wrong: row {number} has {name} {value!r}; allowed: {limits.min} to {limits.max}"
                )


def _converted(name: str, values: Any, rows: int) -> Any:
    """Return a column in the type that engines read, or raise RunError if values would change."""
    wanted = ROW[name]
    array = np.asarray(values)
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
    limits = TYPE_LIMITS[wanted]
    beyond = np.flatnonzero((array < limits.min) | (array > limits.max))
    if len(beyond):
        raise RunError(
            f"an answer is wrong: row {beyond[0]} has {name} {array[beyond[0]]}; allowed: {limits.min} to {limits.max}"
        )
    return np.array(array, wanted)
