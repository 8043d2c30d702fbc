"""The interface of policies: at each tick, a process gets a `View` of its clock and load, and returns a `Wish`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

I32 = NDArray[np.int32]
STAY = -1
"""A value of `Wish.avoid` and `Wish.assign_below` that means no change."""


@dataclass(frozen=True)
class View:
    """The knowledge of the processes that have a tick now, one row each.

    The wish of a process depends only on its row.
    """

    tick: int
    """The number of earlier ticks of each of them."""
    all_nodes: int
    nodes: I32
    load_per_s: NDArray[np.float64]
    """Messages broadcast and delivered per second, averaged over the recent past."""
    active: I32
    total: I32
    s_incr: I32
    limit: I32
    """s_incr was chosen among the components below this one."""
    behind: NDArray[np.bool_]
    """True if the process refused a round because of a component above the round's."""
    increments: Callable[[], NDArray[np.float64]]
    """A function that returns the increments of each component since its last removal, computed from the clock: [rows,
    components]."""
    draw: Callable[[], NDArray[np.float64]]
    """A function that returns a uniform random number for each row."""


@dataclass
class Wish:
    """The changes that these processes wish. It has no effect on a process that takes part in an undecided round."""

    grow_to: I32
    """Expand to this number of active components."""
    assign_below: I32
    """Choose a new s_incr, among the components below this one."""
    avoid: I32
    """Choose a new s_incr, among the active components except this one."""
    deactivate: NDArray[np.bool_]
    """Start a Deactivation round about the highest active component."""
    remove: NDArray[np.bool_]
    """Start a Remove round about the highest component."""

    @classmethod
    def none(cls, rows: int) -> Wish:
        """Return the wish to change nothing."""
        return cls(
            np.zeros(rows, np.int32), np.full(rows, STAY, np.int32), np.full(rows, STAY, np.int32),
            np.zeros(rows, np.bool_), np.zeros(rows, np.bool_),
        )  # fmt: skip


class Policy:
    """Base of all policies. It changes nothing."""

    ticks = False
    """True if the policy needs ticks."""

    def wish(self, view: View) -> Wish:
        """Return the changes that the processes wish now."""
        return Wish.none(len(view.nodes))


def may_start(view: View) -> NDArray[np.bool_]:
    """Return the processes that may start rounds at this tick. They take turns, so that rounds rarely overlap."""
    stride = 7919  # a prime number, so that consecutive processes differ in ids and phases
    return view.nodes == (view.tick * stride) % view.all_nodes
