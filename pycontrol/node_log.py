"""The log of nodes (`self.log`): standard logging, with the simulated time and the node in each line.

    12.345678 s  node 3  the leader is silent

The logger is `causeway.node`. It is off until `logging_nodes` or a user's program sets its level; while it is off, no
line is formatted. Logging does not change a run: it uses no random numbers and no simulated time.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator, MutableMapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from causeway.errors import UserError
from causeway.pycontrol.confined import acting

if TYPE_CHECKING:
    from causeway.pycontrol.services import Services

    Adapter = logging.LoggerAdapter[logging.Logger]
else:
    Adapter = logging.LoggerAdapter

LOGGER = logging.getLogger("causeway.node")
OFF = logging.CRITICAL + 10
"""A level above all others. Loggers have it until `--log` sets another one."""
LEVELS = ("debug", "info", "warning", "error", "critical")
LOGGER.setLevel(OFF)


class NodeLog(Adapter):
    """Adds the simulated time and the node to each line."""

    def __init__(self, node: Services | None) -> None:
        super().__init__(LOGGER, {})
        self.node = node

    def process(self, msg: Any, kwargs: MutableMapping[str, Any]) -> tuple[Any, MutableMapping[str, Any]]:
        """Put the simulated time and the node before the message."""
        if self.node is None:
            return msg, kwargs
        seconds, rest_ps = divmod(self.node.runtime.time_for_logs(), 10**12)
        return f"{seconds}.{rest_ps // 10**6:06d} s  node {self.node.id}  {msg}", kwargs

    def log(self, level: int, msg: object, *args: object, **kwargs: Any) -> None:
        """Log a line.

        The handlers of the logger get the real functions of the process, which a node does not (`confined.py`).
        """
        if not self.isEnabledFor(level):
            return
        kwargs["stacklevel"] = kwargs.get("stacklevel", 1) + 1
        actor, acting.host = acting.host, None
        try:
            super().log(level, msg, *args, **kwargs)
        finally:
            acting.host = actor


class SilentLog(NodeLog):
    """The log of all nodes while the logger is off. A line costs one call without effect."""

    def debug(self, msg: object, *args: object, **kwargs: Any) -> None:
        """Do nothing."""

    info = warning = error = critical = exception = debug


SILENT = SilentLog(None)
"""The only instance, which all nodes share."""


def level_of(name: str) -> int:
    """Return the level with this name.

    Raises:
        UserError: There is no such level.
    """
    if name.lower() not in LEVELS:
        raise UserError(f"--log {name} is not a level; allowed: {', '.join(LEVELS)}")
    return int(getattr(logging, name.upper()))


@contextlib.contextmanager
def logging_nodes(level: str, file: Path | None = None) -> Iterator[None]:
    """Write the log of nodes in the block, from this level on, to a file or to the standard error.

    Raises:
        UserError: The level is unknown, or the file cannot be written.
    """
    number = level_of(level)
    try:
        handler = logging.StreamHandler() if file is None else logging.FileHandler(file, "w", encoding="utf-8")
    except OSError as error:
        raise UserError(f"--log-file {file}: {error.strerror}; choose a file that can be written") from None
    before, propagates = LOGGER.level, LOGGER.propagate
    LOGGER.addHandler(handler)
    LOGGER.setLevel(number)
    LOGGER.propagate = False
    try:
        yield
    finally:
        LOGGER.removeHandler(handler)
        LOGGER.setLevel(before)
        LOGGER.propagate = propagates
        handler.close()


@contextlib.contextmanager
def silent() -> Iterator[None]:
    """Turn the log off in the block, for a repetition of a run that has already been logged."""
    before = LOGGER.level
    LOGGER.setLevel(OFF)
    try:
        yield
    finally:
        LOGGER.setLevel(before)
