"""What a measured number says about a published one."""

import math
from dataclasses import dataclass

NEAR = 0.10  # a relative distance below which two numbers count as near each other


@dataclass(frozen=True)
class Verdict:
    """A word for the page, and its style class: good, near or off."""

    kind: str
    text: str


def verdict(published: float, measured: float, low: float, high: float) -> Verdict:
    """Inside the 95 % interval, near (within 10 %), or how far off."""
    if measured == published:
        return Verdict("good", "✓ equal")
    if math.isfinite(low) and low <= published <= high:
        return Verdict("good", "✓ inside the interval")
    if published == 0:
        return Verdict("off", "✗ published 0")
    ratio = measured / published
    if abs(ratio - 1) <= NEAR:
        return Verdict("near", f"≈ {ratio - 1:+.1%}".replace("-", "−"))
    if ratio <= 0:
        return Verdict("off", "✗ other sign" if ratio else "✗ measured 0")
    return Verdict("off", f"✗ ×{ratio:.3g}")
