"""Scripted moves that do not depend on the load. The authors' published program uses them for Figure 10 of dcs23."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from causeway.pycontrol.protocols.dcs.policies.base import Policy, View, Wish


@dataclass(frozen=True)
class Move:
    """A change of s_incr: at `tick`, the first `share` of the processes choose it among the components `below`."""

    tick: int
    below: int
    share: float


class Scripted(Policy):
    """Makes the given moves and nothing else."""

    ticks = True

    def __init__(self, moves: Sequence[Move]) -> None:
        self.moves = tuple(moves)

    def wish(self, view: View) -> Wish:
        """Return the wish for the moves of this tick."""
        wish = Wish.none(len(view.nodes))
        for move in self.moves:
            if move.tick == view.tick:
                goes = view.nodes < move.share * view.all_nodes
                wish.assign_below = np.where(goes, np.minimum(move.below, view.active), wish.assign_below)
        return wish
