"""An asyncio event loop on simulated time. Start reading here.

A loop has a queue of callbacks that are ready, and a heap of callbacks that wait for an instant. The loop itself never
waits: its owner calls `turn` at each event, at the time of `clock.now_ps`, and the loop calls `arm` to request a turn
at a later instant. A simulated node owns a `NodeLoop` (causeway.aio.program_node). `SoloLoop` (causeway.aio.solo) has
no owner: it jumps from instant to instant, for tests.

Time is int64 picoseconds in the loop, and seconds (float) for the program. Callbacks that are due at one instant run in
the order in which they were scheduled, so every run is the same.
"""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import logging
import sys
import weakref
from asyncio import events
from collections import deque
from collections.abc import Callable
from contextvars import Context
from typing import Any, Protocol

from causeway.aio.refusals import Refusals
from causeway.pycontrol.protocol_errors import ProtocolError

S_PS = 10**12
CALLBACKS_AT_ONCE = 1_000_000
"""The maximum number of callbacks at one instant. A program that exceeds it loops without waiting (`while True: await
asyncio.sleep(0)`)."""

log = logging.getLogger("causeway.aio")
_running_loop, _set_running_loop, _set_hooks = (
    events._get_running_loop,
    events._set_running_loop,
    sys.set_asyncgen_hooks,
)
"""asyncio's functions, looked up once because they are called for every event."""


def in_ps(seconds: float) -> int | None:
    """Return seconds in picoseconds; None for `math.inf`, a time that never comes."""
    try:
        return round(seconds * S_PS)
    except OverflowError:
        return None if seconds > 0 else 0


class Clock(Protocol):
    """A clock of simulated time."""

    now_ps: int


def _number(future: Any) -> int:
    loop: Any = future.get_loop()
    return loop.next_number()


class _Numbered:
    """An object whose hash is its number, not its address: a set of such objects has the same order in every run."""

    _order: int

    def __hash__(self) -> int:
        try:
            return self._order
        except AttributeError:
            self._order = _number(self)
            return self._order


class SimulatedTask(_Numbered, asyncio.Task[Any]):
    """A task of a simulated loop."""

    failed_at_ps = -1


class SimulatedFuture(_Numbered, asyncio.Future[Any]):
    """A future of a simulated loop."""


class Counter:
    """A counter for all loops of a run, since tasks of several nodes must not collide in asyncio's own sets."""

    def __init__(self) -> None:
        self.last = 0

    def next(self) -> int:
        """Return the next number."""
        self.last += 1
        return self.last


AnyLoop: Any = asyncio.AbstractEventLoop
"""Not type-checked, since typeshed declares other types for the arguments of callbacks."""


class SimulatedLoop(Refusals, AnyLoop):
    """The event loop, except for its owner and its sockets."""

    name = "the loop"

    def __init__(self, clock: Clock, arm: Callable[[int], None], counter: Counter | None = None) -> None:
        """Make a loop.

        Args:
            clock: The time.
            arm: Requests a call of `woken` at a time in ps; only the last request counts.
            counter: Numbers for tasks and futures, shared by the loops of a run.
        """
        self.clock, self._arm = clock, arm
        self.next_number = (counter or Counter()).next
        self._ready: deque[events.Handle] = deque()
        self._waiting: list[tuple[int, int, Any]] = []
        self._scheduled = 0
        self._cancelled = 0
        self._armed_ps = -1
        self._reached_s = 0.0
        """The latest exact time of a timer that has run. It is less than a picosecond after the timer's instant."""
        self._running = self._closed = self._debug = self._stopping = False
        self._tasks: dict[SimulatedTask, None] = {}
        self._failed: list[weakref.ref[SimulatedTask]] = []
        self._task_factory: Callable[..., Any] | None = None
        self._tasks_made = 0
        self._exception_handler: Callable[..., Any] | None = None
        self._asyncgens: dict[int, Any] = {}
        self._hooks = self._on_first_iteration, self._on_finalize
        self.slow_callback_duration = 0.1

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.name} at {self.time():g} s>"

    # ---- time -----------------------------------------------------------------------------------------------------
    def time(self) -> float:
        """Return the simulated seconds since the beginning of the run.

        In the callback of a timer, they are never less than the timer's time. Floats are finer than picoseconds: a
        program may set a timer to 0.3000000000000004 s and compare the time in its callback. Otherwise it would find
        the time too early and set the timer again, for ever.
        """
        now_s = self.clock.now_ps / S_PS
        return now_s if now_s >= self._reached_s else self._reached_s

    def call_later(
        self, delay: float, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        """Call a function after a delay in seconds."""
        if delay is None:
            raise TypeError("delay must not be None")
        after_ps = in_ps(delay)
        due_ps = None if after_ps is None else self.clock.now_ps + after_ps
        return self._schedule(due_ps, self.time() + delay, callback, args, context)

    def call_at(
        self, when: float, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        """Call a function at a time in seconds."""
        if when is None:
            raise TypeError("when cannot be None")
        return self._schedule(in_ps(when), when, callback, args, context)

    def call_at_ps(self, due_ps: int, callback: Callable[..., Any], *args: Any) -> asyncio.TimerHandle:
        """Call a function at an exact time. Only the owner calls it."""
        return self._schedule(due_ps, due_ps / S_PS, callback, args, None)

    def _schedule(
        self, due_ps: int | None, when: float, callback: Callable[..., Any], args: tuple[Any, ...],
        context: Context | None,
    ) -> asyncio.TimerHandle:  # fmt: skip
        """Return a timer for an exact time. A timer for None is never due."""
        if not self._running:
            self._check_called_from_inside()
        timer: Any = asyncio.TimerHandle(when, callback, args, self, context)
        if due_ps is None:
            return timer
        timer._scheduled = True  # makes `cancel` call `_timer_handle_cancelled`
        self._scheduled += 1
        heapq.heappush(self._waiting, (due_ps, self._scheduled, timer))
        return timer

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """Remove cancelled timers (timeouts that did not happen) when they are the majority of the heap.

        TimerHandle.cancel calls this method.
        """
        self._cancelled += 1
        if self._cancelled > 50 and 2 * self._cancelled > len(self._waiting):
            self._waiting = [row for row in self._waiting if not row[2]._cancelled]
            heapq.heapify(self._waiting)
            self._cancelled = 0

    def datagram_refused(self, error: OSError) -> None:
        """Record a datagram that could not be sent. asyncio reports it only to the program, which often ignores it."""

    # ---- callbacks ------------------------------------------------------------------------------------------------
    def call_soon(self, callback: Callable[..., Any], *args: Any, context: Context | None = None) -> asyncio.Handle:
        """Call a function in this turn or the next."""
        if not self._running:
            self._check_called_from_inside()
        if self._debug and (asyncio.iscoroutine(callback) or asyncio.iscoroutinefunction(callback)):
            raise TypeError("coroutines cannot be used with call_soon()")
        handle = events.Handle(callback, args, self, context)
        self._ready.append(handle)
        return handle

    call_soon_threadsafe = call_soon
    """The loop has only one thread."""

    def _check_called_from_inside(self) -> None:
        """Check a call from outside a turn. Owners override it."""
        self._check_closed()

    def inject(self, callback: Callable[..., Any], *args: Any, context: Context | None = None) -> None:
        """Call a function in the next `turn`, because of an event outside the loop. Only the owner calls it."""
        self._ready.append(events.Handle(callback, args, self, context))

    def turn(self, first: Callable[..., None] | None = None, *args: Any) -> None:
        """Run all callbacks that are ready, and those that become ready meanwhile.

        Args:
            first: The reason for the turn, called with `args` before the callbacks.
            *args: Its arguments.
        """
        if self._closed:
            return
        before = _running_loop()
        _set_running_loop(self)
        _set_hooks(*self._hooks)
        self._running = True
        try:
            if first is not None:
                first(*args)
            if self._ready or self._waiting:
                self._run_ready()
        finally:
            self._running = False
            _set_running_loop(before)
        if self._waiting:
            self._arm_next()

    def _run_ready(self) -> None:
        ready, waiting, now_ps = self._ready, self._waiting, self.clock.now_ps
        left = CALLBACKS_AT_ONCE
        while True:
            while waiting and waiting[0][0] <= now_ps:
                timer = heapq.heappop(waiting)[2]
                timer._scheduled = False
                if timer._cancelled:
                    self._cancelled -= 1
                else:
                    ready.append(timer)
                    if timer._when > self._reached_s:
                        self._reached_s = timer._when
            if not ready:
                return
            left -= len(ready)
            for _ in range(len(ready)):
                handle = ready.popleft()
                if not handle._cancelled:
                    handle._run()
            if self._stopping:
                return
            if left < 0:
                raise ProtocolError(self._spin_error(handle))
            waiting = self._waiting  # `_timer_handle_cancelled` may have made a new one

    def _spin_error(self, handle: Any) -> str:
        task = getattr(handle._callback, "__self__", None)
        who = getattr(task.get_coro(), "__qualname__", "") if isinstance(task, asyncio.Task) else repr(handle)
        return (
            f"{self.name} ran {CALLBACKS_AT_ONCE:,} callbacks at {self.time():g} s while no time passed: {who} seems "
            f"to loop without waiting; simulated time passes only in sleeps, timeouts and packets"
        )

    def _arm_next(self) -> None:
        waiting = self._waiting
        while waiting and waiting[0][2]._cancelled:
            heapq.heappop(waiting)
            self._cancelled -= 1
        if waiting and (self._armed_ps < 0 or waiting[0][0] < self._armed_ps):
            self._armed_ps = waiting[0][0]
            self._arm(self._armed_ps)

    def woken(self) -> None:
        """Run a turn at the instant for which `arm` was called."""
        self._armed_ps = -1
        self.turn()

    # ---- tasks and futures ----------------------------------------------------------------------------------------
    def create_future(self) -> asyncio.Future[Any]:
        """Return a future of this loop."""
        return SimulatedFuture(loop=self)

    def create_task(self, coro: Any, *, name: str | None = None, context: Context | None = None) -> asyncio.Task[Any]:
        """Return a task of this loop."""
        self._check_closed()
        if self._task_factory is not None:
            task = (
                self._task_factory(self, coro) if context is None else self._task_factory(self, coro, context=context)
            )
            if name is not None and hasattr(task, "set_name"):
                task.set_name(name)
            return task
        self._tasks_made += 1
        task = SimulatedTask(coro, loop=self, name=name or f"Task-{self._tasks_made}", context=context)
        self._tasks[task] = None
        task.add_done_callback(self._task_is_done)
        return task

    def _task_is_done(self, task: SimulatedTask) -> None:
        """Record the time at which a task failed, since its error may be found later, when the task is collected."""
        self._tasks.pop(task, None)
        if not task.cancelled() and task._exception is not None:  # not exception(), which marks it as retrieved
            task.failed_at_ps = self.clock.now_ps
            self._failed.append(weakref.ref(task))

    def forgotten_failures(self) -> list[SimulatedTask]:
        """Return the tasks that failed and whose error was never retrieved."""
        failed = [task for ref in self._failed if (task := ref()) is not None]
        return [task for task in failed if task._log_traceback]

    def pending_tasks(self) -> list[SimulatedTask]:
        """Return the tasks that have not ended, in order of creation."""
        return list(self._tasks)

    def close_tasks(self) -> None:
        """Close all tasks that have not ended, after the run."""
        self._closed = True
        self._ready.clear()
        self._waiting.clear()
        task: Any
        for task in self.pending_tasks():
            task._log_destroy_pending = False
            with contextlib.suppress(BaseException):
                task.get_coro().close()
        self._tasks.clear()

    def set_task_factory(self, factory: Callable[..., Any] | None) -> None:
        """Set the factory of tasks; None for the loop's own."""
        if factory is not None and not callable(factory):
            raise TypeError("task factory must be a callable or None")
        self._task_factory = factory

    def get_task_factory(self) -> Callable[..., Any] | None:
        """Return the factory of tasks."""
        return self._task_factory

    # ---- asynchronous generators ----------------------------------------------------------------------------------
    def _on_first_iteration(self, agen: Any) -> None:
        key = id(agen)
        self._asyncgens[key] = weakref.ref(agen, lambda _: self._asyncgens.pop(key, None))

    def _on_finalize(self, agen: Any) -> None:
        """Close an asynchronous generator that was garbage-collected, in a task of this loop."""
        self._asyncgens.pop(id(agen), None)
        if not self._closed:
            self.inject(lambda: self.create_task(agen.aclose()))

    async def shutdown_asyncgens(self) -> None:
        """Close all asynchronous generators."""
        left = [agen for ref in self._asyncgens.values() if (agen := ref()) is not None]
        self._asyncgens.clear()
        results = await asyncio.gather(*(agen.aclose() for agen in left), return_exceptions=True)
        for result, agen in zip(results, left, strict=True):
            if isinstance(result, Exception):
                message = f"an error occurred during closing of asynchronous generator {agen!r}"
                self.call_exception_handler({"message": message, "exception": result, "asyncgen": agen})

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:
        """Do nothing, since there is no executor."""

    # ---- errors ---------------------------------------------------------------------------------------------------
    def set_exception_handler(self, handler: Callable[..., Any] | None) -> None:
        """Set the handler of unhandled errors; None for the default one."""
        if handler is not None and not callable(handler):
            raise TypeError(f"A callable object or None is expected, got {handler!r}")
        self._exception_handler = handler

    def get_exception_handler(self) -> Callable[..., Any] | None:
        """Return the handler of unhandled errors."""
        return self._exception_handler

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """Call the handler of unhandled errors."""
        if self._exception_handler is None:
            self.default_exception_handler(context)
            return
        try:
            self._exception_handler(self, context)
        except (SystemExit, KeyboardInterrupt):
            raise
        except BaseException as error:
            message = "Unhandled error in exception handler"
            self.default_exception_handler({"message": message, "exception": error, "context": context})

    def default_exception_handler(self, context: dict[str, Any]) -> None:
        """Log an unhandled error."""
        error = context.get("exception")
        info = (type(error), error, error.__traceback__) if error is not None else False
        log.error("%s: %s", self.name, context.get("message") or "unhandled exception", exc_info=info)

    # ---- state ----------------------------------------------------------------------------------------------------
    def is_running(self) -> bool:
        """Return whether a turn is going on."""
        return self._running

    def is_closed(self) -> bool:
        """Return whether the loop is closed."""
        return self._closed

    def _check_closed(self) -> None:
        if self._closed:
            raise RuntimeError("Event loop is closed")

    def close(self) -> None:
        """Close the loop and drop its callbacks."""
        if self._running:
            raise RuntimeError("Cannot close a running event loop")
        self._closed = True
        self._ready.clear()
        self._waiting.clear()

    def get_debug(self) -> bool:
        """Return whether debug mode is on."""
        return self._debug

    def set_debug(self, enabled: bool) -> None:
        """Set debug mode."""
        self._debug = enabled
