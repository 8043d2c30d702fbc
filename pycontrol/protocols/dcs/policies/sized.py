"""The default policy: as many components as the load needs.

`entries_for` returns the size of a clock that keeps the target error at a load. A process whose clock is too small for
the load expands at once. A process whose clock is too large by a margin stops incrementing the components that it does
not need, and increments them again if the load rises. Processes take turns to start rounds that deactivate the last
component. If only one process has expanded, it learns this when it refuses a round. It then starts a round out of turn,
since no other round could succeed before. Inactive components are removed in the same way while they outnumber the
active ones.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from causeway.pycontrol.protocols.dcs.policies.base import Policy, View, Wish, may_start

Sizing = Callable[[NDArray[np.float64]], NDArray[np.float64]]
"""Load per second -> entries of a clock that keeps the target error."""

VACATED_AT_ONCE = 2
"""The number of components that processes vacate at once. A round deactivates only one, and until then the others are
useful."""
OUT_OF_TURN = 0.1
"""The probability with which a process that is behind starts a round at a tick, so that not all start at once."""


class Sized(Policy):
    """Sizes the clock by `entries_for(load)`."""

    ticks = True

    def __init__(self, entries_for: Sizing, component_size: int, capacity: int, margin: float = 0.1) -> None:
        self.entries_for, self.margin = entries_for, margin
        self.component_size, self.capacity = component_size, capacity

    def wish(self, view: View) -> Wish:
        """Return the wish for the clock sizes that the loads need."""
        wish = Wish.none(len(view.nodes))
        wish.grow_to = self._components(self.entries_for(view.load_per_s))
        enough = self.enough(view.load_per_s)
        too_many = enough < view.active
        leave = np.maximum(enough, view.active - VACATED_AT_ONCE)
        wish.assign_below = np.where(view.limit > leave, leave, wish.assign_below)
        spread = np.minimum(wish.grow_to, view.active)
        wish.assign_below = np.where(view.limit < spread, spread, wish.assign_below)
        turn = may_start(view)
        if view.behind.any():
            turn |= view.behind & (view.draw() < OUT_OF_TURN)
        wish.deactivate = turn & too_many
        wish.remove = turn & ~too_many & (view.total > 2 * view.active)
        return wish

    def enough(self, load_per_s: NDArray[np.float64]) -> NDArray[np.int32]:
        """Return the number of components that a process keeps if it has them."""
        return self._components(self.entries_for(load_per_s * (1 + self.margin)))

    def _components(self, entries: NDArray[np.float64]) -> NDArray[np.int32]:
        wanted = np.ceil(entries / self.component_size)
        return np.clip(wanted, 1, self.capacity).astype(np.int32)
