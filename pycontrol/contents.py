"""Which messages the content of a packet speaks of, for whoever explains a run without knowing the protocol."""

from __future__ import annotations

from typing import Any


def messages_in(content: Any, depth: int = 3) -> set[int]:
    """Whole numbers that may be messages: the content itself, or what is called so in it."""
    if type(content) is int:
        return {content}
    found: set[int] = set()
    for name in ("message", "number", "id"):
        if type(value := getattr(content, name, None)) is int:
            found.add(value)
    if depth and isinstance(content, tuple | list):
        for one in content:
            if type(one) is not int:
                found |= messages_in(one, depth - 1)
    return found
