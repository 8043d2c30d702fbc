"""What a protocol is: the logic of all nodes of a run, unaware of the engine it is on.

Two ways to write one, the same contract:

- columns: subclass `Protocol` and work on whole windows as arrays (the clocks do);
- per node: subclass `causeway.pycontrol.node.Node` and hand it to `PerNode` (VCube and mobile do).

Whatever a node does because of an event at t takes effect at t + reaction_ps, and the protocol tells its observers
what it broadcast and delivered, in the order in which it happened.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar
from typing import Protocol as TypingProtocol

import numpy as np
from numpy.typing import NDArray

from causeway.bridge.events import Actions, Kind, Window
from causeway.bridge.network import Network

BROADCAST, DELIVER, LEFT, JOINED, FLAGGED, HELD = 0, 1, 2, 3, 4, 5
"""What an observer can be told: node `node` broadcast or delivered `message`; or left for good (it owes no more
deliveries), or joined (it is owed what is broadcast from now on); or its error detector just flagged `message`; or
`message` arrived and must wait (FLAGGED and HELD change nothing: the checker counts how many were right)."""


class Observer(TypingProtocol):
    """Sees every broadcast and delivery of a run and takes nothing."""

    def observe(
        self, op: NDArray[np.uint8], time_ps: NDArray[np.int64], node: NDArray[np.int32], message: NDArray[np.int64]
    ) -> None:
        """Rows in the order in which they happened."""
        ...

    def scalars(self) -> Mapping[str, float]:
        """What it found, at the end of the run."""
        ...


LOG = {"op": np.uint8, "time_ps": np.int64, "node": np.int32, "message": np.int64}
AT_ONCE = 256
"""Observers are told of so many rows at once: most windows of a mobile run have only a few."""


@dataclass
class Context:
    """What a protocol is given at the start of a run."""

    nodes: int
    seed: int
    reaction_ps: int
    observers: list[Observer] = field(default_factory=list)
    samples: dict[tuple[str, str], tuple[list[int], list[float]]] = field(default_factory=dict)
    """Time series the protocol records: (module, name) -> (times in ps, values)."""
    network: Network | None = None
    """What the run is on, for protocols that cannot do the same on all of them."""
    tells_all_copies: bool = False
    """Whether every copy of a packet ends in an ARRIVAL or LOST event."""
    _log: list[tuple[int, int, int, int]] = field(default_factory=list, repr=False)
    _seen: list[tuple[NDArray[Any], ...]] = field(default_factory=list, repr=False)
    """What was observed and not told yet: before all that is in the log."""
    _rows_seen: int = 0

    def observe(
        self, op: NDArray[np.uint8], time_ps: NDArray[np.int64], node: NDArray[np.int32], message: NDArray[np.int64]
    ) -> None:
        """Tells every observer what happened, in order. Message ids are dense, from 0, in order of broadcast.

        Observers see it a little later, and before the run ends; the arrays may change meanwhile."""
        if self._log or len(op) >= AT_ONCE:
            self.tell_observers()
        if len(op) >= AT_ONCE:
            self._tell((op, time_ps, node, message))
            return
        self._seen.append((op.copy(), time_ps.copy(), node.copy(), message.copy()))
        self._rows_seen += len(op)
        if self._rows_seen >= AT_ONCE:
            self.tell_observers()

    def note(self, op: int, time_ps: int, node: int, message: int) -> None:
        """The same for one row."""
        self._log.append((op, time_ps, node, message))
        self.tell_many()

    @property
    def noted(self) -> Callable[[tuple[int, int, int, int]], None]:
        """Takes such rows with less ado; the loop calls `tell_many` now and then."""
        return self._log.append

    def tell_many(self) -> None:
        """Hands over what was noted once there is enough of it."""
        if len(self._log) >= AT_ONCE:
            self.tell_observers()

    def tell_observers(self) -> None:
        """Hands over what was observed and noted."""
        if self._seen:
            seen, self._seen, self._rows_seen = self._seen, [], 0
            self._tell(seen[0] if len(seen) == 1 else tuple(map(np.concatenate, zip(*seen, strict=True))))
        if self._log:
            log = np.array(self._log, list(LOG.items()))
            self._log.clear()  # the list stays the same: `noted` is bound to it
            self._tell(tuple(np.ascontiguousarray(log[name]) for name in LOG))

    def _tell(self, rows: tuple[NDArray[Any], ...]) -> None:
        for observer in self.observers:
            observer.observe(*rows)

    def record(self, module: str, name: str, time_ps: int, value: float) -> None:
        """Adds one sample to a time series."""
        times, values = self.samples.setdefault((module, name), ([], []))
        times.append(time_ps)
        values.append(value)


class Protocol:
    """Base of all protocols. A protocol must not depend on where windows begin and end."""

    passive: ClassVar[Iterable[Kind]] = ()
    """Kinds of events this protocol never acts on: they need not close a window."""

    def start(self, context: Context) -> None:
        """Called once, before the first window."""
        self.context = context

    def on_window(self, window: Window) -> Actions:
        """Handles the events of one window, in order, and returns what the nodes do about them."""
        raise TypeError(f"{type(self).__name__} does not handle windows")

    def scalars(self) -> Mapping[str, float]:
        """What the protocol itself counted, at the end of the run."""
        return {}

    def in_flight(self) -> str:
        """What is on its way and who sent it, in words: for the error of a run that takes too much memory."""
        return ""

    def state(self) -> Mapping[str, Any]:
        """What a debugger would want to see."""
        return {}
