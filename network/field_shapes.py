"""Check the names and shapes of a network's fields when it is made, so that a wrong one causes an error of one line.

The numbers are checked against their bounds later, when a run is described (`bridge/validation_spec.py`).
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import math
import os
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np

from causeway.errors import UserError
from causeway.proto.contract import constant
from causeway.signatures import check_call
from causeway.signatures import checked_arguments as checked_arguments

MOST_NODES = constant("MOST_NODES")
F = TypeVar("F", bound=Callable[..., Any])


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


def checked_values(thing: F) -> F:
    """Refuse arguments that a function or constructor does not have, and values of another type than annotated."""
    plain: Any = thing.__init__ if isinstance(thing, type) else thing  # type: ignore[misc]
    signature, name = inspect.signature(plain), getattr(thing, "__qualname__", "")
    shapes = {one.name: VALUES[one.annotation] for one in signature.parameters.values() if one.annotation in VALUES}

    @functools.wraps(plain)
    def call(*arguments: Any, **named: Any) -> Any:
        check_call(plain, name, arguments, named, int(isinstance(thing, type)))
        for argument, value in signature.bind(*arguments, **named).arguments.items():
            if argument in shapes and not shapes[argument].fits(value):
                raise UserError(f"{name}: {argument} is {_short(value)}; allowed: {shapes[argument].words}")
        return plain(*arguments, **named)

    if not isinstance(thing, type):
        return cast(F, call)
    thing.__init__ = call  # type: ignore[misc]
    return thing


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
        raise UserError(f"{type(thing).__name__}: {name} is {_short(value)}; allowed: {shape.words}")


def _short(value: object) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 80 else text[:77] + "..."


def instance_of(kind: type, example: str) -> Shape:
    """Return the shape of a field that holds an object of a class."""
    return Shape(lambda value: isinstance(value, kind), f"a {kind.__name__}, as in {example}")


WHOLE = Shape(lambda value: isinstance(value, int | np.integer) and not isinstance(value, bool), "a whole number")
BITS_64 = Shape(lambda value: WHOLE.fits(value) and abs(value) < 2**63, "a whole number of at most 64 bits")
VALUES = SHAPES | {
    "int": BITS_64,
    "float": Shape(lambda value: is_number(value) and math.isfinite(value), "a number"),
    "str | Path": SHAPES["str"],
    "Place": Shape(_place, "the x and y of a position, as in (0, 0)"),
    "Sequence[int]": Shape(
        lambda value: isinstance(value, range) or (_column(value) and all(map(WHOLE.fits, value))),
        "a list of whole numbers, as in range(5) or [0, 2]",
    ),
    "Sequence[tuple[int, int]]": Shape(
        lambda value: isinstance(value, tuple | list | np.ndarray) and all(map(_pair, value)),
        "a list of pairs of whole numbers, as in [(0, 1), (1, 2)]",
    ),
    "tuple[int, int, int, int]": Shape(
        lambda value: _column(value) and len(value) == 4 and all(map(is_number, value)),
        "x and y of two corners, as in (0, 0, 500_000, 500_000)",
    ),
}
"""Maps the annotation of an argument of a function to its shape."""
