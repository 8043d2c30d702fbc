"""`size_of` follows the table in its docstring."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import Any, NamedTuple

import pytest

from causeway.pycontrol.protocol_errors import Misuse
from causeway.pycontrol.sizes import size_of


class Colour(Enum):
    RED = "red"


class Level(IntEnum):
    LOW = 1


@dataclass(frozen=True)
class Vote:
    term: int
    granted: bool


class Entry(NamedTuple):
    key: str
    value: bytes


@dataclass
class Sized:
    payload: Any
    size_bytes: int = 40


class Computed:
    @property
    def size_bytes(self) -> int:
        return 7


@pytest.mark.parametrize(
    ("content", "bytes_"),
    [
        (b"abc", 3), (bytearray(5), 5), ("abc", 3), ("ä", 2), ("", 0), (None, 0), (True, 1), (Colour.RED, 1),
        (Level.LOW, 1), (3, 8), (10**30, 8), (1.5, 8), ((), 1), ([1, 2], 17), ({1, 2}, 17), (frozenset("ab"), 3),
        ({"a": 1}, 10), (Vote(3, True), 10), (Entry("k", b"vv"), 4), ((1, (2, None)), 18), (Sized(object()), 40),
        (Computed(), 7), ([Computed()], 8),
    ],
)  # fmt: skip
def test_the_size_of(content: Any, bytes_: int) -> None:
    assert size_of(content) == bytes_


@pytest.mark.parametrize("content", [object(), [object()], {1: 2j}, Vote, Sized, print, Sized(1, -1), Sized(1, True)])
def test_other_contents_are_refused(content: Any) -> None:
    with pytest.raises(Misuse) as error:
        size_of(content)
    assert "size_bytes" in str(error.value) and "\n" not in str(error.value)
