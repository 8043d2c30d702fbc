"""asyncio programs as a protocol: `Programs(main)` runs `main(node)` on every node."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Literal

from causeway.aio import environment
from causeway.aio.event_loop import Counter
from causeway.aio.names import Names
from causeway.aio.packets import DATAGRAM_HEADER_BYTES, MAX_DATAGRAM_BYTES
from causeway.aio.program_node import NodeLoop, ProgramNode, program_error
from causeway.aio.tcp import Pair, Tcp
from causeway.bridge.events import Actions, Window
from causeway.errors import RunError, UserError
from causeway.network.field_shapes import WHOLE
from causeway.network.networks import AbstractNetwork
from causeway.pycontrol.node import PerNode
from causeway.pycontrol.protocol import Context
from causeway.pycontrol.protocol_errors import shown
from causeway.pycontrol.run_trace import is_foreign_file, wanted
from causeway.signatures import checked_arguments

Main = Callable[[ProgramNode], Coroutine[Any, Any, Any]]


@checked_arguments
class Programs(PerNode):
    """Runs the coroutine `main(node)` on every node, each with a separate event loop in simulated time.

    Args:
        main: The program.
        errors: "end" to end the run at an error that the program does not handle, "keep" to keep it in `failures`.
        mtu_bytes: The size of the largest datagram.
        executor: "refuse" to refuse functions for a thread, "at once" to call them directly.
    """

    can_be_copied = False

    def __init__(
        self, main: Main, *, errors: Literal["end", "keep"] = "end",
        mtu_bytes: int = MAX_DATAGRAM_BYTES - DATAGRAM_HEADER_BYTES,
        executor: Literal["refuse", "at once"] = "refuse",
    ) -> None:  # fmt: skip
        for name, value, fits, allowed in (
            ("main", main, callable(main), "a coroutine function of a node"),
            ("errors", errors, errors in ("end", "keep"), "'end', 'keep'"),
            ("mtu_bytes", mtu_bytes, WHOLE.fits(mtu_bytes) and mtu_bytes > 0, "a whole number above 0"),
            ("executor", executor, executor in ("refuse", "at once"), "'refuse', 'at once'"),
        ):
            if not fits:
                raise UserError(f"Programs: {name} is {shown(value)}; allowed: {allowed}")
        super().__init__(lambda id_: ProgramNode(id_, self))
        self.main, self.errors, self.mtu_bytes, self.executor = main, errors, mtu_bytes, executor
        self.counter = Counter()
        self.results: dict[int, Any] = {}
        """The results of `main`, by node."""
        self.failures: list[RunError] = []
        self.refused_datagrams = 0
        """The number of datagrams that could not be sent: too long, or to an address without a node."""
        self.pending: list[str] = []
        """Descriptions of the tasks that had not ended when the run did."""
        self.params: Any = None
        """The parameters of the study, for `node.params`."""
        self.trace = wanted()
        self._pairs: dict[int, Pair] | None = None
        """TCP connections of the simulator by number; None if it has no TCP."""
        self._wires: frozenset[tuple[int, int]] = frozenset()
        self.over = False
        self.fault: RunError | None = None
        self._buried: list[NodeLoop] = []

    # ---- called by the loop ---------------------------------------------------------------------------------------
    def start(self, context: Context) -> None:
        """Start the nodes."""
        self.names = Names(context.nodes)
        if not isinstance(context.network, AbstractNetwork):
            self._pairs = {}
            wires = getattr(context.network, "wires", ())
            self._wires = frozenset(pair for a, b in wires for pair in ((a, b), (b, a)))
        self._environment = environment.Environment()
        try:
            super().start(context)
        except BaseException as error:
            raise self._ended_by(error) from error.__cause__

    def on_window(self, window: Window) -> Actions:
        """Run the handlers of the nodes."""
        try:
            return super().on_window(window)
        except BaseException as error:
            raise self._ended_by(error) from error.__cause__

    def scalars(self) -> Mapping[str, float]:
        """Record the pending tasks at the end of the run, report errors that nothing awaited, and return the counts."""
        self._environment.leave()
        self.pending = [f"{node.name}: {_describe(task)}" for node in self._programs() for task in _pending(node)]
        try:
            self._report_forgotten_errors()
        finally:
            self._end()
        tasks = {
            "pending_tasks": len(self.pending),
            "failed_tasks": len(self.failures),
            "mains_ended": len(self.results),
            "refused_datagrams": self.refused_datagrams,
        }
        return {**super().scalars(), **tasks}

    def discard(self) -> None:
        """Close the programs of a run that failed."""
        self._end()

    # ---- called by the nodes --------------------------------------------------------------------------------------
    def tcp_of(self, node: ProgramNode) -> Tcp | None:
        """Return the simulator's TCP of a node, if it has one."""
        return Tcp(node, self._pairs, self._wires) if self._pairs is not None else None

    def report(self, node: ProgramNode, what: str, content: Any) -> None:
        """Add an event to the trace, which is used to compare two runs."""
        if self.trace is not None:
            self.trace.add(self.now_ps, node.name, what, content)

    def failed(self, node: ProgramNode, error: BaseException | None, what: str, task: Any) -> None:
        """Record an error that the program did not handle."""
        if self.over:
            return
        fault = error if isinstance(error, RunError) else program_error(node, self.now_ps, error, what, task)
        self.failures.append(fault)
        if self.errors == "end" and self.fault is None:
            fault.__cause__ = error if error is not fault else None
            self.fault = fault

    def check(self) -> None:
        """Raise the error of a program that failed."""
        if self.fault is not None:
            raise self.fault

    def keep_tasks_of(self, loop: NodeLoop) -> None:
        """Keep the tasks of a failed node, so that their `finally` blocks do not run when Python collects them."""
        loop._closed = True
        self._buried.append(loop)

    # ---- inside ---------------------------------------------------------------------------------------------------
    def _programs(self) -> list[ProgramNode]:
        return [node for node in self.nodes if isinstance(node, ProgramNode)]

    def _ended_by(self, error: BaseException) -> BaseException:
        self._end()
        if isinstance(error.__cause__, SystemExit):
            return RunError(f"a program called sys.exit({error.__cause__.code}) in a task: return from main instead")
        return error

    def _end(self) -> None:
        """Close all programs. Their calls have no effect from now on."""
        self._environment.leave()
        self.over = True
        for loop in self._loops():
            loop.close_tasks()
        self._buried.clear()

    def _loops(self) -> list[NodeLoop]:
        return [*self._buried, *(node.loop for node in self._programs() if node.loop is not None)]

    def _report_forgotten_errors(self) -> None:
        """Report the errors of tasks that failed and were never awaited, even if the program still holds them."""
        for loop in self._loops():
            for task in loop.forgotten_failures():
                self.failed(loop.program, task.exception(), "a task that was never awaited", task)
        gc.collect()
        self.check()


def _pending(node: ProgramNode) -> list[asyncio.Task[Any]]:
    return list(node.loop.pending_tasks()) if node.loop is not None else []


def _describe(task: asyncio.Task[Any]) -> str:
    """Return a task's name, its coroutine, and the program's line where it waits."""
    coroutine: Any = task.get_coro()
    name: Any = "main" if task.get_name().startswith("main of ") else getattr(coroutine, "__qualname__", coroutine)
    line = _waits_at(coroutine)
    return f"{task.get_name()} ({name}){f' at {line}' if line else ''}"


def _waits_at(coroutine: Any) -> str:
    """Return the innermost line of the program's own code (or of its libraries) in a chain of awaits."""
    line = ""
    while coroutine is not None:
        frame: Any = getattr(coroutine, "cr_frame", None) or getattr(coroutine, "gi_frame", None)
        frame = frame or getattr(coroutine, "ag_frame", None)
        if frame is not None and not is_foreign_file(frame.f_code.co_filename):
            line = f"{frame.f_code.co_filename}:{frame.f_lineno}"
        coroutine = getattr(coroutine, "cr_await", None) or getattr(coroutine, "gi_yieldfrom", None)
    return line
