"""Load balancing on a clock of fixed size (Section V-C of dcs23).

Every `every` ticks a process looks how often each component was incremented since it last looked. If the one it
increments itself got much more than its share, it moves to another one with probability one half: half of them stay, so
that the excess does not just move along.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from causeway.pycontrol.protocols.dcs.policies.base import Policy, View, Wish


class Balance(Policy):
    """Moves processes off components that are incremented too much."""

    ticks = True

    def __init__(self, every: int, excess: float = 1.2, probability: float = 0.5, offset: int = 0) -> None:
        """`excess`: how many times the fair share is too much; `offset`: the first look."""
        self.every, self.excess, self.probability, self.offset = every, excess, probability, offset
        self._before: NDArray[np.float64] | None = None

    def wish(self, view: View) -> Wish:
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
