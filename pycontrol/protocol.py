"""The interface of protocols: the logic of all nodes of a run, unaware of the engine.

There are two ways to write a protocol:

- per node: subclass `causeway.pycontrol.node.Node` and pass it to `PerNode` (as VCube and mobile do);
- vectorized: subclass `Protocol` and handle whole windows as arrays (as the clocks do).

An action that a node takes because of an event at t takes effect at t + reaction_ps. The protocol reports its
broadcasts and deliveries to the observers, in the order in which they happened, through its `Context`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar
from typing import Protocol as TypingProtocol

import numpy as np
from numpy.typing import NDArray

from causeway.bridge.events import Actions, Kind, Window
from causeway.network.networks import Network
from causeway.pycontrol.protocol_errors import protocol_error, says_where

BROADCAST, DELIVER, LEFT, JOINED, FLAGGED, HELD = 0, 1, 2, 3, 4, 5
"""The observations of a node:

    BROADCAST  it broadcast `message`
    DELIVER    it delivered `message`
    LEFT       it left; deliveries are no longer expected of it, and if it joins again, it is a new process
    JOINED     it became a member; it must deliver the messages that are broadcast from now on
    FLAGGED    its error detector suspects that delivering `message` now would violate causal order
    HELD       `message` arrived and must wait

FLAGGED and HELD change nothing; the causality checker counts how many of them were right."""


class Observer(TypingProtocol):
    """Sees every broadcast and delivery of a run, and changes nothing."""

    def observe(
        self, op: NDArray[np.uint8], time_ps: NDArray[np.int64], node: NDArray[np.int32], message: NDArray[np.int64]
    ) -> None:
        """Process rows of observations (BROADCAST, DELIVER, ...), in the order in which they happened."""
        ...

    def scalars(self) -> Mapping[str, float]:
        """Return the observer's results by name, at the end of the run."""
        ...


LOG = {"op": np.uint8, "time_ps": np.int64, "node": np.int32, "message": np.int64}
AT_ONCE = 256
"""The number of rows that observers get at once. A window of a mobile run has only a few rows, so calls for each window
would cost more than the work of the observers."""


@dataclass
class Context:
    """The parameters and services of a run, which a protocol gets in `Protocol.start`."""

    nodes: int
    seed: int
    reaction_ps: int
    observers: list[Observer] = field(default_factory=list)
    samples: dict[tuple[str, str], tuple[list[int], list[float]]] = field(default_factory=dict)
    """Time series that the protocol records: (module, name) -> (times in ps, values)."""
    scalars: dict[tuple[str, str], float] = field(default_factory=dict)
    """Scalars of modules, such as `node[3]`, that the protocol records: (module, name) -> value."""
    network: Network | None = None
    """The network of the run, for protocols that depend on its kind."""
    duration_ps: int = 0
    """The duration of the run; 0: it ends when nothing is left to happen, or when its simulation ends."""
    reports_all_copies: bool = False
    """True if every copy of a packet ends in an ARRIVAL or LOST event."""
    longest_delay_ps: int | None = None
    """The longest time between the departure and the arrival of a copy, if it is known."""
    _log: list[tuple[int, int, int, int]] = field(default_factory=list, repr=False)
    """Rows of `note` that have not been passed to the observers yet. They are later than the rows in `_seen`."""
    _seen: list[tuple[NDArray[Any], ...]] = field(default_factory=list, repr=False)
    """Columns of `observe` that have not been passed to the observers yet."""
    _rows_seen: int = 0

    def observe(
        self, op: NDArray[np.uint8], time_ps: NDArray[np.int64], node: NDArray[np.int32], message: NDArray[np.int64]
    ) -> None:
        """Report rows of observations to every observer.

        Message ids are dense: 0, 1, 2, ... in order of broadcast. Observers get the rows in order and in batches, at
        the latest at the end of the run. Arrays that have to wait are copied.
        """
        if self._log or len(op) >= AT_ONCE:
            self.notify_observers()
        if len(op) >= AT_ONCE:
            self._report((op, time_ps, node, message))
            return
        self._seen.append((op.copy(), time_ps.copy(), node.copy(), message.copy()))
        self._rows_seen += len(op)
        if self._rows_seen >= AT_ONCE:
            self.notify_observers()

    def note(self, op: int, time_ps: int, node: int, message: int) -> None:
        """Report one observation to every observer."""
        self._log.append((op, time_ps, node, message))
        self.notify_many()

    @property
    def noted(self) -> Callable[[tuple[int, int, int, int]], None]:
        """A function that appends a row (op, time_ps, node, message) without flushing. The loop calls `notify_many`."""
        return self._log.append

    def notify_many(self) -> None:
        """Flush the noted rows to the observers if there are enough for a batch."""
        if len(self._log) >= AT_ONCE:
            self.notify_observers()

    def notify_observers(self) -> None:
        """Flush all pending rows to the observers."""
        if self._seen:
            seen, self._seen, self._rows_seen = self._seen, [], 0
            self._report(seen[0] if len(seen) == 1 else tuple(map(np.concatenate, zip(*seen, strict=True))))
        if self._log:
            log = np.array(self._log, list(LOG.items()))
            self._log.clear()  # cleared in place, since callers hold its `append` (`noted`)
            self._report(tuple(np.ascontiguousarray(log[name]) for name in LOG))

    def _report(self, rows: tuple[NDArray[Any], ...]) -> None:
        for observer in self.observers:
            try:
                observer.observe(*rows)
            except Exception as error:
                if says_where(error):
                    raise
                raise protocol_error(type(observer).__name__, int(rows[1][-1]), "observe(...)", error) from error

    def record(self, module: str, name: str, time_ps: int, value: float) -> None:
        """Add one sample to a time series of a module, such as `node[3]`."""
        times, values = self.samples.setdefault((module, name), ([], []))
        times.append(time_ps)
        values.append(value)


class Protocol:
    """Base of all protocols. The outcome must not depend on where windows begin and end."""

    passive: ClassVar[Iterable[Kind]] = ()
    """Kinds of events to which this protocol never reacts. They need not close a window."""

    def start(self, context: Context) -> None:
        """Prepare for a run. Called once, before the first window."""
        self.context = context

    def on_window(self, window: Window) -> Actions:
        """Handle the events of one window in order, and return the actions of the nodes because of them."""
        raise TypeError(f"{type(self).__name__} does not handle windows")

    def finish(self, now_ps: int) -> None:
        """Handle the end of a run that did not fail. Called after the last event, before `check_end`."""

    def check_end(self) -> None:
        """Raise an error if the protocol did something that makes its results wrong. Called after the last event."""

    def discard(self) -> None:
        """End everything in the nodes that still runs. Called at the end of every run, possibly more than once."""

    def scalars(self) -> Mapping[str, float]:
        """Return the protocol's own counters by name, at the end of the run."""
        return {}

    def warnings(self) -> Sequence[str]:
        """Return warnings about the run, which are kept with its results. Called at the end of the run."""
        return ()

    def in_flight(self) -> str:
        """Describe the packets on their way and their senders, for the error of a run that needs too much memory."""
        return ""

    def state(self) -> Mapping[str, Any]:
        """Return the protocol's state by name, for debuggers."""
        return {}
