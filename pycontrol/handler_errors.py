"""Raise the error of a handler again, with node, time and arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from causeway.errors import UserError
from causeway.pycontrol.confined import acting
from causeway.pycontrol.debugging import look_at
from causeway.pycontrol.handlers import HIDEABLE, NOT_ASSIGNED, Node, check_names
from causeway.pycontrol.interrupts import was_interrupted
from causeway.pycontrol.protocol_errors import Misuse, ProtocolError, protocol_error, says_where


def raise_with_context(nodes: Sequence[Node], error: BaseException, node: int, now_ps: int, called: str) -> NoReturn:
    """Raise an error of a handler again, with node, time and arguments, unless it says these itself.

    Args:
        nodes: The nodes of the run.
        error: The error.
        node: The node whose handler failed.
        now_ps: The simulated time.
        called: The text of the call (see `call`).
    """
    acting.host = None
    is_placed = isinstance(error, ProtocolError) or (isinstance(error, UserError) and says_where(error))
    if is_placed or was_interrupted(error):
        raise error
    look_at(error)
    hidden = HIDEABLE if isinstance(error, TypeError) and "not callable" in str(error) else NOT_ASSIGNED
    try:
        check_names(nodes, node, hidden)  # a wrong id or a hidden service may be the cause of the error
    except Misuse as cause:
        error = cause.with_traceback(error.__traceback__)
    raise protocol_error(f"node {node}", now_ps, called, error) from error
