"""Judge a measured number against a published one: equal, inside the interval or bounds, near, or off.

A verdict needs at least `SEEDS` runs and a 95 % interval narrower than half the measured value; against a bound, an
interval that lies on one side of it will do. Otherwise it reads "too few seeds", with the ratio beside it, so that a
loss stays visible.
"""

from dataclasses import dataclass

from causeway.analysis.figures.numbers import short

NEAR = 0.10  # a relative distance below which two numbers count as near each other
SEEDS = 5
"""The fewest runs from which a mean is judged."""
WIDEST = 0.5
"""The width of an interval, as a share of the measured value, from which on the mean is not judged."""


@dataclass(frozen=True)
class Verdict:
    """A word for the page, and its style class: good, near, off or few (too few seeds)."""

    kind: str
    text: str


def decides(measured: float, low: float, high: float, runs: int) -> bool:
    """Return whether a mean is known well enough to be judged.

    Runs that all measure the same have an interval without width, also around 0.
    """
    return runs >= SEEDS and (high == low or high - low < WIDEST * abs(measured))


def verdict(published: float, measured: float, low: float, high: float, runs: int) -> Verdict:
    """Judge against a published number: inside the 95 % interval, near (within 10 %), or off."""
    if not decides(measured, low, high, runs):
        return _few(published, measured)
    if measured == published:
        return Verdict("good", "✓ equal")
    if low <= published <= high:
        return Verdict("good", "✓ inside the interval")
    return _apart(published, measured)


def bounds_verdict(
    least: float, most: float, strict: bool, measured: float, low: float, high: float, runs: int
) -> Verdict:
    """Judge against published bounds (NaN: none on that side): within, reached by the interval, near, or off.

    `strict`: the bounds themselves are outside (less than, more than).
    """
    below = measured < least or (strict and measured == least)
    above = measured > most or (strict and measured == most)
    reaches = (below and high > least) or (above and low < most)
    crosses = low < least < high or low < most < high
    if runs < SEEDS or (crosses and not decides(measured, low, high, runs)):
        return _few(least if below else most, measured) if below or above else Verdict("few", "too few seeds (within)")
    if not (below or above):
        return Verdict("good", "✓ within")
    if reaches:
        return Verdict("good", "✓ the interval reaches the bound")
    if measured in (least, most):
        return Verdict("near", "≈ at the bound")
    return _apart(least if below else most, measured)


def _few(published: float, measured: float) -> Verdict:
    ratio = f" (×{measured / published:.3g})" if published else ""
    return Verdict("few", f"too few seeds{ratio}")


def _apart(published: float, measured: float) -> Verdict:
    if published == 0:
        return Verdict("off", "✗ published 0")
    ratio = measured / published
    if abs(ratio - 1) <= NEAR:
        return Verdict("near", f"≈ {ratio - 1:+.1%}".replace("-", "−"))
    if ratio <= 0:
        return Verdict("off", "✗ other sign" if ratio else "✗ measured 0")
    return Verdict("off", f"✗ ×{ratio:.3g}")


def explained(relation: str, published: float, low: float, high: float) -> str:
    """Return a published value in the form of the paper: 0.3, about 0.3, < 0.5, 0.1 to 0.3."""
    if relation == "to":
        return f"{short(low)} to {short(high)}"
    if relation in ("<", ">"):
        return f"{relation} {short(high if relation == '<' else low)}"
    return f"about {short(published)}" if relation == "about" else short(published)
