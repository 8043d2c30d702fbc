"""Find messages in the contents of packets, for explanations of runs of any protocol."""

from __future__ import annotations

from typing import Any


def messages_in(content: Any, depth: int = 3) -> set[int]:
    """Return the numbers in a content that may be ids of messages.

    These are the content itself if it is an int, its attributes `message`, `number` and `id`, and the same for items of
    tuples and lists, `depth` levels deep.
    """
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
