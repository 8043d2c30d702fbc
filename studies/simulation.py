"""`causeway.simulation`: a run that the caller pauses, to inspect its nodes and to act on them."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from types import TracebackType
from typing import Any, Generic, Self, TypeVar, overload

from causeway.bridge.validation_kernel import FAR_PS
from causeway.errors import UserError, shown_type
from causeway.network.networks import Network
from causeway.network.workload import Script, Workload
from causeway.pycontrol.loop import Outcome, controlled
from causeway.pycontrol.node import Node, PerNode
from causeway.pycontrol.protocol import Protocol
from causeway.pycontrol.protocol_errors import shown
from causeway.pycontrol.stepping import Pauses
from causeway.studies.contained import contained
from causeway.studies.protocol_study import MakeNetwork, MakeObservers
from causeway.studies.run_request import AnyProtocol, AnyStudy, RunRequest, point_from
from causeway.studies.run_result import Run, of_result
from causeway.studies.runner import Begun, Job

N = TypeVar("N", bound=Node)
INJECTED = 1 << 31
"""The first `number` that `on_broadcast` gets for injected broadcasts."""


class Simulation(Generic[N]):
    """A run that the caller drives. Make one with `simulation`, in a `with` block, which ends it."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._begun: Begun | None = None
        self._run: Generator[None, None, Outcome] | None = None
        self._outcome: Outcome | None = None
        self._injected = 0

    def __enter__(self) -> Self:
        with contained(self._job.study.name), self._job.study_code.watched():
            self._begun = Begun(self._job)
        self._pauses = Pauses(self._begun.spec.reaction_ps)
        self._run = self._begun.run(self._pauses)
        self._go(until_ps=FAR_PS, each_window=True)  # window 0: the nodes exist, and no event has happened
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()

    @property
    def now_ps(self) -> int:
        """The simulated time. All events up to it have happened, and no later ones."""
        return self._pauses.now_ps

    @property
    def nodes(self) -> Sequence[N]:
        """The nodes, for inspection. Use `inject` to act on them."""
        protocol = self._started.protocol
        if not isinstance(protocol, PerNode):
            raise UserError(f"{type(protocol).__name__} has no nodes: it handles all of them as arrays")
        nodes: Any = protocol.nodes
        return tuple(nodes)

    @property
    def is_over(self) -> bool:
        """True if the run has ended."""
        return self._begun is not None and self._run is None

    def step(self) -> bool:
        """Go on to the end of the next window of events; return False if the run is over."""
        return self._go(until_ps=FAR_PS, each_window=True)

    def run_until(self, time_ps: int) -> bool:
        """Go on until all events up to an instant have happened; return False if the run is over.

        Args:
            time_ps: The instant, such as `seconds(2)`.

        Raises:
            UserError: The instant has passed.
        """
        if isinstance(time_ps, bool) or not isinstance(time_ps, int):
            raise UserError(f"run_until takes a time in ps, as seconds(2) gives it, not {shown_type(time_ps)}")
        if time_ps < self.now_ps:
            raise UserError(f"it is {self.now_ps / 1e12:g} s, so that {time_ps / 1e12:g} s have passed")
        return self._go(until_ps=time_ps, each_window=False)

    def inject(self, node: int, handler: Callable[[N], object] | None = None, *, size_bytes: int = 100) -> None:
        """Let a node broadcast, or call a function as one of its handlers.

        The call happens when the simulation goes on: now if the engine still waits for the answer to the present window
        (as after `step`), else at one of the next events; `now_ps` in the handler is the exact time. Actions of the
        node take effect one reaction time later, as always.

        Args:
            node: The node's id.
            handler: Called with the node; None: its `on_broadcast`.
            size_bytes: The size of the message, without `handler`.
        """
        nodes = self.nodes
        if self.is_over or self._pauses.ended:
            raise UserError("no event is left in the run, so that nothing can be injected; a timer keeps it going")
        if not 0 <= node < len(nodes):
            raise UserError(f"there is no node {node}; nodes are 0 to {len(nodes) - 1}")
        if handler is None:
            number = INJECTED + self._injected
            self._injected += 1
            self._pauses.calls.append((node, lambda one: one.on_broadcast(number, size_bytes)))
            return
        if not callable(handler):
            raise UserError(f"inject was given {shown(handler)}; allowed: a function of the node, or None")
        function: Any = handler
        self._pauses.calls.append((node, function))

    def result(self) -> Run[N]:
        """Go on to the end of the run, and return its results."""
        self._go(until_ps=FAR_PS, each_window=False)
        if self._outcome is None:
            raise UserError("the simulation was closed, or failed, before the end of the run; it has no results")
        with contained(self._job.study.name):
            result = self._started.result(self._outcome)
        run: Run[Any] = of_result(result, None)
        return run

    def close(self) -> None:
        """End the run and the simulator's process. The results so far are lost."""
        if self._run is not None:
            run, self._run = self._run, None
            with controlled():
                run.close()

    @property
    def _started(self) -> Begun:
        if self._begun is None:
            raise UserError("the simulation has not begun; write `with causeway.simulation(...) as sim:`")
        return self._begun

    def _go(self, until_ps: int, each_window: bool) -> bool:
        """Go on to the next pause; return False if the run is over."""
        self._started  # noqa: B018
        if (run := self._run) is None:
            return False
        self._pauses.until_ps, self._pauses.each_window = until_ps, each_window
        self._run = None
        with contained(self._job.study.name), self._job.study_code.watched(), controlled():
            try:
                next(run)
            except StopIteration as end:
                self._outcome = end.value
                return False
        self._run = run
        return True


@overload
def simulation(
    protocol: type[N] | Callable[[int], N],
    network: Network | MakeNetwork,
    *,
    broadcasts: Workload | Script | None = None,
    until: int | None = None,
    seed: int = 1,
    engine: str | None = None,
    reaction: int | None = None,
    observers: MakeObservers | None = None,
    params: Mapping[str, Any] | None = None,
) -> Simulation[N]: ...
@overload
def simulation(
    protocol: AnyStudy | type[Protocol] | Callable[[], Protocol],
    network: Network | MakeNetwork | None = None,
    *,
    broadcasts: Workload | Script | None = None,
    until: int | None = None,
    seed: int = 1,
    engine: str | None = None,
    reaction: int | None = None,
    observers: MakeObservers | None = None,
    params: Mapping[str, Any] | None = None,
) -> Simulation[Node]: ...
def simulation(
    protocol: AnyStudy | AnyProtocol,
    network: Network | MakeNetwork | None = None,
    *,
    broadcasts: Workload | Script | None = None,
    until: int | None = None,
    seed: int = 1,
    engine: str | None = None,
    reaction: int | None = None,
    observers: MakeObservers | None = None,
    params: Mapping[str, Any] | None = None,
) -> Simulation[Any]:
    """Return a run that the caller drives, step by step; the arguments are those of `run`.

        with causeway.simulation(Flooder, causeway.AbstractNetwork(20), broadcasts=causeway.poisson(5)) as sim:
            sim.run_until(seconds(2))
            print(sim.nodes[3].heard)
            sim.inject(3)
            run = sim.result()

    The caller may take any time between two steps; in between, clocks and random numbers are the real ones.
    """
    request = RunRequest(protocol, network, broadcasts, until, reaction, observers)
    (job,) = request.jobs([point_from(params)], [seed], engine)
    return Simulation(job)
