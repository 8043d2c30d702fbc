"""Call a protocol and its observers. An error in them is raised again with place and time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from causeway.bridge.events import Actions, Window
from causeway.errors import RunError, UserError
from causeway.pycontrol.arguments import number
from causeway.pycontrol.debugging import look_at
from causeway.pycontrol.interrupts import was_interrupted
from causeway.pycontrol.protocol import Context, Observer, Protocol
from causeway.pycontrol.protocol_errors import call, protocol_error, says_where, shown
from causeway.pycontrol.run_trace_hooks import trace_if_wanted
from causeway.pycontrol.watchdog import calls_protocol


@calls_protocol
def _call_protocol(callee: Any, now_ps: int, called: str, function: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except MemoryError:  # `run_protocol` turns it into an error with a remedy
        raise
    except BaseException as error:
        if says_where(error) or was_interrupted(error):
            raise
        look_at(error)
        raise protocol_error(type(callee).__name__, now_ps, called, error) from error


def started(protocol: Protocol, context: Context) -> None:
    """Start the protocol, traced if this run writes a trace."""
    trace_if_wanted(protocol, context)
    _call_protocol(protocol, 0, "start(...)", protocol.start, context)
    if getattr(context.network, "batteries", None) and not getattr(protocol, "_batteries", None):
        name = type(protocol).__name__
        raise UserError(f"{name} is vectorized, so its nodes cannot have batteries; use a PerNode, or battery=None")


def finished(protocol: Protocol, now_ps: int) -> None:
    """Let the protocol handle the end of the run, and raise its error if its results are wrong."""
    _call_protocol(protocol, now_ps, "finish(...)", protocol.finish, now_ps)
    protocol.check_end()


@calls_protocol
def answer_to(window: Window, protocol: Protocol) -> Actions:
    """Return the protocol's actions for a window.

    Raises:
        RunError: The protocol raised an error, or returned something other than Actions.
    """
    try:
        actions = protocol.on_window(window)
    except BaseException as error:
        if says_where(error) or was_interrupted(error):
            raise
        look_at(error)
        raise protocol_error(
            type(protocol).__name__, window.end_ps, call("on_window", window=window.number), error
        ) from error
    if not isinstance(actions, Actions):
        raise RunError(
            f"{type(protocol).__name__}.on_window returned {shown(actions)}; allowed: Actions (`no_actions()` for none)"
        )
    return actions


def collect_scalars(source: Protocol | Observer, now_ps: int) -> dict[str, float]:
    """Return the validated scalars of a protocol or an observer."""
    return validated_scalars(
        type(source).__name__, _call_protocol(source, now_ps, "scalars()", lambda: source.scalars())
    )


def validated_scalars(owner: str, scalars: Any) -> dict[str, float]:
    """Return the scalars of the class `owner` as a dict.

    Raises:
        RunError: They are not a mapping of strings to numbers.
    """
    if not isinstance(scalars, Mapping):
        raise RunError(f"{owner}.scalars() returned {shown(scalars)}; allowed: a dict of names and numbers")
    for name, value in scalars.items():
        if not isinstance(name, str):
            raise RunError(f"{owner}.scalars() has a name {shown(name)}; allowed: strings")
        try:
            number(int(value) if isinstance(value, bool | np.bool_) else value)
        except (TypeError, ValueError):
            raise RunError(f"{owner}.scalars() has {name}={shown(value)}; allowed: numbers") from None
    return dict(scalars)
