"""A run that its caller controls: begin it, continue to the next pause, get its results, end it."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import ExitStack
from typing import Any, Generic, TypeVar

from causeway.bridge.engine import RunSpec
from causeway.bridge.memory import Allowance
from causeway.errors import UserError
from causeway.pycontrol.confined import confined
from causeway.pycontrol.loop import Outcome, Steps, controlled
from causeway.pycontrol.node import Node, PerNode
from causeway.pycontrol.protocol import Protocol
from causeway.studies.contained import contained
from causeway.studies.run_result import Run, of_result
from causeway.studies.run_warnings import print_warnings
from causeway.studies.runner import Job, StartedRun

N = TypeVar("N", bound=Node)


class SteppedRun(Generic[N]):
    """A run that pauses at the points of its `Steps`."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._begun: StartedRun | None = None
        self._run: Generator[None, None, Outcome] | None = None
        self._outcome: Outcome | None = None
        self._memory: Allowance | None = None
        self._until_end = ExitStack()

    @property
    def nodes(self) -> Sequence[N]:
        """The nodes, for inspection."""
        protocol = self._started.protocol
        if not isinstance(protocol, PerNode):
            raise UserError(
                f"{type(protocol).__name__} has no node objects: it handles all nodes as arrays; see sim.protocol"
            )
        nodes: Any = protocol.nodes
        return tuple(nodes)

    @property
    def protocol(self) -> Protocol:
        """The protocol, for inspection: `timers` and `kept_packets` of a PerNode, arrays of a vectorized protocol."""
        return self._started.protocol

    @property
    def is_over(self) -> bool:
        """True if the run has ended."""
        return self._begun is not None and self._run is None

    def close(self) -> None:
        """End the run and the process of the simulator. The results so far are lost."""
        if self._run is not None:
            run, self._run = self._run, None
            with self._until_end, controlled(self._memory):
                run.close()

    @property
    def _started(self) -> StartedRun:
        if self._begun is None:
            raise UserError("the simulation has not begun; write `with causeway.simulation(...) as sim:`")
        return self._begun

    def _prepare(self) -> RunSpec:
        """Make the protocol and the description of the run."""
        with contained(self._job.study.name), self._job.study_code.watched():
            self._begun = StartedRun(self._job)
        return self._begun.spec

    def _begin(self, steps: Steps) -> None:
        """Begin the run; it stops before its first event.

        The stand-ins for clocks and the like stay in place at pauses, where they call the real functions: to replace
        hundreds of functions at each pause would take milliseconds.
        """
        self._memory = Allowance()
        self._until_end.enter_context(confined())
        self._run = self._started.run(steps)

    def _advance(self) -> bool:
        """Continue to the next pause; return False if the run is over."""
        self._started  # noqa: B018
        if (run := self._run) is None:
            return False
        self._run = None
        try:
            with contained(self._job.study.name), self._job.study_code.watched(), controlled(self._memory):
                try:
                    next(run)
                except StopIteration as end:
                    self._outcome = end.value
                    return False
            self._run = run
            return True
        finally:
            if self._run is None:
                self._until_end.close()

    def _result(self) -> Run[N]:
        """Return the results of the finished run."""
        if self._outcome is None:
            raise UserError("the simulation was closed or failed before the end of the run, so it has no results")
        with contained(self._job.study.name):
            result = self._started.result(self._outcome)
        print_warnings([result.warnings])
        run: Run[Any] = of_result(result, None)
        return run
