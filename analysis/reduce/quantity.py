"""Quantities of one run, such as a headline: compute a formula over the run's scalars and parameters, and format it."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping, Sequence
from typing import Any

from causeway.analysis.plots import Headline
from causeway.analysis.reduce import expression
from causeway.errors import UserError


def quantity(formula: str, run: Mapping[str, Any]) -> float | None:
    """Compute a quantity of one run from its scalars and numeric parameters; None if one of them is missing."""

    def value_of(name: str) -> float:
        value = run["scalars"].get(name, run["parameters"].get(name))
        return float(value) if isinstance(value, int | float) else math.nan

    try:
        found = expression.evaluate(formula, value_of, lambda a, b: a / b if b else math.nan)
    except (ArithmeticError, ValueError, UserError):
        return None
    return float(found) if math.isfinite(found) else None


TYPO = 0.8
"""The similarity (of `difflib`) from which a name that no run has counts as a misspelled one."""


def unknown_names(headlines: Sequence[Headline], runs: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[str]]:
    """Return a line for each name in headlines that no run has: those that are misspelled, and all others.

    A name may be absent for a good reason, such as a mean over deliveries in runs without any.
    """
    known = sorted({name for run in runs for name in (*run["scalars"], *run["parameters"])})
    misspelled, absent = [], []
    for one in headlines if runs else ():
        for name in expression.names(one.scalar):
            if name in known:
                continue
            text = f"headline '{one.name}' names '{name}', which no run has"
            if near := difflib.get_close_matches(name, known, 1, TYPO):
                misspelled.append(f"{text}; did you mean '{near[0]}'?")
            else:
                absent.append(f"{text}; `causeway run --all` prints the names of all scalars")
    return misspelled, absent


def number(value: float) -> str:
    """Format a number with four digits, or as a whole number."""
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}"
