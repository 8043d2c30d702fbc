"""Jobs of a study that come up again and again while a run goes on (`PerNode.every`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, eq=False)
class Repeated:
    """A job of a study that comes up again and again (`PerNode.every`). It is the key of its own timer."""

    period_ps: int
    handler: Callable[[Any], int | None]
    first_ps: int
    node: int


NEVER_AGAIN = -1
"""What a repeated job returns when it is over."""
