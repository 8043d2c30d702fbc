"""What an engine is: something that runs a network and trades windows for actions.

An engine is one file in `bridge/engines/` and one line in its registry. It is given a `RunSpec` and opens a `Session`;
`pycontrol/loop.py` is the only caller.

The first window of every run (number 0) is empty, ends at 0 and wants a reply: its answer holds what the nodes do at
their start, in effect at the reaction time. From then on the engine runs to the first active event at t0, goes on to
t0 + L (or stops early, at a full instant, once the cap is reached) and sends everything before that instant. Windows
that hold only passive events want no reply, so the engine may run ahead of the controller there (an engine in another
process asks for an empty reply now and then, so as not to run too far ahead).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from causeway.bridge.edges import Edge
from causeway.bridge.events import Actions, Window
from causeway.bridge.network import AbstractNetwork, Network
from causeway.bridge.schema import words


@dataclass(frozen=True)
class RunSpec:
    """Everything an engine must know of one run. It is also what the handshake carries."""

    study: str
    parameters: Mapping[str, Any]
    seed: int
    network: Network
    reaction_ps: int
    """L: what a node does because of an event at t takes effect at t + L exactly. Greater than 0."""
    duration_ps: int = 0
    """The run ends here; 0: when nothing is left to happen."""
    cap: int = 0
    """A window closes at the next full instant once it holds this many events; 0: no cap."""
    passive_kinds: int = 0
    """Bit k set: events of kind k need not close a window (the protocol never acts on them)."""
    channels: tuple[str, ...] = ()
    record_to: Path | None = None
    """Where to keep the frames of the run, for `replay`."""
    deadline_s: float = 60.0
    """How long either side waits for the other before it calls it dead."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """What only this engine understands (e.g. another omnetpp.ini)."""

    @property
    def tells_all_copies(self) -> bool:
        """Whether every copy of a packet ends in an ARRIVAL or LOST event: on the abstract network, unless somebody's
        own ini file builds another one in its place."""
        return isinstance(self.network, AbstractNetwork) and "ini" not in self.options


def result_name(spec: RunSpec) -> str:
    """What a simulator's own result files of a run are called (option `result_name`), without a suffix."""
    return str(spec.options.get("result_name") or f"{Path(spec.study).stem}-{spec.seed}")


NOTHING_LEFT = words("End", "NOTHING_LEFT")
DURATION_OVER = words("End", "DURATION_OVER")
STOPPED = words("End", "STOPPED")
BY_SIMULATION = words("End", "BY_SIMULATION")
"""Why a run ended."""


NODE_NUMBER = "node"
"""The scalar with which a simulator says which node a module of somebody's own network is."""


@dataclass(frozen=True)
class Finish:
    """How a run ended, and what the engine itself measured: (module, name) -> value."""

    reason: str
    end_ps: int
    events: int
    scalars: Mapping[tuple[str, str], float] = field(default_factory=dict)
    waited_s: float = field(default=0.0, compare=False)
    """Wall time in which the simulator did nothing but wait for answers."""

    @property
    def nodes(self) -> dict[int, str]:
        """Return the module path of each node, as the network's own simulator names them; empty where it does not."""
        found = {int(value): module for (module, name), value in self.scalars.items() if name == NODE_NUMBER}
        return dict(sorted(found.items()))

    @property
    def measured(self) -> dict[tuple[str, str], float]:
        """Return the scalars that are measurements."""
        return {key: value for key, value in self.scalars.items() if key[1] != NODE_NUMBER}


class Session(Protocol):
    """One run in progress."""

    engine: str
    engine_version: str

    def next(self) -> Window | Finish:
        """The next window, or how the run ended. Blocks until the engine has one (bounded by the deadline)."""
        ...

    def answer(self, actions: Actions) -> None:
        """The controller's answer to a window with `reply`. Every such window must be answered before `next`."""
        ...

    def close(self) -> None:
        """Ends the run whatever its state; leaves no process, socket or file behind. May be called twice."""
        ...


class Engine(Protocol):
    """A way to run a network."""

    name: str
    networks: tuple[type, ...]
    """The kinds of networks it builds. Of mobile ones, only those whose radio is in its `radios`."""

    def open(self, spec: RunSpec) -> Session:
        """Begins a run."""
        ...

    def missing(self, network: Network | None = None) -> str | None:
        """Why the engine cannot run (this network) here and what to do about it, in one line; None if it can."""
        ...

    def edges(self) -> list[Edge]:
        """The edges that it needs. `open` compiles what is not compiled yet; `bridge.edges.build` does it before."""
        ...
