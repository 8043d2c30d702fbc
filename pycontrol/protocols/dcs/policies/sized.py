"""The default policy: as many components as the load asks for.

`entries_for` gives the size of a clock that keeps the target error at a load. A process that sees a load for which its
clock is too small expands at once. One that sees a load for which it is too large, by a margin, moves off the
components it could do without (and spreads over them again if the load comes back); the one whose turn it is starts the
round that deactivates the last of them. Who expanded alone, and learns so by refusing a round, starts one out of turn:
no other's could succeed before. Inactive components are removed the same way as long as there are more of them than
active ones.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from causeway.pycontrol.protocols.dcs.policies.base import Policy, View, Wish, whose_turn

Sizing = Callable[[NDArray[np.float64]], NDArray[np.float64]]
"""Load per second -> entries of a clock that keeps the target error."""

AHEAD = 2
"""How many components processes move off at once: a round gives up one, and until it has, the others are of use."""
OUT_OF_TURN = 0.1
"""How likely a process that is behind starts a round at a tick: not all of them at once."""


class Sized(Policy):
    """Sizes the clock by `entries_for(load)`."""

    ticks = True

    def __init__(self, entries_for: Sizing, component_size: int, capacity: int, margin: float = 0.1) -> None:
        self.entries_for, self.margin = entries_for, margin
        self.component_size, self.capacity = component_size, capacity

    def wish(self, view: View) -> Wish:
        wish = Wish.none(len(view.nodes))
        wish.grow_to = self._components(self.entries_for(view.load_per_s))
        enough = self.enough(view.load_per_s)
        too_many = enough < view.active
        leave = np.maximum(enough, view.active - AHEAD)
        wish.assign_below = np.where(view.limit > leave, leave, wish.assign_below)
        spread = np.minimum(wish.grow_to, view.active)
        wish.assign_below = np.where(view.limit < spread, spread, wish.assign_below)
        turn = whose_turn(view)
        if view.behind.any():
            turn |= view.behind & (view.draw() < OUT_OF_TURN)
        wish.deactivate = turn & too_many
        wish.remove = turn & ~too_many & (view.total > 2 * view.active)
        return wish

    def enough(self, load_per_s: NDArray[np.float64]) -> NDArray[np.int32]:
        """Components that a process keeps once it has them."""
        return self._components(self.entries_for(load_per_s * (1 + self.margin)))

    def _components(self, entries: NDArray[np.float64]) -> NDArray[np.int32]:
        wanted = np.ceil(entries / self.component_size)
        return np.clip(wanted, 1, self.capacity).astype(np.int32)
