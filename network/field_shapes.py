"""Check the names and shapes of a network's fields when it is made, so that a wrong one causes an error of one line.

The numbers are checked against their bounds later, when a run is described (`bridge/validation_spec.py`).
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import os
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np

from causeway.errors import UserError, unknown

T = TypeVar("T", bound=type)


class Shape(NamedTuple):
    """The values that a field may have, as a test and as text."""

    fits: Callable[[Any], bool]
    words: str


def is_number(value: object) -> bool:
    """Return whether a value is a number, and not a truth value."""
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def _sequence(of: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, tuple | list) and all(map(of, value))


def _column(value: object) -> bool:
    return isinstance(value, tuple | list | np.ndarray) and np.ndim(value) == 1


def _pair(value: object) -> bool:
    return isinstance(value, tuple | list | np.ndarray) and np.shape(value) == (2,)


def _place(value: object) -> bool:
    return isinstance(value, tuple | list | np.ndarray) and np.shape(value) in ((2,), (3,))


SHAPES = {
    "bool": Shape(lambda value: isinstance(value, bool | np.bool_), "True or False"),
    "float": Shape(is_number, "a number"),
    "str": Shape(lambda value: isinstance(value, str | os.PathLike), "text"),
    "tuple[tuple[int, int], ...]": Shape(_sequence(_pair), "a tuple of pairs, as in ((0, 0), (5, 0))"),
    "tuple[Place, ...]": Shape(
        _sequence(_place), "a tuple of positions, x and y or x, y and z, as in ((0, 0), (5, 0)) or ((0, 0, 20),)"
    ),
    "tuple[int, ...]": Shape(_sequence(is_number), "a tuple of whole numbers, as in (5, 7)"),
    "tuple[str, ...]": Shape(_sequence(lambda value: isinstance(value, str)), "a tuple of texts, as in ('a', 'b')"),
    "tuple[Trace | None, ...]": Shape(
        lambda value: isinstance(value, tuple | list), "a tuple with a trace, or None, for each host"
    ),
    "NDArray[np.float64]": Shape(
        lambda value: isinstance(value, np.ndarray) and value.ndim == 1 and np.issubdtype(value.dtype, np.number),
        "a distribution: constant_delay(100), uniform_delay(50, 150) or normal_delay(100, 20), in milliseconds",
    ),
    "NDArray[np.int64]": Shape(_column, "an array of whole numbers"),
    "NDArray[np.int32]": Shape(_column, "an array of whole numbers"),
    "NDArray[np.uint8]": Shape(_column, "an array of 0 and 1"),
}
"""Maps the annotation of a field to its shape."""


def checked_arguments(kind: T) -> T:
    """Refuse arguments of a class that it does not have, and calls without those that it needs."""
    plain: Any = kind.__init__  # type: ignore[misc]
    signature = inspect.signature(plain)
    known = [name for name in signature.parameters if name != "self"]

    @functools.wraps(plain)
    def init(self: Any, *arguments: Any, **named: Any) -> None:
        for name in named:
            if name not in known:
                raise unknown(f"argument of {kind.__name__}", name, known)
        try:
            signature.bind(self, *arguments, **named)
        except TypeError as error:
            raise UserError(f"{kind.__name__}: {error}") from None
        plain(self, *arguments, **named)

    kind.__init__ = init  # type: ignore[misc]
    return kind


def check_shapes(thing: Any) -> None:
    """Refuse a field whose value does not have the shape of its annotation.

    Raises:
        UserError: A field has a value of the wrong type or shape.
    """
    for one in dataclasses.fields(thing):
        shape = SHAPES.get(str(one.type))
        if shape is not None:
            check(thing, one.name, shape)


def check(thing: Any, name: str, shape: Shape) -> None:
    """Refuse one field if its value does not have the given shape."""
    if not shape.fits(value := getattr(thing, name)):
        shown = repr(value)
        shown = shown if len(shown) <= 80 else shown[:77] + "..."
        raise UserError(f"{type(thing).__name__}: {name} is {shown}; allowed: {shape.words}")


def instance_of(kind: type, example: str) -> Shape:
    """Return the shape of a field that holds an object of a class."""
    return Shape(lambda value: isinstance(value, kind), f"a {kind.__name__}, as in {example}")


WHOLE = Shape(lambda value: isinstance(value, int | np.integer) and not isinstance(value, bool), "a whole number")
