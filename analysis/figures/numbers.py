"""Format numbers as short text for readers."""

import math


def short(value: float | str | None) -> str:
    """Format a number with four significant digits and without needless zeros."""
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


def pretty(name: str) -> str:
    """Format the value of a parameter; a number is shortened."""
    try:
        return short(float(name))
    except ValueError:
        return name


def name_and_unit(label: str) -> tuple[str, str]:
    """Split the label `delay [s]` into `delay` and `s`."""
    name, bracket, unit = label.rpartition("[")
    return (name.strip(), unit.rstrip().removesuffix("]")) if bracket and label.rstrip().endswith("]") else (label, "")
