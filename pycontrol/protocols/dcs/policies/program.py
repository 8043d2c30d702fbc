"""The rules by which the authors' published program changes sizes (github:Wilhelm2/DCSClocks), with its table.

A process counts the messages that it receives in 0.5 s. Use ticks and a memory of 500 ms, so that the load at a tick
equals this count. A process changes one component at a time, and nothing within 0.5 s of its last change, whether its
own or by a message. Only process 0 starts rounds. No component is ever removed, only deactivated.
"""

from __future__ import annotations

import numpy as np

from causeway.pycontrol.protocols.dcs.policies.base import View, Wish
from causeway.pycontrol.protocols.dcs.policies.sized import OUT_OF_TURN
from causeway.pycontrol.protocols.dcs.policies.table import Table

STARTER = 0
"""The process that starts all rounds."""


class Program(Table):
    """Sizes the clock by the table, a component at a time."""

    def __init__(self, component_size: int, capacity: int, ahead: bool = False) -> None:
        """Set the parameters.

        Args:
            component_size: Entries of a component.
            capacity: The maximum number of components of a clock.
            ahead: Also let processes with more components than process 0 start rounds. They refuse the rounds of
                process 0, so without this, no round would succeed again.
        """
        super().__init__(component_size, capacity)
        self.ahead = ahead
        self._before = np.zeros(0, np.int32)
        """The active components of every process after its last tick."""

    def wish(self, view: View) -> Wish:
        """Wish one component more or less for each process that has not changed since its last tick."""
        if len(self._before) != view.all_nodes:
            self._before = np.ones(view.all_nodes, np.int32)
        wish = Wish.none(len(view.nodes))
        settled = view.active <= self._before[view.nodes]
        more = settled & (self._components(self.entries_for(view.load_per_s)) > view.active)
        fewer = settled & ~more & (view.active > 1) & (self.enough(view.load_per_s) < view.active)
        back = more & (view.limit < view.active)
        wish.grow_to = np.where(more & ~back, view.active + 1, 0).astype(np.int32)
        wish.assign_below = np.where(back, view.limit + 1, wish.assign_below)
        wish.assign_below = np.where(fewer & (view.limit >= view.active), view.active - 1, wish.assign_below)
        starts = view.nodes == STARTER
        if self.ahead and view.behind.any():
            starts |= view.behind & (view.draw() < OUT_OF_TURN)
        wish.deactivate = fewer & starts
        self._before[view.nodes] = np.maximum(view.active, np.minimum(wish.grow_to, self.capacity))
        return wish
