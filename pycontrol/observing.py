"""Refuse observers that cannot be used in a run, and name the one that is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import WeakValueDictionary

from causeway.errors import UserError
from causeway.pycontrol.protocol import Observer
from causeway.pycontrol.protocol_errors import shown

_former: WeakValueDictionary[int, Observer] = WeakValueDictionary()
"""The observers of earlier runs, by their addresses."""


def validated_observers(returned: Any, where: str) -> Sequence[Observer]:
    """Return the observers of a new run.

    Args:
        returned: What the user's function returned.
        where: The function's name, for error messages.

    Raises:
        UserError: The value is not a list of observers, or one has observed another run, so that its numbers would
            cover both.
    """
    if not isinstance(returned, list | tuple):
        raise UserError(f"{where} returned {shown(returned)}; allowed: a list of observers, which may be empty")
    for one in returned:
        if not (callable(getattr(one, "observe", None)) and callable(getattr(one, "scalars", None))):
            allowed = "an Observer, with observe(op, time_ps, node, message) and scalars()"
            raise UserError(f"{where} returned {shown(one)} in its list; allowed: {allowed}")
        if _former.get(id(one)) is one:
            raise UserError(
                f"a {type(one).__name__} has already observed a run; {where} must return new ones, since its numbers "
                f"would cover both runs"
            )
    for one in returned:
        try:
            _former[id(one)] = one
        except TypeError:  # a class with __slots__
            continue
    return list(returned)
