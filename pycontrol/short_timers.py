"""Timers whose delays are numbers of seconds in all likelihood: `self.set_timer("beat", 1)` is 1 ps."""

from __future__ import annotations

from collections.abc import Hashable

from causeway.network.units import PICOSECONDS
from causeway.pycontrol.repeated import Repeated

LIMIT_PS = 10**6
"""A microsecond."""
SHARE = 1000
"""One of so many timers may be short by chance: a random delay, or what is left of a time."""


class ShortTimers:
    """Counts the timers of a run that are shorter than a microsecond, or than a thousandth of a short reaction time."""

    def __init__(self, reaction_ps: int) -> None:
        self.limit_ps = min(LIMIT_PS, reaction_ps // 1000)
        self._count, self._first = 0, (0, 0)

    def checked(self, node: int, key: Hashable, delay_ps: int) -> int:
        """Return the delay of a timer, after counting the timer if it is short. Delays of 0 are usual."""
        if 0 < delay_ps < self.limit_ps and not isinstance(key, Repeated):
            self._first = self._first if self._count else (node, delay_ps)
            self._count += 1
        return delay_ps

    def warnings(self, timers: int) -> list[str]:
        """Return a line if there were short timers, and not by chance; `timers` is the number of all timers."""
        if not self._count or self._count * SHARE < timers:
            return []
        node, delay_ps = self._first
        return [
            f"nodes set timers of less than a microsecond ({self._count:,} of {timers:,}; the first at node {node} for "
            f"{delay_ps} ps); {PICOSECONDS}"
        ]
