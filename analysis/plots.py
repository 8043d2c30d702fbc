"""What a study wants plotted, as data: the report draws it from the tables and knows no study."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Plot:
    """One figure of the report."""

    title: str
    study: str
    y: str
    """A scalar, or an arithmetic expression over scalars; for kind 'time' the name of a recorded series."""
    x: str = ""
    """A parameter of the study; '' for kind 'time' (x is simulated time)."""
    series: str = ""
    """A parameter: one line (or group of bars) per value of it."""
    where: Mapping[str, object] = field(default_factory=dict)
    """Only the points that have these parameter values."""
    paper: str = ""
    """Where the paper has it, e.g. 'hash, Fig. 1'; published points of that place are marked."""
    kind: str = "line"
    """line | bar | time"""
    x_label: str = ""
    y_label: str = ""
    log_x: bool = False
    log_y: bool = False
