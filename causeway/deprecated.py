"""Former names of the public interface. They work for one release, and cause warnings."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

T = TypeVar("T", bound=type)

NAMES = {
    "Alike": "SymmetricNodes",
    "Cut": "LinkFailure",
    "SmallParams": "ModelParams",
    "SmallStudy": "ModelStudy",
    "random_cuts": "random_link_failures",
}
"""Maps former public names to the current ones."""


def warn(old: str, new: str, frames: int = 3) -> None:
    """Warn that a name is deprecated. `frames` up is the code that uses it."""
    warnings.warn(f"{old} is deprecated and goes with the next release; write {new}", DeprecationWarning, frames)


def former_arguments(
    positional: str = "", most: int = 0, former_names: Mapping[str, str] | None = None
) -> Callable[[T], T]:
    """Accept the former arguments of a class.

    Args:
        positional: The names of arguments that could be positional, in order, separated by spaces.
        most: The number of these that may still be positional.
        former_names: Maps former names of arguments to the current ones.
    """
    order, names = positional.split(), former_names or {}

    def decorate(kind: T) -> T:
        plain: Any = kind.__init__  # type: ignore[misc]

        @functools.wraps(plain)
        def init(self: Any, *arguments: Any, **named: Any) -> None:
            for old in names.keys() & named.keys():
                warn(f"{kind.__name__}({old}=...)", f"{names[old]}=...")
                named[names[old]] = named.pop(old)
            if most < len(arguments) <= len(order):
                extra = order[most : len(arguments)]
                warn(f"{kind.__name__} with positional arguments", "them by name: " + ", ".join(f"{n}=" for n in extra))
                named |= dict(zip(extra, arguments[most:], strict=True))
                arguments = arguments[:most]
            plain(self, *arguments, **named)

        kind.__init__ = init  # type: ignore[misc]
        return kind

    return decorate
