"""The policy interface: at each tick a process looks at its own clock and load, and says what it wants to change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

I32 = NDArray[np.int32]
STAY = -1
"""In `Wish.avoid` and `Wish.assign_below`: no change."""


@dataclass(frozen=True)
class View:
    """What the processes whose tick it is know, one row each. No process sees another's row."""

    tick: int
    """How many ticks each of them has had before."""
    all_nodes: int
    nodes: I32
    load_per_s: NDArray[np.float64]
    """Messages broadcast and delivered per second, averaged over the recent past."""
    active: I32
    total: I32
    s_incr: I32
    limit: I32
    """They chose s_incr among the components below this one."""
    behind: NDArray[np.bool_]
    """They refused a round because they have (or have active) a component above the one it is about."""
    increments: Callable[[], NDArray[np.float64]]
    """How often each component was incremented since its last removal, read off the clock: [rows, components]."""
    draw: Callable[[], NDArray[np.float64]]
    """A fresh uniform random number for each row."""


@dataclass
class Wish:
    """What those processes want. Whoever takes part in a round that is not decided has to leave it at that."""

    grow_to: I32
    """Expand to so many active components."""
    assign_below: I32
    """Assign yourself anew, to components below this one."""
    avoid: I32
    """Assign yourself anew, to any active component but this one."""
    deactivate: NDArray[np.bool_]
    """Start a Deactivation round about the highest active component."""
    remove: NDArray[np.bool_]
    """Start a Remove round about the highest component."""

    @classmethod
    def none(cls, rows: int) -> Wish:
        """To leave everything as it is."""
        return cls(
            np.zeros(rows, np.int32), np.full(rows, STAY, np.int32), np.full(rows, STAY, np.int32),
            np.zeros(rows, np.bool_), np.zeros(rows, np.bool_),
        )  # fmt: skip


class Policy:
    """Base of all policies: never changes anything."""

    ticks = False
    """Whether processes need ticks at all."""

    def wish(self, view: View) -> Wish:
        """What the processes want now."""
        return Wish.none(len(view.nodes))


def whose_turn(view: View) -> NDArray[np.bool_]:
    """Round robin over processes, one tick each: spreads the rounds' cost, and rarely starts two at once."""
    stride = 7919  # a prime: neighbours in turn are not neighbours in anything else
    return view.nodes == (view.tick * stride) % view.all_nodes
