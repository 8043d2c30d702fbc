"""What a study may tell `causeway check`: how big a world, what may happen in it, what must hold besides."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from causeway.pycontrol.check.properties import Always, AtRest
from causeway.pycontrol.check.symmetry import Alike
from causeway.pycontrol.check.world import ONE_CLOCK, Budget, World
from causeway.pycontrol.node import PerNode


@dataclass(frozen=True)
class Checks:
    """Everything has a default: a study need not say anything."""

    properties: tuple[str, ...] = ()
    """Which of the known ones; none: `once`, `causal` and `arrives`, or only the study's own if it has any."""
    always: Mapping[str, Always] = field(default_factory=dict)
    """What must hold in every state: a name, and a function of the world that says what is broken (None: nothing)."""
    at_end: Mapping[str, AtRest] = field(default_factory=dict)
    """What must hold once nothing is left to happen."""
    calls: Mapping[str, Callable[[Any], None]] = field(default_factory=dict)
    """What the application can do at a node besides broadcasting: a name, and what is called with the node."""
    budget: Budget | None = None
    """What may happen, unless the command says otherwise."""
    protocol: Callable[[], PerNode] | None = None
    """Another protocol than the run's: the readable twin of one over columns, a smaller one."""
    world: Callable[[PerNode, Budget], World] | None = None
    """Another world than one in which everybody reaches everybody."""
    nodes: int = 0
    """How many, if not as many as the run has."""
    clocks: str = ONE_CLOCK
    """In made-up orders timers go off in the order in which they are due ("one"); "none": in any, as in every order;
    "late": in order, and only once nothing else is left to happen by itself, in every order, too."""
    every: Checks | None = None
    """What is said instead of all this where every order is followed: a smaller world."""
    alike: bool = False
    """Whether nodes differ in nothing but their names: it does not matter which of them broadcasts, fails or is called.
    """
    symmetry: Alike | None = None
    """Which nodes differ in nothing but their names, and where these names stand: then states that are the same but for
    names are one, where every order is followed whole."""
