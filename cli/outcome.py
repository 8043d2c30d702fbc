"""The output of `causeway run`: points as rows, their parameters and the study's headlines as columns.

If the paper prints a number for a headline of a point, it is printed beside ours, with the sign of the verdict.

Columns that do not fit the width of the terminal are printed in another table below. They are never cut or wrapped.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Column, Table

from causeway.analysis.plots import Headline
from causeway.analysis.published import ANOTHER_READING
from causeway.analysis.reduce import arithmetic, expression
from causeway.analysis.reduce.quantity import number, quantity
from causeway.analysis.report.verdict import SIGNS, explained, judge
from causeway.studies.runner import Job

_GAP = 2
_MEANINGS = {"inside": "inside our 95 % interval", "near": "within 10 %", "off": "further away"}
Cells = Mapping[str, Sequence[str]]


def show(
    console: Console, title: str, headlines: Sequence[Headline], jobs: Sequence[Job], found: Sequence[dict[str, Any]],
    everything: bool, published: Sequence[Mapping[str, Any]] = (),
) -> None:  # fmt: skip
    """Print the means over the repetitions of every point, and the published numbers for these points."""
    differ = _differing([job.parameters for job in jobs])
    points: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for run in found:
        points.setdefault(tuple(str(run["parameters"][name]) for name in differ), []).append(run)
    labels = {name: [key[i] for key in points] for i, name in enumerate(differ)}
    runs = list(points.values())
    names = list(dict.fromkeys(name for run in found for name in run["scalars"]))
    shown = list(headlines) if not everything else [Headline(name, name) for name in names]
    shown = shown or [Headline(name, name) for name in names]  # for a study without headlines
    console.print(title, highlight=False, markup=False, soft_wrap=True)
    papers = {one.name: [_published_number(of_point, one.scalar, published) for of_point in runs] for one in shown}
    if len(runs) == 1:
        _print_one(console, shown, runs[0], {name: cells[0] for name, cells in papers.items()})
    else:
        results: dict[str, Sequence[str]] = {}
        for one in shown:
            results[_head(one)] = [_mean(of_point, one.scalar) for of_point in runs]
            if any(papers[one.name]):
                results[f"paper's\n{one.name}"] = papers[one.name]
        _print_points(console, labels, results)
    _print_signs(console, [cell for cells in papers.values() for cell in cells])
    left = len(names) - len({name for one in shown for name in expression.names(one.scalar)} & set(names))
    if left and not everything:
        console.print(f"--all prints {left} more scalars", highlight=False)


def _print_one(
    console: Console, shown: Sequence[Headline], runs: Sequence[dict[str, Any]], papers: Mapping[str, str]
) -> None:  # fmt: skip
    said = {name: f"paper {cell}  " if cell else "" for name, cell in papers.items()}
    rows = [(one.name, _mean(runs, one.scalar), one.unit, said[one.name], one.meaning) for one in shown]
    wide = [max(len(row[i]) for row in rows) for i in range(4)]
    for name, value, unit, paper, meaning in rows:
        line = f"  {name:<{wide[0]}}  {value:>{wide[1]}}  {unit:<{wide[2]}}  {paper:<{wide[3]}}{meaning}".rstrip()
        console.print(line, highlight=False, markup=False, soft_wrap=True)


def _print_points(console: Console, labels: Cells, results: Cells) -> None:
    """Print points as rows, in as many tables as the width of the terminal requires."""
    room = console.width - 2
    if sum(_widths(labels)) > room * 2 // 3:  # too wide to repeat in every table, so the points get numbers
        numbers = [str(i + 1) for i in range(len(next(iter(results.values()))))]
        for i, number in enumerate(numbers):
            reported = ", ".join(f"{name}={cells[i]}" for name, cells in labels.items())
            console.print(f"  point {number}: {reported}", highlight=False, markup=False, soft_wrap=True)
        labels = {"point": numbers}
    taken = sum(_widths(labels))
    block: dict[str, Sequence[str]] = {}
    for (name, cells), width in zip(results.items(), _widths(results), strict=True):
        if block and taken + sum(_widths(block)) + width > room:
            _print_block(console, labels, block)
            block = {}
        block[name] = cells
    _print_block(console, labels, block)


def _print_block(console: Console, labels: Cells, block: Cells) -> None:
    columns = [Column(_text(name), no_wrap=True, justify="left" if name in labels else "right")
               for name in (*labels, *block)]  # fmt: skip
    table = Table(*columns, box=SIMPLE_HEAD, padding=(0, _GAP, 0, 0), pad_edge=False, show_edge=False)
    for row in zip(*labels.values(), *block.values(), strict=True):
        table.add_row(*map(_text, row))
    console.print(table)


def _text(value: str) -> Any:
    from rich.text import Text

    return Text(value)


def _widths(cells: Cells) -> list[int]:
    """Return the width of each column in the terminal, with its gap."""
    return [max(*(len(line) for line in name.split("\n")), *map(len, rows)) + _GAP + 1 for name, rows in cells.items()]


def _head(one: Headline) -> str:
    return f"{one.name}\n{one.unit}" if one.unit else one.name


def _differing(parameters: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the parameters that differ between points."""
    return [name for name in parameters[0] if len({str(p[name]) for p in parameters}) > 1]


def _published_number(runs: Sequence[Mapping[str, Any]], formula: str, published: Sequence[Mapping[str, Any]]) -> str:
    """Return the number that the paper prints for a quantity at the point of these runs, with the verdict's sign."""
    point = runs[0]["parameters"]
    rows = [
        row for row in published if "".join(row["scalar"].split()) == "".join(formula.split())
        and all(point.get(name) == value for name, value in row["parameters"].items())
    ]  # fmt: skip
    values = [float(value) for run in runs if (value := quantity(formula, run)) is not None]
    if not rows or not values:
        return ""
    row = min(rows, key=lambda one: one.get("remark") == ANOTHER_READING)
    known = {**row, **{name: math.nan if row[name] is None else row[name] for name in ("published", "low", "high")}}
    count, mean, _, low, high = arithmetic.interval(values)
    plain = known["relation"] == "="
    said = (
        number(row["published"])
        if plain
        else explained(known["relation"], known["published"], known["low"], known["high"])
    )
    return f"{said} {SIGNS[judge(known, mean, low, high, count).kind]}"


def _print_signs(console: Console, cells: Sequence[str]) -> None:
    """Print the meanings of the signs beside the paper's numbers."""
    there = {cell[-1] for cell in cells if cell}
    words = [f"{sign} {_MEANINGS.get(kind, kind)}" for kind, sign in SIGNS.items() if sign in there]
    if words:
        console.print(f"paper: {', '.join(words)}", highlight=False, markup=False, soft_wrap=True)


def _mean(runs: Sequence[Mapping[str, Any]], formula: str) -> str:
    """Return the mean of a quantity over the runs that have it, as text."""
    values = [value for run in runs if (value := quantity(formula, run)) is not None]
    return number(sum(values) / len(values)) if values else "-"
