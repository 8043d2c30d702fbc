"""Load balancing on a clock of fixed size (Section V-C of dcs23).

Every `every` ticks a process counts the increments of each component since the last time. If the component that it
increments got much more than its share, the process moves to another one with probability 1/2. If all such processes
moved, the excess would move with them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from causeway.pycontrol.protocols.dcs.policies.base import Policy, View, Wish


class Balance(Policy):
    """Moves processes away from components that are incremented too often."""

    ticks = True

    def __init__(self, every: int, excess: float = 1.2, probability: float = 0.5, offset: int = 0) -> None:
        """Set the parameters of Section V-C.

        Args:
            every: Ticks between two checks.
            excess: The multiple of its fair share from which a component is overloaded.
            probability: The probability with which a process leaves an overloaded component.
            offset: Ticks by which the checks are shifted.
        """
        self.every, self.excess, self.probability, self.offset = every, excess, probability, offset
        self._before: NDArray[np.float64] | None = None

    def wish(self, view: View) -> Wish:
        """Return the wish that some of the processes leave overloaded components."""
        wish = Wish.none(len(view.nodes))
        if (view.tick + 1 - self.offset) % self.every:
            return wish
        now = view.increments()
        if self._before is None:
            self._before = np.zeros((view.all_nodes, now.shape[1]))
        recent = now - self._before[view.nodes]
        self._before[view.nodes] = now
        own = view.s_incr[:, 0]
        share = recent[np.arange(len(own)), own] / np.maximum(recent.sum(axis=1), 1) * view.active
        moves = (share > self.excess) & (view.draw() < self.probability)
        wish.avoid = np.where(moves, own, wish.avoid)
        return wish
