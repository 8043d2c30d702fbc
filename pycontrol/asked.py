"""The calls into a protocol and its observers: whatever they raise becomes one error that says where and when."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from causeway.bridge.errors import RunError, UserError
from causeway.bridge.events import Actions, Window
from causeway.pycontrol.interrupts import was_interrupted
from causeway.pycontrol.mistakes import call, protocol_error, shown
from causeway.pycontrol.protocol import Context, Observer, Protocol
from causeway.pycontrol.traced import trace_if_wanted
from causeway.pycontrol.watchdog import calls_protocol


@calls_protocol
def _asked(whom: Any, now_ps: int, told: str, what: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return what(*arguments)
    except (RunError, UserError, MemoryError):  # the last is no mistake of a protocol: `run` says what to do
        raise
    except BaseException as error:
        if was_interrupted(error):
            raise
        raise protocol_error(type(whom).__name__, now_ps, told, error) from error


def started(protocol: Protocol, context: Context) -> None:
    """The protocol has begun."""
    trace_if_wanted(protocol, context)
    _asked(protocol, 0, "start(...)", protocol.start, context)


@calls_protocol
def answer_to(window: Window, protocol: Protocol) -> Actions:
    """What the protocol does about a window."""
    try:
        actions = protocol.on_window(window)
    except (RunError, UserError):
        raise
    except BaseException as error:
        if was_interrupted(error):
            raise
        raise protocol_error(
            type(protocol).__name__, window.end_ps, call("on_window", window=window.number), error
        ) from error
    if not isinstance(actions, Actions):
        raise RunError(
            f"{type(protocol).__name__}.on_window returned {shown(actions)}; allowed: Actions (`no_actions()` for none)"
        )
    return actions


def numbers_of(whom: Protocol | Observer, now_ps: int) -> dict[str, float]:
    """Return the scalars of a protocol or an observer."""
    return checked_scalars(type(whom).__name__, _asked(whom, now_ps, "scalars()", lambda: whom.scalars()))


def checked_scalars(whose: str, scalars: Any) -> dict[str, float]:
    """Return the scalars, if they are names and numbers."""
    if not isinstance(scalars, Mapping):
        raise RunError(f"{whose}.scalars() returned {shown(scalars)}; allowed: a dict of names and numbers")
    for name, value in scalars.items():
        if not isinstance(name, str):
            raise RunError(f"{whose}.scalars() has a name {shown(name)}; allowed: texts")
        try:
            float(value)
        except (TypeError, ValueError):
            raise RunError(f"{whose}.scalars() has {name}={shown(value)}; allowed: numbers") from None
    return dict(scalars)
