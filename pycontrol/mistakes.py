"""A mistake of a protocol, told to who wrote it: where, when, in which handler, what was given, its own traceback."""

from __future__ import annotations

import linecache
import traceback
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from causeway.bridge.errors import RunError

PACKAGE = Path(__file__).resolve().parent.parent
OURS = (PACKAGE / "bridge", PACKAGE / "pycontrol")
NOT_OURS = PACKAGE / "pycontrol" / "protocols"
LONGEST = 80
"""Characters of a value in a message."""
MOST_LINES = 12
"""Frames of a traceback (of a recursion, the last ones)."""


class ProtocolError(RunError):
    """The protocol did something that it must not do. The run failed; other runs go on."""


class Misuse(ValueError):
    """A service was given what it cannot take."""


def misuse(service: str, name: str, given: Any, allowed: str) -> Misuse:
    """The error for an argument that a service cannot take."""
    return Misuse(f"{service} was given {name}={shown(given)}; allowed: {allowed}")


def shown(value: Any) -> str:
    """A value in one line of bounded length."""
    text = _told(repr, value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def _told(by: Callable[[Any], str], value: Any) -> str:
    """Return repr or str of a value on one line, whatever happens in it."""
    try:
        return " ".join(by(value).split())
    except Exception as error:
        return f"<{type(value).__name__} whose {by.__name__} raises {type(error).__name__}>"


def call(handler: str, **arguments: Any) -> str:
    """A call in words."""
    return f"{handler}({', '.join(f'{name}={shown(value)}' for name, value in arguments.items())})"


def protocol_error(where: str, now_ps: int, called: str, error: BaseException) -> ProtocolError:
    """`where`: a node, or the class of a protocol over columns; `called`: see `call`."""
    said = _told(str, error)
    kind = "" if isinstance(error, RunError | Misuse) else type(error).__name__
    what = ": ".join(part for part in (kind, said) if part)
    if isinstance(error, SystemExit):
        what = f"sys.exit({said}) would end the command; end the run with self.stop(), or raise an error"
    return ProtocolError(f"{where}, at {seconds(now_ps)} s, in {called}: {what}{_own_lines(error)}")


def seconds(time_ps: int) -> str:
    """A time, exactly."""
    whole, rest = divmod(time_ps, 10**12)
    return f"{whole}.{rest:012d}".rstrip("0").rstrip(".")


def users_frames(error: BaseException) -> list[traceback.FrameSummary]:
    """Return the protocol's part of the traceback, the last call at the end."""
    return [frame for frame in traceback.extract_tb(error.__traceback__) if not _is_ours(frame.filename)]


def _own_lines(error: BaseException) -> str:
    """Return the protocol's part of the traceback in lines."""
    frames = users_frames(error)
    lines = []
    for frame in frames[-MOST_LINES:]:
        code = linecache.getline(frame.filename, frame.lineno or 0).strip()
        lines.append(f"\n  {frame.filename}:{frame.lineno}, in {frame.name}: {code}")
    if len(frames) > MOST_LINES:
        lines.insert(0, f"\n  ({len(frames) - MOST_LINES} calls before these)")
    return "".join(lines)


@cache
def _is_ours(filename: str) -> bool:
    path = Path(filename).resolve()
    if path.is_relative_to(NOT_OURS):
        return False
    return any(path.is_relative_to(folder) for folder in OURS)
