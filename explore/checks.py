"""The settings of a study for `causeway check`: the model, the budget of faults, and the properties."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from causeway.deprecated import former_arguments
from causeway.explore.model import ONE_CLOCK, Budget, Model
from causeway.explore.properties import Always, AtQuiescence
from causeway.explore.symmetry import SymmetricNodes
from causeway.pycontrol.node import PerNode
from causeway.signatures import checked_arguments


@former_arguments(former_names={"alike": "symmetric", "world": "model"})
@checked_arguments
@dataclass(frozen=True)
class Checks:
    """The settings of a study. Each of them has a default."""

    properties: tuple[str, ...] = ()
    """Names of known properties. If it is empty: `once`, `causal` and `arrives`, or only the study's own if it has any.
    """
    always: Mapping[str, Always] = field(default_factory=dict)
    """Properties that must hold in every state, by name: functions of the model that return a violation or None."""
    at_end: Mapping[str, AtQuiescence] = field(default_factory=dict)
    """Properties that must hold when the model is quiescent."""
    calls: Mapping[str, Callable[[Any], None]] = field(default_factory=dict)
    """Actions of the application besides broadcasts, by name: functions that are called with a node."""
    budget: Budget | None = None
    """The budget of optional events, unless the command sets it."""
    protocol: Callable[[], PerNode] | None = None
    """Makes the protocol to check if it is not that of the run: a reference implementation or a smaller protocol."""
    model: Callable[[PerNode, Budget], Model] | None = None
    """Makes the model. The default is one in which each node reaches all others."""
    nodes: int = 0
    """The number of nodes; 0: the same as in the run."""
    clocks: str = ONE_CLOCK
    """The order of timers in random schedules ("one", "none" or "late", see `model.py`). An exhaustive search uses any
    order, unless this is "late"."""
    every: Checks | None = None
    """The settings for an exhaustive search, if its model should be smaller."""
    symmetric: bool = False
    """True if all nodes that may broadcast, crash or be called are equivalent."""
    symmetry: SymmetricNodes | None = None
    """The symmetric nodes, and how to rename them. An exhaustive search without reduction then explores only one of
    several states that differ only in the ids of these nodes."""
