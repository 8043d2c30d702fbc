"""Call a node's own methods at later times: `after` and `every`.

    def on_start(self) -> None:
        self.beat = self.every(seconds(1), self.send_heartbeat)
        self.after(ms(300), self.ask, 3)

Each call is a timer under the key `Due(number)`. The node holds the functions (`vars(node)["_planned_calls"]`), so that
they are copied, compared and replayed together with it. Numbers are reused, so that equal nodes have equal states.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial
from types import MethodType
from typing import Any, NamedTuple, ParamSpec

from causeway.pycontrol import arguments
from causeway.pycontrol.protocol_errors import Misuse, misuse, seconds, shown
from causeway.pycontrol.services import Services, check_turn

P = ParamSpec("P")


class Due(NamedTuple):
    """The key of the timer of a call."""

    number: int

    def __repr__(self) -> str:
        return f"call {self.number}"


class TimerHandle:
    """A call that a node has planned with `after` or `every`."""

    def __init__(self, node: Timers, number: int, call: Callable[[], object], period_ps: int) -> None:
        self.node, self.number, self.call, self.period_ps = node, number, call, period_ps

    @property
    def active(self) -> bool:
        """True until the call has happened, or was cancelled or lost in a failure of the node."""
        return vars(self.node).get("_planned_calls", {}).get(self.number) is self

    def cancel(self) -> None:
        """Cancel the call if it has not happened yet, and all further calls of `every`."""
        check(self.node, "cancel")
        if self.active:
            del vars(self.node)["_planned_calls"][self.number]
            self.node.cancel_timer(Due(self.number))


class Timers(Services):
    """The services of a node for later calls."""

    def after(self, delay_ps: int, handler: Callable[P, object], *args: P.args, **kwargs: P.kwargs) -> TimerHandle:
        """Call a method of this node once, at the time of a timer that `set_timer` sets with this delay.

        This is `delay_ps` after one reaction time. A failure of the node cancels the call.

        Args:
            delay_ps: The delay in picoseconds, as in `ms(300)`.
            handler: A method of this node (`self.ask`), or functools.partial of one.
            args: Arguments of the call.
            kwargs: Named arguments of the call.
        """
        check(self, "after")
        own_method(self, "after", "handler", handler)
        if type(delay_ps) is not int or delay_ps < 0:
            delay_ps = arguments.delay(delay_ps, self.runtime.now_ps, "after")
        return self._plan(delay_ps, 0, partial(handler, *args, **kwargs))

    def every(self, period_ps: int, handler: Callable[P, object], *args: P.args, **kwargs: P.kwargs) -> TimerHandle:
        """Call a method of this node periodically, until `cancel` of the handle or a failure of the node.

        The first call is one period after one reaction time, as with `set_timer`. Each further call is exactly one
        period after the previous one, so calls do not drift.

        Args:
            period_ps: The time between two calls in picoseconds, as in `seconds(1)`; at least the reaction time.
            handler: A method of this node (`self.beat`), or functools.partial of one.
            args: Arguments of each call.
            kwargs: Named arguments of each call.
        """
        check(self, "every")
        own_method(self, "every", "handler", handler)
        least_ps = max(1, self.runtime.context.reaction_ps)
        if type(period_ps) is not int or period_ps < 0:
            period_ps = arguments.delay(period_ps, self.runtime.now_ps, "every", "period_ps")
        if period_ps < least_ps:
            raise misuse("every", "period_ps", period_ps, f"at least the reaction time, {seconds(least_ps)} s")
        return self._plan(period_ps, period_ps, partial(handler, *args, **kwargs))

    def _plan(self, delay_ps: int, period_ps: int, call: Callable[[], object]) -> TimerHandle:
        calls = vars(self).get("_planned_calls", {})
        number = next(n for n in range(len(calls) + 1) if n not in calls)
        self.runtime.set_timer(self.id, Due(number), delay_ps)
        handle = TimerHandle(self, number, call, period_ps)
        vars(self).setdefault("_planned_calls", calls)[number] = handle
        return handle

    def _call_due(self, key: Due) -> None:
        """Make a planned call, after planning the next call of `every`."""
        handle: TimerHandle = vars(self)["_planned_calls"][key.number]
        if handle.period_ps:
            self.runtime.set_timer(self.id, key, handle.period_ps - self.runtime.context.reaction_ps)
        else:
            del vars(self)["_planned_calls"][key.number]
        handle.call()
        if (contents := self.runtime.contents) is not None:
            contents.look(self, handler_behind(handle.call))  # type: ignore[arg-type]


def fire(node: Any, key: Hashable) -> None:
    """Call the handler of a timer that is due: `on_timer`, or the method that was passed to `after` or `every`."""
    if type(key) is Due:
        node._call_due(key)
    else:
        node.on_timer(key)


def timer_in_words(node: Any, key: Hashable) -> str:
    """Describe a timer that is due by its key, or by the name of the method that it calls."""
    handle = vars(node).get("_planned_calls", {}).get(key.number) if type(key) is Due else None
    return str(key) if handle is None else str(getattr(handler_behind(handle.call), "__name__", key))


def forget_calls(node: Any) -> None:
    """Forget the planned calls and open requests of a node that fails. Its timers are cancelled elsewhere."""
    vars(node).pop("_planned_calls", None)
    vars(node).pop("_open_requests", None)


def check(node: Services, service: str) -> None:
    """Refuse a service outside the node's own handlers."""
    if node.runtime.acting is not node:
        check_turn(node, service)


def handler_behind(call: Any) -> Any:
    """Return the method behind a planned call, which may be a partial."""
    while isinstance(call, partial):
        call = call.func
    return call


def own_method(node: Services, service: str, name: str, handler: object) -> None:
    """Refuse a handler that is not a method of the node, since nodes are copied together with their handlers.

    Raises:
        Misuse: The handler is a function or the method of another object.
    """
    method = handler_behind(handler)
    if isinstance(method, MethodType) and method.__self__ is node:
        return
    hint = "write it without parentheses" if handler is None else "a lambda or function cannot be copied with its node"
    raise Misuse(
        f"{service} was given {name}={shown(handler)}; allowed: a method of this node, as in self.on_late, or "
        f"functools.partial of one ({hint})"
    )
