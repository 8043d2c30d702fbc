"""Match patterns of names like OMNeT++'s result tools. Start here: `matcher`.

`?` matches any character, `*` and `**` any number of them, `{a-z_}` a character of a set, `{^a-z}` one outside of a
set, `{5..12}` a whole number in a range, `[5..12]` the same in brackets (ends may be left out); a character after a
backslash matches itself. A pattern must match the whole text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from causeway.errors import UserError

_RANGE = re.compile(r"(\d*)\.\.(\d*)")
_DIGITS = re.compile(r"\d+")
_LARGEST = 10**18


@dataclass(frozen=True)
class _Number:
    """A whole number in a range, perhaps in brackets."""

    low: int
    high: int
    bracketed: bool

    def ends(self, text: str, at: int) -> list[int]:
        """Return the position after a matching number that begins here. The number consists of all digits from here."""
        found = _DIGITS.match(text, at + self.bracketed)
        if found is None or not self.low <= int(found[0]) <= self.high:
            return []
        if not self.bracketed:
            return [found.end()]
        return [found.end() + 1] if text[at] == "[" and text[found.end() : found.end() + 1] == "]" else []


_Part = str | _Number
"""A regular expression of one character, `.*`, or a number."""


@cache
def matcher(pattern: str) -> Callable[[str], bool]:
    """Return a function that returns whether a text matches the pattern."""
    parts = _parts(pattern)
    if all(isinstance(part, str) for part in parts):
        whole = re.compile("".join(map(str, parts)), re.DOTALL)
        return lambda text: whole.fullmatch(text) is not None
    return lambda text: _fits(parts, text)


def _fits(parts: list[_Part], text: str) -> bool:
    """Match like a nondeterministic automaton: keep the set of all positions that can be reached after each part."""
    places = {0}
    for part in parts:
        if isinstance(part, _Number):
            places = {end for at in places for end in part.ends(text, at)}
        elif part == ".*":
            places = set(range(min(places), len(text) + 1)) if places else places
        else:
            one = re.compile(part, re.DOTALL)
            places = {at + 1 for at in places if at < len(text) and one.fullmatch(text[at])}
    return len(text) in places


def _parts(pattern: str) -> list[_Part]:
    parts: list[_Part] = []
    at = 0
    while at < len(pattern):
        c = pattern[at]
        if c == "*":
            parts.append(".*")
        elif c == "?":
            parts.append(".")
        elif c == "\\" and at + 1 < len(pattern):
            at += 1
            parts.append(re.escape(pattern[at]))
        elif c in "{[" and (found := _number(pattern, at)) is not None:
            at, number = found
            parts.append(number)
        elif c == "{":
            at, one = _set(pattern, at)
            parts.append(one)
        else:
            parts.append(re.escape(c))
        at += 1
    return parts


def _number(pattern: str, at: int) -> tuple[int, _Number] | None:
    """Return the last position and the value of a range of numbers that begins at `at`; None if none does."""
    bracketed = pattern[at] == "["
    end = pattern.find("]" if bracketed else "}", at)
    found = _RANGE.fullmatch(pattern[at + 1 : end]) if end > 0 else None
    if found is None:
        return None
    return end, _Number(int(found[1] or 0), int(found[2] or _LARGEST), bracketed)


def _set(pattern: str, at: int) -> tuple[int, str]:
    """Return the last position and the regular expression of a set. A closing brace at its beginning is a member."""
    begin = at + 1
    negated = pattern[begin : begin + 1] == "^"
    begin += negated
    end = pattern.find("}", begin + 1)
    if end < 0:
        raise UserError(f"the pattern {pattern!r} has a '{{' without '}}'; a brace itself is written \\{{")
    inside = pattern[begin:end]
    kept, i = "", 0
    while i < len(inside):
        if inside[i + 1 : i + 2] == "-" and i + 2 < len(inside):
            if inside[i] > inside[i + 2]:
                raise UserError(f"the pattern {pattern!r} has the range {inside[i : i + 3]}, which is empty")
            kept += f"{re.escape(inside[i])}-{re.escape(inside[i + 2])}"
            i += 3
        else:
            kept += re.escape(inside[i])
            i += 1
    return end, f"[{'^' if negated else ''}{kept}]"
