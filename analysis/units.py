"""Read quantities with a unit, as OMNeT++ writes iteration variables: `1.5s`, `500ms`, `2e6bps`, `10 mW`.

A quantity becomes a number in the base unit of its family (seconds, bits a second, bytes, metres, ...), so that 500ms
and 1s are in the right order on one axis. Logarithmic quantities (dB, dBm) are not converted.
"""

from __future__ import annotations

import re

_QUANTITY = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*([A-Za-zµ%/]+)\s*")
_DECIMAL = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_SMALL = {"": 1.0, "m": 1e-3, "u": 1e-6, "µ": 1e-6, "n": 1e-9, "p": 1e-12, "f": 1e-15, "a": 1e-18}
_BINARY = {"Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40}
FACTORS: dict[str, float] = {
    **{f"{prefix}s": factor for prefix, factor in _SMALL.items()},
    "min": 60.0, "h": 3600.0, "d": 86400.0,
    **{f"{prefix}{unit}": factor for unit in ("bps", "b", "B", "Hz") for prefix, factor in _DECIMAL.items()},
    **{f"{prefix}{unit}": factor for unit in ("b", "B") for prefix, factor in _BINARY.items()},
    **{f"{prefix}{unit}": factor for unit in ("W", "J", "V", "A", "Ohm")
       for prefix, factor in {**_SMALL, "k": 1e3, "M": 1e6}.items()},
    **{f"{prefix}m": factor for prefix, factor in {"": 1.0, "m": 1e-3, "c": 1e-2, "k": 1e3, "u": 1e-6}.items()},
    "mps": 1.0, "kmps": 1e3, "kmph": 1 / 3.6, "g": 1e-3, "kg": 1.0, "deg": 1.0, "rad": 1.0, "dB": 1.0, "dBm": 1.0,
    "dBW": 1.0, "pct": 0.01, "%": 0.01, "x": 1.0, "K": 1.0,
}  # fmt: skip


def in_base_units(text: str) -> float | None:
    """Return the number; None if the text is not a quantity with a known unit."""
    found = _QUANTITY.fullmatch(text)
    if found is None or found[2] not in FACTORS:
        return None
    return float(found[1]) * FACTORS[found[2]]
