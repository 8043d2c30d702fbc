"""Read the published numbers of a paper from a CSV file, one row each.

Columns: paper, where, quantity, condition, study, parameters (a JSON object that selects points), scalar (or an
arithmetic expression over scalars), published and note. If the paper does not print a plain number, relation, low and
high are used, too:

| relation | the paper says | filled in |
|---|---|---|
| `=` or empty | the number | published |
| `about` | about the number | published |
| `<` | less than a bound | high |
| `>` | more than a bound | low |
| `to` | from one bound to another, both included | low, high |

A row that was read has also `decimals`, the digits after the point that the paper prints ("35.0" is not "35").

A number that no run can measure has the scalar `cannot_be_compared`; its note gives the reason.

In the description of a study, `causeway.studies.describe` adds two more fields to each row: `drawn`, which is False if
all runs of the point are equal; and `remark`, "" or one of `REMARKS`.
"""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path
from typing import Any

from causeway.analysis.reduce import expression
from causeway.errors import UserError

COLUMNS = ("paper", "where", "quantity", "condition", "study", "parameters", "scalar", "published", "note")
BOUNDS = ("relation", "low", "high")
FILLED = {"=": ("published",), "about": ("published",), "<": ("high",), ">": ("low",), "to": ("low", "high")}
"""Maps a relation to the columns that it needs, out of published, low and high."""
NOT_COMPARED = "cannot_be_compared"
"""The scalar of a number that no run measures."""
ANOTHER_READING = "another reading"
"""The remark on a row whose printed number has another row, too. It is judged, but not counted."""
REMARKS = (ANOTHER_READING, "fitted", "impossible")
"""The meanings: "fitted" was used to choose a parameter; "impossible" cannot result from the paper's own model."""
WHY = "cannot be compared: "
"""The beginning of the note of such a number; the reason follows."""


def read(path: Path) -> list[dict[str, Any]]:
    """Read the rows of a file, with parameters as dicts and numbers as floats or None.

    A UserError names the bad line.
    """
    with open(path, newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        missing = [name for name in COLUMNS if name not in (reader.fieldnames or ())]
        if missing:
            raise UserError(f"{path}: column {missing[0]} is missing; the columns are {', '.join((*COLUMNS, *BOUNDS))}")
        rows = []
        for line, row in enumerate(reader, 2):
            try:
                rows.append(_row(row))
            except (ValueError, UserError) as error:
                raise UserError(f"{path}:{line}: {error}") from None
    return rows


def _row(row: dict[str, str | None]) -> dict[str, Any]:
    texts = {name: row.get(name) or "" for name in (*COLUMNS, *BOUNDS)}
    relation = texts["relation"] or "="
    if relation not in FILLED:
        raise ValueError(f"no relation '{relation}'; allowed: {' '.join(FILLED)}")
    numbers = {name: _number(texts[name]) for name in ("published", "low", "high")}
    filled = tuple(name for name, value in numbers.items() if value is not None)
    if filled != FILLED[relation]:
        raise ValueError(f"relation '{relation}' needs values only in {' and '.join(FILLED[relation])}")
    if relation == "to" and not numbers["low"] <= numbers["high"]:  # type: ignore[operator]
        raise ValueError("low is above high")
    parameters = json.loads(texts["parameters"] or "{}")
    if not isinstance(parameters, dict):
        raise ValueError("parameters must be a JSON object")
    expression.parse(texts["scalar"])
    if (texts["scalar"] == NOT_COMPARED) != (WHY in texts["note"]):
        raise ValueError(
            f"the note must begin with '{WHY}' and the reason if the scalar is {NOT_COMPARED}, and only then"
        )
    return {
        **texts, "parameters": parameters, "relation": relation, **numbers, "decimals": _decimals(texts["published"]),
    }  # fmt: skip


def _decimals(text: str) -> int | None:
    return len(text.partition(".")[2]) if text and "e" not in text.lower() else None


def _number(text: str) -> float | None:
    if not text:
        return None
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"'{text}' is not a finite number")
    return value
