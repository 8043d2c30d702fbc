"""Declarations that a study makes for its report: plots, headlines, expected faults, and the scene of an animation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Plot:
    """One figure of the report."""

    title: str
    study: str
    y: str
    """A scalar, or an arithmetic expression over scalars; for kinds like time the name of a recorded series."""
    x: str = ""
    """A parameter of the study; '' for kind 'time' (x is simulated time)."""
    series: str = ""
    """A parameter: one line (or group of bars) per value of it."""
    where: Mapping[str, object] = field(default_factory=dict)
    """The parameter values of the points to show."""
    paper: str = ""
    """Its place in the paper, e.g. 'hash, Fig. 1'. The published numbers of that place are drawn, too."""
    kind: str = "line"
    """line | bar | time | state | cdf | histogram | box | scatter, or one of your own (causeway.analysis.kinds)."""
    x_label: str = ""
    y_label: str = ""
    log_x: bool = False
    log_y: bool = False
    more: Mapping[str, Any] = field(default_factory=dict)
    """The options of this kind."""


@dataclass(frozen=True)
class Headline:
    """One of the few numbers that summarize a run: `causeway run` prints them, one column each."""

    name: str
    """The heading of the column, which should be short."""
    scalar: str
    """A scalar, or an arithmetic expression over scalars and numeric parameters."""
    unit: str = ""
    meaning: str = ""
    """One line."""


@dataclass(frozen=True)
class Expected:
    """Violations or duplicates that a study measures, so that the report does not list them as unexpected."""

    scalar: str
    """`violations` or `duplicates`."""
    why: str
    """One line."""
    where: Mapping[str, object] = field(default_factory=dict)
    """The parameter values with which it is expected."""


MARKS = ("dot", "ring", "cross")


@dataclass(frozen=True)
class State:
    """One state of a moving thing, as a value of a series, and its drawing."""

    value: float
    mark: str
    """One of MARKS."""
    meaning: str


@dataclass(frozen=True)
class Scene:
    """An animation of a run: the names of the recorded series with the positions and states of its things.

    Places are the modules `PLACE[0]`, `PLACE[1]`, ... with the series x_m, y_m, reach_m (once) and, where they are
    joined, wired_to (a sample for each). Things that move are `THING[0]`, ... with x_m and y_m over time.
    """

    place: str
    thing: str
    at: str
    """Series of a thing: the number of the place at which it is; negative for none."""
    state: str
    """Series of a thing: one of the values in `states`."""
    states: tuple[State, ...]
    place_size: str = ""
    """Series of a place, drawn as a bar."""
    place_size_meaning: str = ""
    thing_size: str = ""
    """Series of a thing, drawn as the size of its dot."""
    thing_size_meaning: str = ""
    charts: Mapping[str, str] = field(default_factory=dict)
    """Series of the module `run` that are drawn beside the map, with their titles."""
