"""How long to look for a frame again and again before sleeping: not at all while somebody else wants the core.

Who spins uses up its share of a core, and is then made to wait for it just when a frame comes. Being interrupted often
is how that shows.
"""

from __future__ import annotations

import resource
from collections.abc import Callable

LOOK = 128
"""Frames from one look at the interruptions to the next."""
MOST_INTERRUPTIONS = 4
"""In that many frames. A core of one's own sees one or two: the kernel's own work."""
REST = 4096
"""Frames without spinning, after which it is tried again."""


def interruptions() -> int:
    """How often this process was made to give up its core."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw


class Spin:
    """Says for each frame how long to spin."""

    def __init__(self, usual_s: float, interruptions: Callable[[], int] = interruptions) -> None:
        self._usual_s = usual_s
        self._interruptions = interruptions
        self._seen = interruptions() if usual_s else 0
        self._left = LOOK
        self._now_s = usual_s

    def next_s(self) -> float:
        """For the next frame."""
        if self._left:
            self._left -= 1
        else:
            self._look()
        return self._now_s

    def _look(self) -> None:
        before, self._seen = self._seen, self._interruptions()
        crowded = self._now_s > 0 and self._seen - before > MOST_INTERRUPTIONS
        self._now_s = 0.0 if crowded else self._usual_s
        self._left = REST if crowded else LOOK
