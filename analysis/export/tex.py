"""Write tables as LaTeX with booktabs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from causeway.analysis.figures.latex import escape
from causeway.analysis.figures.numbers import short
from causeway.analysis.report.verdict import explained


def table(head: Sequence[str], rows: Sequence[Sequence[Any]], caption: str) -> str:
    """Return a tabular with its caption as a comment. Columns of numbers are aligned to the right."""
    right = [bool(rows) and all(_is_number(row[i]) for row in rows) for i in range(len(head))]
    lines = [" & ".join(map(_cell, row)) + r" \\" for row in rows]
    return "\n".join([
        f"% {caption}", rf"\begin{{tabular}}{{{''.join('r' if one else 'l' for one in right)}}}", r"\toprule",
        " & ".join(map(escape, head)) + r" \\", r"\midrule", *lines, r"\bottomrule", r"\end{tabular}", "",
    ])  # fmt: skip


def compared(rows: pd.DataFrame, caption: str) -> str:
    """Return the tabular of one paper's published and measured numbers, with a column for each engine."""
    engines = sorted(rows["engine"].unique())
    keys = ["where", "quantity", "condition"]
    body = []
    for key, group in rows.groupby(keys, sort=False):
        found: dict[str, Mapping[Any, Any]] = {row["engine"]: row for row in group.to_dict("records")}
        first = group.iloc[0]
        published_value = explained(first["relation"], first["published"], first["low"], first["high"])
        body.append((*key, published_value, *(_measured(found.get(engine)) for engine in engines)))
    return table((*keys, "published", *engines), body, caption)


def _measured(row: Mapping[Any, Any] | None) -> str:
    if row is None:
        return ""
    half = (row["ci95_high"] - row["ci95_low"]) / 2
    return short(row["measured"]) + ("" if pd.isna(half) else f" ± {short(half)}")


def _cell(cell: Any) -> str:
    return escape(short(cell) if _is_number(cell) else str(cell))


def _is_number(cell: Any) -> bool:
    return isinstance(cell, int | float) and not isinstance(cell, bool)
