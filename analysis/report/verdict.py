"""Judge a measured number against a published one. Start here: `judge`.

| kind | the published number |
|---|---|
| exact | equals the measured one in the digits that the paper prints, in every run |
| inside | lies in the 95 % interval of the mean, or is a bound that the mean or the interval satisfies |
| near | is within 10 % of the mean |
| off | is further away |
| too few seeds | has fewer than `SEEDS` runs beside it, or an interval wider than half the mean |
| fitted | was used to choose a parameter, so the comparison proves nothing |
| impossible | contradicts the paper's own model |

The last two are remarks of the study on its published numbers (`published.read`). The verdict "too few seeds" shows the
ratio, too, so that a large difference stays visible.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from causeway.analysis.figures.numbers import short
from causeway.analysis.published import ANOTHER_READING

NEAR = 0.10  # a relative distance below which two numbers count as near each other
SEEDS = 5
"""The minimum number of runs for a verdict. It does not apply to points without randomness, whose runs are all equal.
"""
WIDEST = 0.5
"""The width of an interval, as a share of the measured value, from which on there is no verdict."""
FEW = "too few seeds"
KINDS = ("exact", "inside", "near", "off", FEW, "fitted", "impossible")
SIGNS = {"exact": "=", "inside": "✓", "near": "≈", "off": "✗", FEW: "?", "fitted": "·", "impossible": "-"}
"""A character for each kind, for places without room for a word."""


@dataclass(frozen=True)
class Verdict:
    """A kind (one of `KINDS`), and a text for the page with the distance of the two numbers."""

    kind: str
    text: str

    @property
    def css(self) -> str:
        """The CSS class of its colour in a page."""
        return {"exact": "good", "inside": "good", "near": "near", "off": "off"}.get(self.kind, "soft")


def judge(number: Mapping[Any, Any], measured: float, low: float, high: float, runs: int) -> Verdict:
    """Judge a mean, its interval and its number of runs against a row of published numbers.

    Args:
        number: The row, with relation, published, low and high (NaN: not given). `drawn` is False if all runs of the
            point are equal; for `remark` and `decimals` see `published.read`.
        measured: The mean.
        low: The lower end of its 95 % interval; NaN for a single run.
        high: The upper end.
        runs: The number of runs.
    """
    if not number.get("drawn", True):
        low, high = (measured, measured) if runs == 1 else (low, high)
        runs = max(runs, SEEDS)
    if number["relation"] in ("=", "about"):
        found = verdict(number["published"], measured, low, high, runs, _decimals(number))
    else:
        found = bounds_verdict(
            number["low"], number["high"], number["relation"] != "to", measured, low, high, runs
        )  # fmt: skip
    remark = number.get("remark", "")
    return Verdict(remark, f"{found.text} ({remark})") if remark and remark != ANOTHER_READING else found


def _decimals(number: Mapping[Any, Any]) -> int | None:
    """Return the digits after the point of a row's number; None if it is not known (NaN in a frame)."""
    given = number.get("decimals")
    return None if given is None or math.isnan(given) else int(given)


def decides(measured: float, low: float, high: float, runs: int) -> bool:
    """Return whether a mean is known well enough for a verdict.

    If all runs measure the same value, the interval has no width, and this is enough even if the value is 0.
    """
    return runs >= SEEDS and (high == low or high - low < WIDEST * abs(measured))


def verdict(
    published: float, measured: float, low: float, high: float, runs: int, decimals: int | None = None
) -> Verdict:
    """Compare with a published number: exact, inside the 95 % interval, near (within 10 %), or off."""
    if not decides(measured, low, high, runs):
        return _few(published, measured)
    if low == high and same_digits(measured, published, decimals):
        return Verdict("exact", "= exact")
    if low <= published <= high:
        return Verdict("inside", "✓ inside the interval")
    return _by_ratio(published, measured)


def same_digits(measured: float, said: float, decimals: int | None = None) -> bool:
    """Return whether two numbers are equal in the digits that the paper prints.

    Args:
        measured: Ours.
        said: The paper's.
        decimals: Its digits after the point; None: as many as the number needs.
    """
    if decimals is None:
        text = f"{said:.12g}"
        decimals = len(text.partition(".")[2]) if "e" not in text else 12
    return round(measured, decimals) == round(said, decimals)


def bounds_verdict(
    least: float, most: float, strict: bool, measured: float, low: float, high: float, runs: int
) -> Verdict:
    """Compare with published bounds: within, reached by the interval, near, or off. NaN means no bound on that side.

    If `strict`, the bounds themselves are not allowed (less than, more than).
    """
    below = measured < least or (strict and measured == least)
    above = measured > most or (strict and measured == most)
    reaches = (below and high > least) or (above and low < most)
    crosses = low < least < high or low < most < high
    if runs < SEEDS or (crosses and not decides(measured, low, high, runs)):
        if below or above:
            return _few(least if below else most, measured)
        return Verdict(FEW, f"{FEW} (within)")
    if not (below or above):
        return Verdict("inside", "✓ within")
    if reaches:
        return Verdict("inside", "✓ the interval reaches the bound")
    if measured in (least, most):
        return Verdict("near", "≈ at the bound")
    return _by_ratio(least if below else most, measured)


def _few(published: float, measured: float) -> Verdict:
    ratio = f" (×{measured / published:.3g})" if published else ""
    return Verdict(FEW, f"{FEW}{ratio}")


def _by_ratio(published: float, measured: float) -> Verdict:
    if published == 0:
        return Verdict("off", "✗ published 0")
    ratio = measured / published
    if abs(ratio - 1) <= NEAR:
        return Verdict("near", f"≈ {ratio - 1:+.1%}".replace("-", "−"))
    if ratio <= 0:
        return Verdict("off", "✗ other sign" if ratio else "✗ measured 0")
    return Verdict("off", f"✗ ×{ratio:.3g}")


def worst(factors: list[float]) -> str:
    """Return the factor that is furthest from 1, above or below; "" if there is none."""
    finite = [one for one in factors if math.isfinite(one)]
    if not finite:
        return ""
    return f"×{max(finite, key=lambda f: abs(math.log(f)) if f > 0 else math.inf):.3g}"


def explained(relation: str, published: float, low: float, high: float) -> str:
    """Format a published value as the paper prints it: 0.3, about 0.3, < 0.5, 0.1 to 0.3."""
    if relation == "to":
        return f"{short(low)} to {short(high)}"
    if relation in ("<", ">"):
        return f"{relation} {short(high if relation == '<' else low)}"
    return f"about {short(published)}" if relation == "about" else short(published)
