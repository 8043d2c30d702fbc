"""Select rows by an expression: `pattern` and `field =~ pattern`, joined by AND, OR, NOT and brackets, as in OMNeT++.

A pattern without a field selects by name. Patterns with spaces or brackets need quotation marks. Fields: name,
module, type, run, unit, study, point, engine, seed, `param:X` or `itervar:X` (a parameter, by value), `runattr:X`,
`config:X`, `attr:X`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from causeway.analysis.query.patterns import matcher
from causeway.errors import UserError

Column = Callable[[str], Any]
"""Return the values of a field, one for each row; raise KeyError if there is no such field."""
Mask = Any
_TOKEN = re.compile(r'\s*(?:(=~)|([()])|"((?:[^"\\]|\\.)*)"|((?:[^\s()"=]|=(?!~))+))')


def select(text: str, column: Column, rows: int) -> Mask:
    """Return a mask of the rows that the expression selects; an empty expression selects all."""
    return _Reader(text, column, rows).whole() if text.strip() else np.ones(rows, bool)


class _Reader:
    """A parser by recursive descent: OR of ANDs of NOTs."""

    def __init__(self, text: str, column: Column, rows: int) -> None:
        self._text, self._column, self._rows = text, column, rows
        self._tokens = self._split()
        self._at = 0

    def _split(self) -> list[tuple[str, str]]:
        """Return the tokens as (kind, text); a kind is `=~`, a bracket, `quoted` or `word`."""
        tokens, at, text = [], 0, self._text.rstrip()
        while at < len(text):
            found = _TOKEN.match(text, at)
            if found is None:
                self._refuse(f"it cannot be parsed from {text[at:].strip()[:20]!r} on")
            operator, bracket, quoted, word = found.groups()
            if quoted is not None:
                tokens.append(("quoted", quoted.replace('\\"', '"')))
            else:
                tokens.append((operator or bracket or "word", operator or bracket or word))
            at = found.end()
        return tokens

    def whole(self) -> Mask:
        try:
            mask = self._or()
        except RecursionError:
            self._refuse("its brackets are nested too deeply")
        if self._at < len(self._tokens):
            self._refuse(f"{self._tokens[self._at][1]!r} follows a complete expression; join them by AND or OR")
        return mask

    def _or(self) -> Mask:
        mask = self._and()
        while self._takes("OR"):
            mask = self._and() | mask
        return mask

    def _and(self) -> Mask:
        mask = self._not()
        while self._takes("AND"):
            mask = self._not() & mask
        return mask

    def _not(self) -> Mask:
        return ~self._not() if self._takes("NOT") else self._one()

    def _one(self) -> Mask:
        kind, text = self._next()
        if kind == "(":
            mask = self._or()
            if self._next()[0] != ")":
                self._refuse("a bracket is not closed")
            return mask
        if kind not in ("word", "quoted"):
            self._refuse(f"{text!r} is in the place of a pattern")
        if self._at < len(self._tokens) and self._tokens[self._at][0] == "=~":
            self._at += 1
            kind, pattern = self._next()
            if kind not in ("word", "quoted"):
                self._refuse(f"{pattern!r} is in the place of a pattern")
            return self._fit(text, pattern)
        return self._fit("name", text)

    def _fit(self, field: str, pattern: str) -> Mask:
        """Return a mask of the rows with a matching value; each distinct value is matched once."""
        try:
            values = self._column(field)
        except KeyError:
            self._refuse(f"there is no field {field!r} here")
        fits = matcher(pattern)
        known = {value: fits(str(value)) for value in set(values) if value is not None}
        return np.fromiter((known.get(value, False) for value in values), bool, self._rows)

    def _takes(self, word: str) -> bool:
        here = self._tokens[self._at] if self._at < len(self._tokens) else ("", "")
        taken = here[0] == "word" and here[1].upper() == word
        self._at += taken
        return taken

    def _next(self) -> tuple[str, str]:
        if self._at == len(self._tokens):
            self._refuse("it ends too early")
        self._at += 1
        return self._tokens[self._at - 1]

    def _refuse(self, why: str) -> NoReturn:
        raise UserError(f"the filter {self._text!r} is invalid: {why}")
