"""Handlers for contents of one type: `@handles(Probe)` on a method of a node.

    class Prober(Node):
        @handles(Probe)
        def on_probe(self, probe: Probe, sender: int) -> None:
            self.send(sender, Ack(probe.number))

`Node.on_packet` calls the handler of the content's type, or of the nearest of its base classes.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar, overload

from causeway.errors import UserError
from causeway.pycontrol.protocol_errors import Misuse, shown
from causeway.signatures import checked_arguments

N = TypeVar("N")
A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
MARK = "__handles__"


@overload
def handles(kind: type[A], /) -> Callable[[Callable[[N, A, int], None]], Callable[[N, A, int], None]]: ...
@overload
def handles(
    kind: type[A], other: type[B], /
) -> Callable[[Callable[[N, A | B, int], None]], Callable[[N, A | B, int], None]]: ...
@overload
def handles(
    kind: type[A], other: type[B], third: type[C], /
) -> Callable[[Callable[[N, A | B | C, int], None]], Callable[[N, A | B | C, int], None]]: ...
@checked_arguments
def handles(*kinds: type) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make a method of a node the handler of contents of these types. It is called with the content and the sender."""
    for kind in kinds:
        if not isinstance(kind, type):
            raise UserError(f"handles was given {shown(kind)}; allowed: a class of contents, as in @handles(Probe)")
    if not kinds:
        raise UserError("handles needs the class of the contents, as in @handles(Probe)")

    def mark(method: Callable[..., None]) -> Callable[..., None]:
        name = getattr(method, "__qualname__", shown(method))
        try:
            inspect.signature(method).bind(None, None, None)
        except TypeError:
            raise UserError(f"{name} cannot handle contents; its arguments must be (self, content, sender)") from None
        setattr(method, MARK, (*getattr(method, MARK, ()), *kinds))
        return method

    return mark


def check_class(kind: type) -> None:
    """Refuse a class that has two handlers for one type of contents."""
    own: dict[type, str] = {}
    for name, value in vars(kind).items():
        for content in getattr(value, MARK, ()) if callable(value) else ():
            if content in own:
                raise UserError(
                    f"{kind.__name__}.{own[content]} and {kind.__name__}.{name} both handle {content.__name__}; "
                    "keep one of them"
                )
            own[content] = name


@cache
def handlers_of(kind: type) -> dict[type, str]:
    """Return the types of contents that a class of nodes handles, and the names of the methods."""
    found: dict[type, str] = {}
    for base in reversed(kind.__mro__):
        for name, value in vars(base).items():
            for content in getattr(value, MARK, ()) if callable(value) else ():
                found[content] = name
    return found


@cache
def handler_of(kind: type, content: type) -> str | None:
    """Return the name of the method that handles contents of a type; None if the class handles none by type.

    Raises:
        Misuse: The class has handlers, but none for this type.
    """
    table = handlers_of(kind)
    if not table:
        return None
    for base in content.__mro__:
        if base in table:
            return table[base]
    known = ", ".join(sorted(one.__name__ for one in table))
    raise Misuse(
        f"{kind.__name__} has no handler of {content.__name__}; it handles {known}; add a method with "
        f"@handles({content.__name__})"
    )


def dispatched(node: Any, content: Any) -> Callable[[Any, int], None] | None:
    """Return the method of a node that handles a content; None if its class handles no contents by type."""
    kind: Any = type(node)
    of: Any = type(content)
    name = handler_of(kind, of)
    return None if name is None else getattr(node, name)
