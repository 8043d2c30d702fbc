"""Keep the evidence of a run: its frames, broadcasts and deliveries, and the first wrong deliveries.

`causeway explain` repeats a run, or replays its recording, with a `Witness` as an observer and around the engine
(`Watched`), so that other runs have no overhead. The witness finds violations itself. Its sets of messages are ints, in
which bit m is message m.
"""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, field
from math import inf
from typing import Any, NamedTuple

from causeway.bridge.engine import Engine, Finish, RunSpec, Session
from causeway.bridge.events import Act, Actions, Kind, Window
from causeway.pycontrol.node import PerNode
from causeway.pycontrol.protocol import BROADCAST, DELIVER, JOINED, LEFT, Protocol

MOST_ROWS = 4_000_000
"""The maximum number of rows of events and actions that are kept. The oldest are dropped. The rows take some hundred
megabytes."""
AFTERWARDS_PS = 10**12
"""The time for which the run continues after the last violation, to see late copies of its message."""
ORDER, TWICE, NEVER = "order", "twice", "never"


class Violation(NamedTuple):
    """A wrong delivery (ORDER, TWICE), or a delivery that is missing at the end (NEVER)."""

    what: str
    time_ps: int
    node: int
    message: int
    before: int = -1
    """For ORDER: a message that should have been delivered first."""

    def __str__(self) -> str:
        if self.what == ORDER:
            return f"node {self.node} delivers message {self.message} before message {self.before}, which it follows"
        if self.what == TWICE:
            return f"node {self.node} delivers message {self.message} twice"
        return f"node {self.node} never delivers message {self.message}"


class WitnessDone(Exception):
    """Raised to end the run: all wanted violations were found, or the time is over."""


class Observation(NamedTuple):
    """A row of observations."""

    op: int
    time_ps: int
    node: int
    message: int


@dataclass(eq=False)
class Witness:
    """Keeps the observations and frames of a run of `nodes` nodes, and the first `wanted` violations."""

    nodes: int
    wanted: int = 3
    violations: list[Violation] = field(default_factory=list)
    observations: list[Observation] = field(default_factory=list)
    windows: deque[Window] = field(default_factory=deque)
    sent: deque[tuple[Actions, tuple[Any, ...]]] = field(default_factory=deque)
    """Actions, with the contents of their packets."""
    most_s: float = inf
    """The wall time after which to end the run."""

    def __post_init__(self) -> None:
        self.source: list[int] = []
        self.broadcast_ps: list[int] = []
        self._past: list[int] = []
        self._known = [0] * self.nodes
        self._got = [0] * self.nodes
        self._owed = [0] * self.nodes
        self._member = [True] * self.nodes
        self._rows = 0
        self._began_s = time.monotonic()

    # ---- an observer ------------------------------------------------------------------------------------------------
    def observe(self, op: Any, time_ps: Any, node: Any, message: Any) -> None:
        """Keep rows of observations, and find the violations among them."""
        for row in zip(op.tolist(), time_ps.tolist(), node.tolist(), message.tolist(), strict=True):
            self._one(Observation(*row))

    def scalars(self) -> dict[str, float]:
        """Return no scalars."""
        return {}

    def _one(self, observation: Observation) -> None:
        op, time_ps, node, message = observation
        if op == BROADCAST:
            self.source.append(node)
            self.broadcast_ps.append(time_ps)
            self._past.append(self._known[node])
            self._known[node] |= 1 << message
            for i, member in enumerate(self._member):
                if member:
                    self._owed[i] |= 1 << message
        elif op == DELIVER:
            self._deliver(time_ps, node, message)
        elif op == LEFT:
            self._renew(node, member=False)
        elif op == JOINED and self._member[node]:
            self._renew(node, member=True)
        elif op == JOINED:
            self._member[node], self._got[node] = True, 0
        else:
            return
        self.observations.append(observation)

    def _renew(self, node: int, member: bool) -> None:
        """Make the node a new process, as the causality checker does."""
        self._member[node], self._owed[node], self._got[node], self._known[node] = member, 0, 0, 0

    def _deliver(self, time_ps: int, node: int, message: int) -> None:
        bit = 1 << message
        if self._got[node] & bit:
            self._note(Violation(TWICE, time_ps, node, message))
        elif missing := self._past[message] & self._owed[node] & ~self._got[node] & ~bit:
            self._note(Violation(ORDER, time_ps, node, message, (missing & -missing).bit_length() - 1))
        self._got[node] |= bit
        self._known[node] |= self._past[message] | bit

    def _note(self, violation: Violation) -> None:
        if len(self.violations) < self.wanted:
            self.violations.append(violation)

    def at_end(self, time_ps: int) -> None:
        """Record the deliveries that are still owed at the end of the run as missing, node by node."""
        for node in range(self.nodes):
            missing = self._owed[node] & ~self._got[node]
            while missing and len(self.violations) < self.wanted:
                message = (missing & -missing).bit_length() - 1
                missing &= missing - 1
                self._note(Violation(NEVER, time_ps, node, message))

    def path(self, first: int, last: int) -> tuple[int, ...]:
        """Return messages from `first` to `last`. The source of each knew the previous one at its broadcast."""
        found = [last]
        while found[-1] != first:
            past, source = self._past[found[-1]], self.source[found[-1]]
            end = self.broadcast_ps[found[-1]]
            known = [
                one.message for one in self.observations
                if one.time_ps <= end and one.node == source and one.op in (BROADCAST, DELIVER)
                and past >> one.message & 1 and (one.message == first or self._past[one.message] >> first & 1)
            ]  # fmt: skip
            if not known:  # the process was renewed
                return first, last
            found.append(first if first in known else known[0])
        return tuple(reversed(found))

    # ---- the frames -------------------------------------------------------------------------------------------------
    def window(self, window: Window) -> None:
        """Keep a window of events.

        Raises:
            WitnessDone: The run need not continue.
        """
        if len(self.violations) >= self.wanted and window.end_ps > self.violations[-1].time_ps + AFTERWARDS_PS:
            raise WitnessDone
        if time.monotonic() > self._began_s + self.most_s:
            raise WitnessDone
        self.windows.append(window)
        self._count(len(window))

    def actions(self, actions: Actions, contents: tuple[Any, ...]) -> None:
        """Keep the protocol's actions and the contents of their packets."""
        self.sent.append((actions, contents))
        self._count(len(actions))

    def _count(self, rows: int) -> None:
        self._rows += rows
        while self._rows > MOST_ROWS and len(self.windows) > 1 and len(self.sent) > 1:
            gone = len(self.windows.popleft()) + len(self.sent.popleft()[0])
            self._rows -= gone


@dataclass(eq=False)
class Watched:
    """An engine whose frames a witness records."""

    engine: Engine
    witness: Witness
    protocol: Protocol

    def open(self, spec: RunSpec) -> Session:
        """Open a session of the engine."""
        return _WatchedSession(self.engine.open(spec), self.witness, self.protocol)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.engine, name)


class _WatchedSession:
    def __init__(self, session: Session, witness: Witness, protocol: Protocol) -> None:
        self._session, self._witness, self._protocol = session, witness, protocol
        self.engine, self.engine_version = session.engine, session.engine_version

    def next(self) -> Window | Finish:
        window = self._session.next()
        if isinstance(window, Finish):
            self._protocol.context.notify_observers()
            self._witness.at_end(window.end_ps)
        else:
            self._witness.window(window)
        return window

    def answer(self, actions: Actions) -> None:
        contents: tuple[Any, ...] = ()
        if len(actions) and isinstance(self._protocol, PerNode):
            kept, sends = self._protocol.kept_packets, actions.kind == SEND
            contents = tuple(kept[ref][0] if ref in kept else None for ref in actions.ref[sends].tolist())
        self._witness.actions(actions, contents)
        self._session.answer(actions)

    def close(self) -> None:
        self._session.close()


SEND = int(Act.SEND)
ARRIVAL, LOST, STATION, NODE = int(Kind.ARRIVAL), int(Kind.LOST), int(Kind.STATION), int(Kind.NODE)
