"""Numbers as people read them, and axes with round ticks."""

import math


def short(value: float | str | None) -> str:
    """A number in four significant digits, without needless zeros."""
    if isinstance(value, str):
        return value
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value == int(value) and abs(value) < 1e6:
        text = str(int(value))
    elif value and not 1e-3 <= abs(value) < 1e6:
        mantissa, _, exponent = f"{value:.3e}".partition("e")
        mantissa = mantissa.rstrip("0").rstrip(".")
        text = f"{mantissa}×10{_raised(int(exponent))}"
    else:
        text = f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return text.replace("-", "−")


def _raised(number: int) -> str:
    return str(number).translate(str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻"))


def linear_ticks(low: float, high: float, about: int = 6) -> list[float]:
    """Round numbers that cover [low, high]."""
    if high <= low:
        high = low + (abs(low) or 1.0)
    rough = (high - low) / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= rough * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(index * step, 12 - math.floor(math.log10(step))) for index in range(first, last + 1)]


def log_ticks(low: float, high: float) -> list[float]:
    """Powers of ten that cover [low, high], with 2 and 5 between them where there are few."""
    first, last = math.floor(math.log10(low) + 1e-9), math.ceil(math.log10(high) - 1e-9)
    last = max(last, first + 1)
    if last - first <= 2:
        every = [factor * 10.0**power for power in range(first, last + 1) for factor in (1, 2, 5)]
        below = max((tick for tick in every if tick <= low * 1.000001), default=every[0])
        above = min((tick for tick in every if tick >= high * 0.999999), default=every[-1])
        return [tick for tick in every if below <= tick <= max(above, below * 2.5)]
    step = max(1, (last - first) // 7)
    return [10.0**power for power in range(first, last + step, step)]
