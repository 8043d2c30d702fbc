"""A simulated node that runs a program: `NodeLoop` is its event loop, `ProgramNode` is the argument of `main`."""

from __future__ import annotations

import asyncio
import random
import sys
import traceback
from asyncio import events
from typing import TYPE_CHECKING, Any, NamedTuple

from causeway.aio.event_loop import S_PS, log
from causeway.aio.names import address_of, name_of
from causeway.aio.networked import NetworkedLoop
from causeway.aio.stack import Stack
from causeway.proto.contract import constant
from causeway.pycontrol.node import Node
from causeway.pycontrol.protocol_errors import ProtocolError
from causeway.pycontrol.run_trace import user_line

if TYPE_CHECKING:
    from causeway.aio.programs import Programs

WAKE = "wake"
LATEST_PS = constant("LATEST_PS")


class NodeLoop(NetworkedLoop):
    """The event loop of one node, from the time it comes up until it fails."""

    def __init__(self, node: ProgramNode, programs: Programs) -> None:
        super().__init__(programs, node.wake_at, programs.counter)
        self.node, self.name, self.calls_in_place = node.id, node.name, programs.executor == "at once"
        self.program = node
        self._life = node.life
        context = programs.context
        self.stack = Stack(
            node.id, self, programs.names, node.transmit, context.reaction_ps, self.chance_of("stack"),
            programs.mtu_bytes, programs.tcp_of(node),
        )  # fmt: skip
        self.receivers = self.stack.receivers

    def chance_of(self, what: str) -> random.Random:
        """Return a random generator for one use, from the run's seed."""
        return random.Random(f"{self.program.programs.context.seed}/{self.node}/{self._life}/{what}")

    def _check_called_from_inside(self) -> None:
        self._check_closed()
        other = events._get_running_loop()
        if other is not None and other is not self and isinstance(other, NodeLoop):
            raise ProtocolError(
                f"{other.name} at {self.time():g} s used a task or future of {self.name}: nodes share only the "
                f"network; keep a node's objects in its main, not in variables of the module"
            )

    def datagram_refused(self, error: OSError) -> None:
        """Count a datagram that could not be sent, and warn about the first one of the run."""
        programs = self.program.programs
        programs.refused_datagrams += 1
        if programs.refused_datagrams == 1:
            line = user_line(sys._getframe())
            log.warning("a datagram was not sent: %s (%s); the scalar refused_datagrams counts them", error, line)

    def default_exception_handler(self, context: dict[str, Any]) -> None:
        """Pass an error that the program did not handle on to the run."""
        error, task = context.get("exception"), context.get("task") or context.get("future")
        if isinstance(error, asyncio.CancelledError):  # in Python 3.11, asyncio's streams report cancelled tasks
            return
        self.program.programs.failed(self.program, error, context.get("message", ""), task)


class Place(NamedTuple):
    """The position of a node. `station` is the nearest station in reach, or -1."""

    station: int
    x_m: float
    y_m: float
    z_m: float = 0.0
    """The height."""


class ProgramNode(Node):
    """A node whose handlers drive the event loop of its program. The program gets it as the argument of `main`."""

    not_state = frozenset({"programs", "loop", "runtime", "_requests"})

    def __init__(self, id_: int, programs: Programs) -> None:
        super().__init__()
        self.programs = programs
        self.name, self.address = name_of(id_), address_of(id_)
        self.life = 0
        """The number of times that the node has recovered from a failure."""
        self.loop: NodeLoop | None = None
        self.store: dict[Any, Any] = {}
        """The node's disk: a dict that survives a failure."""
        self.place: Place | None = None
        self._requests: asyncio.Queue[tuple[int, int]] = asyncio.Queue()

    def __repr__(self) -> str:
        return f"<{self.name}>"

    # ---- for programs ---------------------------------------------------------------------------------------------
    @property
    def nodes(self) -> int:  # type: ignore[override]  # programs have always had the number here
        """The number of nodes."""
        return self.programs.names.nodes

    @property
    def params(self) -> Any:
        """The study's parameters."""
        return self.programs.params

    @property
    def drew(self) -> bool:
        """True if the program has drawn random numbers since the node was last started."""
        return self.loop is not None and self.loop.has_drawn

    def address_of(self, node: int) -> str:
        """Return the address of another node."""
        return address_of(node)

    async def asked(self) -> tuple[int, int]:
        """Wait until the study's workload requests a broadcast of this node.

        Return (number of the broadcast, size in bytes).
        """
        return await self._requests.get()

    def new_message(self) -> int:
        """Report the broadcast of a new message to the observers, and return its id. No packet is sent."""
        if self.programs.over:
            return -1
        message = super().new_message()
        self.programs.report(self, "broadcast", message)
        return message

    def deliver(self, message: int) -> None:
        """Report the delivery of a message to the observers."""
        if not self.programs.over:
            self.programs.report(self, "deliver", message)
            super().deliver(message)

    def record(self, name: str, value: float) -> None:
        """Add a sample to this node's time series `name`."""
        if not self.programs.over:
            self.programs.report(self, f"record {name}", value)
            super().record(name, value)

    # ---- handlers -------------------------------------------------------------------------------------------------
    def on_start(self) -> None:
        """Start the program."""
        self._begin()

    def on_packet(self, content: Any, sender: int, interface: int) -> None:
        """Pass a packet to the stack."""
        loop = self.loop
        if loop is not None:
            loop.turn(loop.receivers[type(content)], sender, content)
            if self.programs.fault is not None:
                self.programs.check()

    def on_timer(self, key: Any) -> None:
        """Run the callbacks of the loop that are due."""
        if self.loop is not None:
            self.loop.woken()
            self.programs.check()

    def on_broadcast(self, number: int, size_bytes: int) -> None:
        """Queue a broadcast of the workload for `asked`."""
        if self.loop is not None:
            self.loop.turn(self._requests.put_nowait, (number, size_bytes))
            self.programs.check()

    def on_connection(self, kind: int, connection: int, arg: int) -> None:
        """Pass an event of the simulator's TCP to the stack."""
        if self.loop is not None:
            self.loop.turn(self.loop.stack.streams.on_event, kind, connection, arg)
            self.programs.check()

    def on_station(self, station: int, x_mm: int, y_mm: int, z_mm: int = 0) -> None:
        """Store the position."""
        self.place = Place(station, x_mm / 1000, y_mm / 1000, z_mm / 1000)

    def on_down(self) -> None:
        """Stop the program without running its `finally` blocks, as in a power failure."""
        if self.loop is not None:
            self.loop.stack.streams.power_off()
            self.programs.keep_tasks_of(self.loop)
            self.loop = None

    def on_up(self) -> None:
        """Start the program again."""
        self.life += 1
        self._begin()

    # ---- inside ---------------------------------------------------------------------------------------------------
    def _begin(self) -> None:
        self._requests = asyncio.Queue()
        self.loop = loop = NodeLoop(self, self.programs)
        loop.turn(self._start_program, loop)
        self.programs.check()

    def _start_program(self, loop: NodeLoop) -> None:
        loop.create_task(self._run_program(loop), name=f"main of {self.name}")

    async def _run_program(self, loop: NodeLoop) -> None:
        """Run the program from its start to its end, as asyncio.run does."""
        try:
            self.programs.results[self.id] = await self.programs.main(self)
        except (GeneratorExit, KeyboardInterrupt):
            raise
        except BaseException as error:
            self.programs.failed(self, error, "main", asyncio.current_task())
        me = asyncio.current_task()
        others = [task for task in loop.pending_tasks() if task is not me]
        for task in others:
            task.cancel()
        for result in await asyncio.gather(*others, return_exceptions=True):
            if isinstance(result, Exception):
                self.programs.failed(self, result, "a task that was cancelled at the end of main", None)
        await loop.shutdown_asyncgens()
        loop.stack.close()

    def transmit(self, peer: int, content: Any, size_bytes: int) -> None:
        """Send a packet of the stack."""
        if self.programs.trace is not None:  # making the text takes time
            self.programs.report(self, f"send to {name_of(peer) if peer >= 0 else 'everyone'}", content)
        self.runtime.send(self.id, peer, content, size_bytes, 0, 0)

    def wake_at(self, due_ps: int) -> None:
        """Set the loop's timer to an exact time that is at least one reaction time from now."""
        if due_ps <= LATEST_PS:
            self.set_timer(WAKE, max(0, due_ps - self.now_ps - self.programs.context.reaction_ps))


def program_error(node: ProgramNode, now_ps: int, error: BaseException | None, what: str, task: Any) -> ProtocolError:
    """Return the error that ends a run because of a program's error.

    It names the node, the time, the task and the error, and shows the program's traceback.
    """
    at_ps = getattr(task, "failed_at_ps", -1)
    where = f" in task {task.get_name()}" if isinstance(task, asyncio.Task) else ""
    head = f"{node.name} at {(at_ps if at_ps >= 0 else now_ps) / S_PS:g} s{where}: "
    if error is None:
        return ProtocolError(head + what)
    text = "".join(traceback.format_exception(_from_program(error)))
    return ProtocolError(f"{head}{type(error).__name__}: {error} ({what})\n{text.rstrip()}")


def _from_program(error: BaseException) -> BaseException:
    """Return the error with its traceback from the program's first line on."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None and trace.tb_frame.f_code.co_name == "_run_program":
        trace = trace.tb_next
    return error.with_traceback(trace)
