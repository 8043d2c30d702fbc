"""Escape text for LaTeX."""

from __future__ import annotations

import re

_RAISED = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+")
_PLAIN = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_SPECIAL = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"} | {
    c: f"\\{c}" for c in "&%$#_{}"
}


def escape(text: str) -> str:
    """Return text with LaTeX's special characters escaped."""
    text = "".join(_SPECIAL.get(c, c) for c in text).replace("−", "$-$").replace("±", r"$\pm$").replace("–", "--")
    text = text.replace("×", r"$\times$").replace("…", r"\dots{}")
    return _RAISED.sub(lambda found: f"$^{{{found[0].translate(_PLAIN)}}}$", text)
