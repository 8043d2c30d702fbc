"""Errors of a protocol's own code, with the node, time, handler, arguments and the author's part of the traceback.

`protocol_error` makes the error of a handler that failed; `misuse` that of a service called with a wrong argument.
"""

from __future__ import annotations

import linecache
import traceback
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from causeway.bridge.events import FOREVER, IGNORED
from causeway.errors import RunError, UserError

PACKAGE = Path(__file__).resolve().parent.parent
CORE_FOLDERS = (PACKAGE / "bridge", PACKAGE / "explore", PACKAGE / "network", PACKAGE / "pycontrol")
PROTOCOLS_FOLDER = PACKAGE / "pycontrol" / "protocols"
LONGEST = 80
"""The maximum length of a value in a message, which must fit on one line."""
MOST_LINES = 12
"""The number of innermost frames of a traceback that are shown. A recursion may have hundreds."""


class ProtocolError(RunError):
    """A fault of the protocol's own code. It ends the run; the other runs of a campaign go on."""


class Misuse(UserError, ValueError):
    """A service of a node was called with a wrong argument, or at a wrong time."""


def says_where(error: BaseException) -> bool:
    """Return whether an error ends a run as it is. That of a wrong value (Misuse, UnitError) lacks node and time."""
    return isinstance(error, RunError | UserError) and not isinstance(error, ValueError)


def misuse(service: str, name: str, given: Any, allowed: str) -> Misuse:
    """Return the error for a wrong argument of a service: its name, its value and the allowed values."""
    return Misuse(f"{service} was given {name}={shown(given)}; allowed: {allowed}")


def broken_lookahead(node: int, topic: int, promised_ps: int, after_ps: int) -> RunError:
    """Return the error for an action that is earlier than the lookahead of its topic allows."""
    promised = "nothing" if promised_ps in (FOREVER, IGNORED) else f"nothing within {promised_ps / 10**12:g} s"
    return RunError(
        f"node {node} declared to do {promised} about packets of topic {topic}, but acts after "
        f"{after_ps / 10**12:g} s; declare a shorter lookahead (`declare_lookahead`), or send such packets "
        "with another topic"
    )


def shown(value: Any) -> str:
    """Return a value's repr on one line of at most LONGEST characters."""
    text = _one_line(repr, value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def _one_line(by: Callable[[Any], str], value: Any) -> str:
    """Return the repr or str of a value on one line, even if it raises an error."""
    try:
        return " ".join(by(value).split())
    except Exception as error:
        return f"<{type(value).__name__} whose {by.__name__} raises {type(error).__name__}>"


def call(handler: str, **arguments: Any) -> str:
    """Format a call of a handler with its arguments."""
    return f"{handler}({', '.join(f'{name}={shown(value)}' for name, value in arguments.items())})"


def protocol_error(where: str, now_ps: int, called: str, error: BaseException) -> ProtocolError:
    """Return the error that reports an exception in a handler.

    Args:
        where: The node, or the class of a vectorized protocol.
        now_ps: The simulated time.
        called: The text of the call (see `call`).
        error: The exception.
    """
    text = _one_line(str, error)
    kind = "" if isinstance(error, RunError | UserError) else type(error).__name__
    what = ": ".join(part for part in (kind, text) if part)
    if isinstance(error, SystemExit):
        what = f"sys.exit({text}) would end the command; end the run with self.stop(), or raise an error"
    return ProtocolError(f"{where}, at {seconds(now_ps)} s, in {called}: {what}{_own_lines(error)}")


def seconds(time_ps: int) -> str:
    """Format a time in seconds with all its digits."""
    whole, rest = divmod(time_ps, 10**12)
    return f"{whole}.{rest:012d}".rstrip("0").rstrip(".")


def user_frames(error: BaseException) -> list[traceback.FrameSummary]:
    """Return the traceback without Causeway's own frames, the innermost call last."""
    return [frame for frame in traceback.extract_tb(error.__traceback__) if not _is_core(frame.filename)]


def _own_lines(error: BaseException) -> str:
    """Return the frames of `user_frames` as lines of text."""
    frames = user_frames(error)
    lines = []
    for frame in frames[-MOST_LINES:]:
        code = linecache.getline(frame.filename, frame.lineno or 0).strip()
        lines.append(f"\n  {frame.filename}:{frame.lineno}, in {frame.name}: {code}")
    if len(frames) > MOST_LINES:
        lines.insert(0, f"\n  ({len(frames) - MOST_LINES} calls before these)")
    return "".join(lines)


@cache
def _is_core(filename: str) -> bool:
    path = Path(filename).resolve()
    if path.is_relative_to(PROTOCOLS_FOLDER):
        return False
    return any(path.is_relative_to(folder) for folder in CORE_FOLDERS)
