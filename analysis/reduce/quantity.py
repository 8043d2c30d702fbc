"""Quantities of one run, such as a headline: compute a formula over the run's scalars and parameters, and format it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

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


def number(value: float) -> str:
    """Format a number with four digits, or as a whole number."""
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}"
