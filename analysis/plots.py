"""Declarations of a study for its report: plots, headlines, expected faults and the scene of an animation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from causeway.signatures import checked_arguments


@checked_arguments
@dataclass(frozen=True)
class Plot:
    """One figure of the report."""

    title: str
    study: str
    y: str
    """A scalar, or an arithmetic expression over scalars. For kinds such as time: the name of a recorded series."""
    x: str = ""
    """A parameter of the study; '' for the kind 'time', whose x is simulated time."""
    series: str = ""
    """A parameter. There is one line (or group of bars) for each of its values."""
    where: Mapping[str, object] = field(default_factory=dict)
    """The parameter values of the points to show."""
    paper: str = ""
    """The plot's place in the paper, e.g. 'hash, Fig. 1'. The published numbers of that place are drawn, too."""
    kind: str = "line"
    """line, bar, time, state, cdf, histogram, box, scatter, or a kind of your own (causeway.analysis.kinds)."""
    x_label: str = ""
    y_label: str = ""
    log_x: bool = False
    log_y: bool = False
    more: Mapping[str, Any] = field(default_factory=dict)
    """Options of the kind of plot."""


@checked_arguments
@dataclass(frozen=True)
class Headline:
    """One of the few numbers that summarize a run. `causeway run` prints each in a column."""

    name: str
    """The heading of the column. It should be short."""
    scalar: str
    """A scalar, or an arithmetic expression over scalars and numeric parameters."""
    unit: str = ""
    meaning: str = ""
    """A description in one line."""


@checked_arguments
@dataclass(frozen=True)
class Expected:
    """Violations or duplicates that a study expects to measure. The report does not list them as unexpected."""

    scalar: str
    """`violations` or `duplicates`."""
    why: str
    """The reason, in one line."""
    where: Mapping[str, object] = field(default_factory=dict)
    """The parameter values for which it is expected."""


MARKS = ("dot", "ring", "cross")


@checked_arguments
@dataclass(frozen=True)
class State:
    """One state of a moving thing: the value of a series, and the mark that is drawn for it."""

    value: float
    mark: str
    """One of MARKS."""
    meaning: str


@checked_arguments
@dataclass(frozen=True)
class Scene:
    """An animation of a run: the names of the recorded series with the positions and states of its things.

    Places are the modules `PLACE[0]`, `PLACE[1]`, ... with one sample of each of the series x_m, y_m and reach_m and,
    if places are connected, a sample of wired_to for each connection. Things that move are `THING[0]`, ... with x_m and
    y_m over time.
    """

    place: str
    thing: str
    at: str
    """A series of a thing: the number of the place at which it is; negative for none."""
    state: str
    """A series of a thing: one of the values in `states`."""
    states: tuple[State, ...]
    place_size: str = ""
    """A series of a place, drawn as a bar."""
    place_size_meaning: str = ""
    thing_size: str = ""
    """A series of a thing, drawn as the size of its dot."""
    thing_size_meaning: str = ""
    charts: Mapping[str, str] = field(default_factory=dict)
    """Series of the module `run` that are drawn beside the map, with their titles."""
