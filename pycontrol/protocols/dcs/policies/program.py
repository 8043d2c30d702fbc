"""The rules by which the authors' published program changes sizes (github:Wilhelm2/DCSClocks), with its table.

A process counts what it receives in 0.5 s. It adds one component at a time, and once a second it may give up one; it
does neither within 0.5 s of its last change. Process 0 alone starts rounds. No component is ever removed, only
deactivated. The load of a view must be that since the last tick alone.
"""

from __future__ import annotations

import numpy as np

from causeway.pycontrol.protocols.dcs.policies.base import View, Wish
from causeway.pycontrol.protocols.dcs.policies.table import Table

STARTER = 0
"""The process that starts all rounds."""
WINDOW_MS = 500
"""The time in which messages are counted, and in which a process changes its clock at most once."""
CHECK_MS = 1000
"""The interval at which all processes check together whether their clocks are too large."""
LONGEST_TICK_MS = 250
"""A round takes three ticks, which must be over before the next check."""


class Program(Table):
    """Sizes the clock by the table, a component at a time.

    Ticks are much shorter than the interval between checks. If they were as long, process 0 would start a round
    whenever one is decided; the others would read both at one tick, remain blocked, and could never leave the
    component, so that no round would succeed.
    """

    def __init__(self, component_size: int, capacity: int, tick_ms: int) -> None:
        """Set the parameters.

        Args:
            component_size: Entries of a component.
            capacity: The maximum number of components of a clock.
            tick_ms: Time between two ticks of a process.
        """
        super().__init__(component_size, capacity)
        self.window, self.check = max(1, WINDOW_MS // tick_ms), max(1, CHECK_MS // tick_ms)
        self._loads = np.zeros((self.window, 0))
        """The load of every process at each of its last ticks."""
        self._changed = np.zeros(0, np.int64)
        """The tick at which every process last changed the size of its clock."""

    def wish(self, view: View) -> Wish:
        """Return the wish for one component more or less, at processes that have not changed their size recently."""
        if len(self._changed) != view.all_nodes:
            self._loads = np.zeros((self.window, view.all_nodes))
            self._changed = np.full(view.all_nodes, -self.window)
        self._loads[view.tick % self.window, view.nodes] = view.load_per_s
        load = self._loads[:, view.nodes].mean(axis=0)
        wish = Wish.none(len(view.nodes))
        settled = view.tick - self._changed[view.nodes] >= self.window
        more = settled & (self._components(self.entries_for(load)) > view.active)
        fewer = settled & ~more & (view.active > 1) & (self.enough(load) < view.active)
        fewer &= (view.tick + 1) % self.check == 0
        back = more & (view.limit < view.active)
        wish.grow_to = np.where(more & ~back, view.active + 1, 0).astype(np.int32)
        wish.assign_below = np.where(back, view.limit + 1, wish.assign_below)
        wish.assign_below = np.where(fewer, view.active - 1, wish.assign_below)
        wish.deactivate = fewer & (view.nodes == STARTER)
        self._changed[view.nodes[more | fewer]] = view.tick
        return wish
