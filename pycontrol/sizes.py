"""Compute sizes of contents, for packets that are sent without a size: `size_of`."""

from __future__ import annotations

import dataclasses
import operator
from enum import Enum
from typing import Any

from causeway.pycontrol.protocol_errors import Misuse, shown
from causeway.signatures import checked_arguments

NUMBER_BYTES = 8
"""The size of an int or a float of any value: the size of a 64-bit field."""
CONTAINER_BYTES = 1
"""The size of a container in addition to the sizes of its items."""
CONTAINERS = (tuple, list, set, frozenset)


@checked_arguments
def size_of(content: Any) -> int:
    """Return the size of a content in bytes. It is the default size of a packet in `send`.

    | content | bytes |
    |---|---|
    | an object with an attribute `size_bytes` | its value |
    | `bytes`, `bytearray` | the length |
    | `str` | the length in UTF-8 |
    | `None` | 0 |
    | `bool`, a member of an `Enum` | 1 |
    | `int`, `float` | 8 for any value |
    | `tuple`, `NamedTuple`, `list`, `set`, `frozenset` | the sum of the items, plus 1 |
    | `dict` | the sum of the keys and values, plus 1 |
    | a dataclass | the sum of the fields, plus 1 |

    Raises:
        Misuse: The content or a part of it has another type.
    """
    return _size(content)


def _size(content: Any) -> int:
    kind = type(content)
    if kind is int or kind is float:
        return NUMBER_BYTES
    if kind is str:
        return len(content.encode())
    if content is None:
        return 0
    if not isinstance(content, type) and (given := getattr(content, "size_bytes", None)) is not None:
        return _own(content, given)
    if isinstance(content, bool | Enum):
        return 1
    if isinstance(content, bytes | bytearray):
        return len(content)
    if isinstance(content, str):
        return len(content.encode())
    if isinstance(content, int | float):
        return NUMBER_BYTES
    if isinstance(content, CONTAINERS):
        return CONTAINER_BYTES + sum(map(_size, content))
    if isinstance(content, dict):
        return CONTAINER_BYTES + sum(_size(key) + _size(value) for key, value in content.items())
    if dataclasses.is_dataclass(content) and not isinstance(content, type):
        return CONTAINER_BYTES + sum(_size(getattr(content, field.name)) for field in dataclasses.fields(content))
    raise Misuse(
        f"{shown(content)} has no size: size_of does not support {kind.__name__}; pass size_bytes, or define an "
        f"attribute size_bytes in {kind.__name__}"
    )


def _own(content: Any, given: Any) -> int:
    """Return the size that a content declares."""
    try:
        size = -1 if isinstance(given, bool) else operator.index(given)
    except TypeError:
        size = -1
    if size < 0:
        raise Misuse(f"{type(content).__name__}.size_bytes is {shown(given)}; allowed: a whole number from 0 on")
    return size
