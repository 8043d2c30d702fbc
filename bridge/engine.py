"""The interface of engines: an engine runs a network and exchanges windows of events for actions.

An engine is one file in `bridge/engines/` and one line in its registry. It takes a `RunSpec` and opens a `Session`;
`pycontrol/loop.py` is the only caller.

The first window of every run (number 0) is empty, ends at 0 and wants a reply: its answer contains the nodes' actions
at their start, which take effect at the reaction time. Then the engine runs to the first active event at t0, continues
to t0 + L (or stops earlier, at a full instant, if the cap is reached) and sends everything before that instant. Windows
with only passive events want no reply, so the engine may run ahead of the controller. (An engine in another process
asks for an empty reply from time to time, which bounds how far it runs ahead.)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from causeway.bridge.events import Actions, Window
from causeway.network.networks import AbstractNetwork, Network
from causeway.proto.contract import words
from causeway.toolchain.adapters import Adapter


@dataclass(frozen=True)
class RunSpec:
    """The description of one run for an engine. The handshake contains it."""

    study: str
    parameters: Mapping[str, Any]
    seed: int
    network: Network
    reaction_ps: int
    """L, the lookahead: actions of a node because of an event at t take effect exactly at t + L. L is above 0."""
    duration_ps: int = 0
    """The run ends at this time; 0: it ends when no events are left."""
    cap: int = 0
    """A window closes at the next full instant after it has this number of events; 0: no cap."""
    passive_kinds: int = 0
    """If bit k is set, events of kind k need not close a window (the protocol never reacts to them)."""
    channels: tuple[str, ...] = ()
    record_to: Path | None = None
    """The file for the run's frames, which `replay` reads."""
    deadline_s: float = 60.0
    """The time after which either side considers a peer that does not answer dead."""
    pauses: bool = False
    """True if the controller may take any time for an answer, as in a debugger. Then a simulator waits for ever, but
    still ends at once if the controller dies."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Options that only this engine understands (e.g. another omnetpp.ini)."""
    ahead: Any = field(default=None, repr=False, compare=False)
    """The simulator that may have been started ahead of this run (`bridge/ahead.py`)."""

    @property
    def reports_all_copies(self) -> bool:
        """True if every copy of a packet ends in an ARRIVAL or LOST event.

        This is so on the abstract network, unless a user's own ini file builds another network instead.
        """
        return isinstance(self.network, AbstractNetwork) and "ini" not in self.options


def result_name(spec: RunSpec) -> str:
    """Return the name of a simulator's own result files of a run (option `result_name`), without a suffix."""
    return str(spec.options.get("result_name") or f"{Path(spec.study).stem}-{spec.seed}")


# Reasons for which a run ends.
NOTHING_LEFT = words("End", "NOTHING_LEFT")
DURATION_OVER = words("End", "DURATION_OVER")
STOPPED = words("End", "STOPPED")
BY_SIMULATION = words("End", "BY_SIMULATION")
NODE_NUMBER = "node"
"""The scalar with which a simulator reports the node number of a module of a user's own network."""
UNUSED_LINE = "unused"
"""The scalar with which a simulator reports the key of a line of a user's ini file that matched nothing."""


@dataclass(frozen=True)
class Finish:
    """The end of a run, and the engine's own measurements: (module, name) -> value."""

    reason: str
    end_ps: int
    events: int
    scalars: Mapping[tuple[str, str], float] = field(default_factory=dict)
    waited_s: float = field(default=0.0, compare=False)
    """The wall time for which the simulator waited for answers."""

    @property
    def nodes(self) -> dict[int, str]:
        """The module path of each node, with the simulator's names; empty if the simulator has none."""
        found = {int(value): module for (module, name), value in self.scalars.items() if name == NODE_NUMBER}
        return dict(sorted(found.items()))

    @property
    def unused(self) -> list[str]:
        """The keys of lines of a user's ini file that matched nothing in the network."""
        return [key for key, name in self.scalars if name == UNUSED_LINE]

    @property
    def measured(self) -> dict[tuple[str, str], float]:
        """The scalars that are measurements."""
        return {key: value for key, value in self.scalars.items() if key[1] not in (NODE_NUMBER, UNUSED_LINE)}


class Session(Protocol):
    """One run in progress."""

    engine: str
    engine_version: str

    def next(self) -> Window | Finish:
        """Wait for the next window or the end of the run, at most until the deadline."""
        ...

    def answer(self, actions: Actions) -> None:
        """Send the answer to a window with `reply`. Every such window must be answered before `next`."""
        ...

    def close(self) -> None:
        """End the run in any state, and leave no process, socket or file. It may be called twice."""
        ...


class Engine(Protocol):
    """A way to run a network."""

    name: str
    networks: tuple[type, ...]
    """The kinds of networks that it builds. Of mobile networks, it builds only those with a radio in `radios`."""

    def open(self, spec: RunSpec) -> Session:
        """Begin a run."""
        ...

    def missing(self, network: Network | None = None) -> str | None:
        """Return the reason why the engine cannot run (this network) here, with the remedy; None if it can."""
        ...

    def adapters(self, network: Network | None = None) -> list[Adapter]:
        """Return the adapters that the engine needs (for this network). `open` compiles them if necessary."""
        ...
