"""A property that subclasses and instances may hide by an attribute."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

T = TypeVar("T")


class Reading(Generic[T]):
    """A property that a subclass or a node may hide by an attribute of the same name."""

    def __init__(self, read: Callable[[Any], T]) -> None:
        self.read = read
        self.__doc__ = read.__doc__

    @overload
    def __get__(self, node: None, kind: type) -> Self: ...
    @overload
    def __get__(self, node: object, kind: type) -> T: ...
    def __get__(self, node: object | None, kind: type) -> Self | T:
        """Return the node's value."""
        return self if node is None else self.read(node)
