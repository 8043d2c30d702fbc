"""An asyncio event loop on simulated time: the scheduler. Start reading here.

A loop owns a queue of callbacks that are ready and a heap of those that wait for an instant. It never waits itself:
whoever owns it calls `turn` when something has happened, at the time of `clock.now_ps`, and is asked through `arm` to
call again at an instant. `NodeLoop` (causeway.aio.node) is owned by a simulated node, `SoloLoop` (causeway.aio.solo) by
nobody: it jumps from instant to instant, as tests want it.

Time is int64 picoseconds inside and seconds (float) towards the program. Callbacks that are due at one instant run in
the order in which they were scheduled, so that a run is the same every time.
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
from causeway.pycontrol.mistakes import ProtocolError

S_PS = 10**12
CALLBACKS_AT_ONCE = 1_000_000
"""So many callbacks at one instant are a program that spins (`while True: await asyncio.sleep(0)`)."""

log = logging.getLogger("causeway.aio")
_running_loop, _set_running_loop, _set_hooks = (
    events._get_running_loop,
    events._set_running_loop,
    sys.set_asyncgen_hooks,
)
"""Called once for every event."""


class Clock(Protocol):
    """What knows the time."""

    now_ps: int


def _number(future: Any) -> int:
    loop: Any = future.get_loop()
    return loop.next_number()


class _Numbered:
    """Its hash is its number, not its address: a set of such has the same order in every run."""

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
    """A future of one."""


class Counter:
    """Numbers for all loops of a run: tasks of several nodes must not collide in asyncio's own sets."""

    def __init__(self) -> None:
        self.last = 0

    def next(self) -> int:
        self.last += 1
        return self.last


AnyLoop: Any = asyncio.AbstractEventLoop
"""Not checked: typeshed gives the arguments of callbacks types of their own."""


class SimulatedLoop(Refusals, AnyLoop):
    """The part of an event loop that is the same for all owners."""

    name = "the loop"

    def __init__(self, clock: Clock, arm: Callable[[int], None], counter: Counter | None = None) -> None:
        """`arm(due_ps)`: asks the owner to call `turn` at that time; only the last one counts."""
        self.clock, self._arm = clock, arm
        self.next_number = (counter or Counter()).next
        self._ready: deque[events.Handle] = deque()
        self._waiting: list[tuple[int, int, Any]] = []
        self._scheduled = 0
        self._cancelled = 0
        self._armed_ps = -1
        self._reached_s = 0.0
        """The latest time that a timer which has run was set to: less than a picosecond after its instant."""
        self._running = self._closed = self._debug = self._stopping = False
        self._tasks: dict[SimulatedTask, None] = {}
        self._failed: list[weakref.ref[SimulatedTask]] = []
        self._task_factory: Callable[..., Any] | None = None
        self._tasks_made = 0
        self._exception_handler: Callable[..., Any] | None = None
        self._asyncgens: dict[int, Any] = {}
        self._hooks = self._agen_begins, self._agen_dropped
        self.slow_callback_duration = 0.1

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.name} at {self.time():g} s>"

    # ---- time -----------------------------------------------------------------------------------------------------
    def time(self) -> float:
        """Simulated seconds since the beginning of the run; when a timer runs, never less than what it was set to.

        Floats are finer than picoseconds: a program that asks for 0.3000000000000004 s and looks whether it is late
        enough would else find that it is not, and ask again, for ever.
        """
        now_s = self.clock.now_ps / S_PS
        return now_s if now_s >= self._reached_s else self._reached_s

    def call_later(
        self, delay: float, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        if delay is None:
            raise TypeError("delay must not be None")
        return self._schedule(self.clock.now_ps + round(delay * S_PS), self.time() + delay, callback, args, context)

    def call_at(
        self, when: float, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        if when is None:
            raise TypeError("when cannot be None")
        return self._schedule(round(when * S_PS), when, callback, args, context)

    def call_at_ps(self, due_ps: int, callback: Callable[..., Any], *args: Any) -> asyncio.TimerHandle:
        """The same with exact time, for the owner."""
        return self._schedule(due_ps, due_ps / S_PS, callback, args, None)

    def _schedule(
        self, due_ps: int, when: float, callback: Callable[..., Any], args: tuple[Any, ...], context: Context | None
    ) -> asyncio.TimerHandle:
        if not self._running:
            self._check_called_from_inside()
        timer: Any = asyncio.TimerHandle(when, callback, args, self, context)
        timer._scheduled = True  # so that `cancel` tells us
        self._scheduled += 1
        heapq.heappush(self._waiting, (due_ps, self._scheduled, timer))
        return timer

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """Called by TimerHandle.cancel. Mostly cancelled timers would fill the heap: timeouts that did not happen."""
        self._cancelled += 1
        if self._cancelled > 50 and 2 * self._cancelled > len(self._waiting):
            self._waiting = [row for row in self._waiting if not row[2]._cancelled]
            heapq.heapify(self._waiting)
            self._cancelled = 0

    # ---- callbacks ------------------------------------------------------------------------------------------------
    def call_soon(self, callback: Callable[..., Any], *args: Any, context: Context | None = None) -> asyncio.Handle:
        if not self._running:
            self._check_called_from_inside()
        if self._debug and (asyncio.iscoroutine(callback) or asyncio.iscoroutinefunction(callback)):
            raise TypeError("coroutines cannot be used with call_soon()")
        handle = events.Handle(callback, args, self, context)
        self._ready.append(handle)
        return handle

    call_soon_threadsafe = call_soon
    """There is one thread."""

    def _check_called_from_inside(self) -> None:
        """For owners that know better than to be called while they do not run."""
        self._check_closed()

    def inject(self, callback: Callable[..., Any], *args: Any, context: Context | None = None) -> None:
        """For the owner: something happened in the world. The callback runs in the next `turn`."""
        self._ready.append(events.Handle(callback, args, self, context))

    def turn(self, first: Callable[..., None] | None = None, *args: Any) -> None:
        """Runs all that is ready now, and what becomes ready by that; before it, `first`: what has happened."""
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
                raise ProtocolError(self._spins(handle))
            waiting = self._waiting  # cleaning makes a new one

    def _spins(self, handle: Any) -> str:
        task = getattr(handle._callback, "__self__", None)
        who = getattr(task.get_coro(), "__qualname__", "") if isinstance(task, asyncio.Task) else repr(handle)
        return (
            f"{self.name} ran {CALLBACKS_AT_ONCE:,} callbacks at {self.time():g} s and time did not go on: {who} seems "
            "to wait in a circle; simulated time passes only in sleeps, timeouts and packets"
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
        """The instant that `arm` asked for has come."""
        self._armed_ps = -1
        self.turn()

    # ---- tasks and futures ----------------------------------------------------------------------------------------
    def create_future(self) -> asyncio.Future[Any]:
        return SimulatedFuture(loop=self)

    def create_task(self, coro: Any, *, name: str | None = None, context: Context | None = None) -> asyncio.Task[Any]:
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
        """Notes when it failed: the failure may be found much later, when nobody can ask for it any more."""
        self._tasks.pop(task, None)
        if not task.cancelled() and task._exception is not None:  # without taking it
            task.failed_at_ps = self.clock.now_ps
            self._failed.append(weakref.ref(task))

    def forgotten_failures(self) -> list[SimulatedTask]:
        """Tasks that failed and whose error nobody has taken."""
        failed = [task for ref in self._failed if (task := ref()) is not None]
        return [task for task in failed if task._log_traceback]

    def pending_tasks(self) -> list[SimulatedTask]:
        """Tasks that have not ended, in order of creation."""
        return list(self._tasks)

    def throw_away(self) -> None:
        """Ends what never ended, after the run."""
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
        if factory is not None and not callable(factory):
            raise TypeError("task factory must be a callable or None")
        self._task_factory = factory

    def get_task_factory(self) -> Callable[..., Any] | None:
        return self._task_factory

    # ---- asynchronous generators ----------------------------------------------------------------------------------
    def _agen_begins(self, agen: Any) -> None:
        key = id(agen)
        self._asyncgens[key] = weakref.ref(agen, lambda _: self._asyncgens.pop(key, None))

    def _agen_dropped(self, agen: Any) -> None:
        """Nobody holds it any more: what is left of it runs as a task of this loop."""
        self._asyncgens.pop(id(agen), None)
        if not self._closed:
            self.inject(lambda: self.create_task(agen.aclose()))

    async def shutdown_asyncgens(self) -> None:
        left = [agen for ref in self._asyncgens.values() if (agen := ref()) is not None]
        self._asyncgens.clear()
        results = await asyncio.gather(*(agen.aclose() for agen in left), return_exceptions=True)
        for result, agen in zip(results, left, strict=True):
            if isinstance(result, Exception):
                message = f"an error occurred during closing of asynchronous generator {agen!r}"
                self.call_exception_handler({"message": message, "exception": result, "asyncgen": agen})

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:
        """There is none."""

    # ---- errors ---------------------------------------------------------------------------------------------------
    def set_exception_handler(self, handler: Callable[..., Any] | None) -> None:
        if handler is not None and not callable(handler):
            raise TypeError(f"A callable object or None is expected, got {handler!r}")
        self._exception_handler = handler

    def get_exception_handler(self) -> Callable[..., Any] | None:
        return self._exception_handler

    def call_exception_handler(self, context: dict[str, Any]) -> None:
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
        error = context.get("exception")
        info = (type(error), error, error.__traceback__) if error is not None else False
        log.error("%s: %s", self.name, context.get("message") or "unhandled exception", exc_info=info)

    # ---- state ----------------------------------------------------------------------------------------------------
    def is_running(self) -> bool:
        return self._running

    def is_closed(self) -> bool:
        return self._closed

    def _check_closed(self) -> None:
        if self._closed:
            raise RuntimeError("Event loop is closed")

    def close(self) -> None:
        if self._running:
            raise RuntimeError("Cannot close a running event loop")
        self._closed = True
        self._ready.clear()
        self._waiting.clear()

    def get_debug(self) -> bool:
        return self._debug

    def set_debug(self, enabled: bool) -> None:
        self._debug = enabled
