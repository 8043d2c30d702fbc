"""Refuse calls of public classes and functions whose arguments do not fit the signature, in one line."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from causeway.errors import UserError, unknown

T = TypeVar("T", bound=Callable[..., Any])


def checked_arguments(thing: T) -> T:
    """Refuse arguments that a class or function does not have, and calls without those that it needs.

    A call that fits costs nothing: the arguments are compared with the signature only after a TypeError.
    """
    if not isinstance(thing, type):
        return _checked(thing, thing.__qualname__, 0)
    kind: Any = thing
    kind.__init__ = _checked(kind.__init__, kind.__name__, 1)
    return thing


def _checked(function: Any, name: str, bound: int) -> Any:
    """Return the function with the check; `bound` of its parameters are no arguments of the user."""

    @functools.wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        try:
            return function(*arguments, **named)
        except TypeError:
            check_call(function, name, arguments, named, bound)
            raise

    return call


def check_call(function: Any, name: str, arguments: Sequence[Any], named: dict[str, Any], bound: int = 0) -> None:
    """Refuse arguments that do not fit the signature of a function.

    Args:
        function: The function.
        name: Its name in messages.
        arguments: The positional arguments.
        named: The named arguments.
        bound: The number of parameters at the beginning that are no arguments of the user, such as `self`.

    Raises:
        UserError: An argument is unknown, missing or too many.
    """
    signature = inspect.signature(function)
    parameters = signature.parameters.values()
    known = [one.name for one in parameters if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)][bound:]
    takes_any = any(one.kind is one.VAR_KEYWORD for one in parameters)
    for argument in () if takes_any else named:
        if argument not in known:
            raise unknown(f"argument of {name}", argument, known)
    try:
        signature.bind(*arguments, **named)
    except TypeError as error:
        raise UserError(f"{name}: {error}") from None
