"""Periodic jobs of a study during a run (`PerNode.every`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, eq=False)
class Repeated:
    """A periodic job. It is the key of its own timer."""

    period_ps: int
    handler: Callable[[Any], int | None]
    first_ps: int
    node: int
    always: bool = False
    """True if the job also runs while the node is down (on packet-level engines)."""


NEVER_AGAIN = -1
"""A job returns this value to end itself."""
