"""Powers of five to 128 bits, for reading decimal numbers exactly (Lemire, Number Parsing at a Gigabyte per Second)."""

import numpy as np

SMALLEST, LARGEST = -342, 308


def _five_to_the(power: int) -> int:
    """The top 128 bits of 5**power: rounded down where the power is positive, up where it is negative."""
    if power >= 0:
        value = 5**power
        extra = value.bit_length() - 128
        return value >> extra if extra > 0 else value << -extra
    divisor = 5**-power
    shift = divisor.bit_length() + 127
    quotient = -(-(1 << shift) // divisor)  # rounded up
    extra = quotient.bit_length() - 128
    return quotient >> extra if extra > 0 else quotient


def table() -> tuple[np.ndarray, np.ndarray]:
    """The high and low 64 bits of every power from SMALLEST to LARGEST."""
    values = [_five_to_the(power) for power in range(SMALLEST, LARGEST + 1)]
    mask = (1 << 64) - 1
    return np.array([v >> 64 for v in values], np.uint64), np.array([v & mask for v in values], np.uint64)
