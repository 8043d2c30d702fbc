"""The page: sections of HTML, put together."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

import pandas as pd

from causeway.analysis.figures.drawing import draw, legend
from causeway.analysis.figures.figure import Figure
from causeway.analysis.figures.numbers import short
from causeway.analysis.kinds import kind_of
from causeway.analysis.published import NOT_COMPARED
from causeway.analysis.report.style import STYLE
from causeway.analysis.report.verdict import Verdict, bounds_verdict, told, verdict

_WORDS = {"good": "inside the interval or the bounds, or equal", "near": "within 10 %", "off": "further away"}
NOT_RUN = "not run here"


def page(title: str, sections: Sequence[tuple[str, str, str]]) -> str:
    """A whole page of (anchor, heading, body) sections."""
    links = "".join(f'<a href="#{anchor}">{escape(heading)}</a>' for anchor, heading, _ in sections)
    bodies = "".join(f'<section id="{a}"><h2>{escape(h)}</h2>{body}</section>' for a, h, body in sections)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head><body>"
        f"<header><h1>{escape(title)}</h1><nav>{links}</nav></header><main>{bodies}</main></body></html>\n"
    )


def table(head: Sequence[str], rows: Iterable[Sequence[Any]], stack: bool = False) -> str:
    """An HTML table. Numbers are shortened; a cell given as (class, html) is taken as it is.

    On a phone a wide table is scrolled sideways; one of a few rows had better `stack`: each row becomes a block.
    """
    rows = list(rows)
    right = [bool(rows) and all(isinstance(row[i], int | float) for row in rows) for i in range(len(head))]
    top = "".join(f"<th{' class=n' if r else ''}>{escape(name)}</th>" for name, r in zip(head, right, strict=True))
    body = "".join(f"<tr>{''.join(map(_cell, row, head if stack else [''] * len(head)))}</tr>" for row in rows)
    kind = ' class="stack"' if stack else ""
    return f'<div class="wide"><table{kind}><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'


def _cell(cell: Any, of: str) -> str:
    label = f' data-of="{escape(of, quote=True)}"' if of else ""
    if isinstance(cell, tuple):
        return f'<td class="{cell[0]}"{label}><span>{cell[1]}</span></td>'
    if isinstance(cell, int | float) and not isinstance(cell, bool):
        return f'<td class="n"{label}>{short(cell)}</td>'
    return f"<td{label}>{escape(str(cell))}</td>"


# --- what was run ---


def what_was_run(runs: pd.DataFrame, parameters: pd.DataFrame) -> str:
    """Tell a row per study, engine, version, commit and code; below it the parameters."""
    head = (
        "study",
        "engine",
        "version",
        "causeway",
        "commit",
        "code",
        "points",
        "runs",
        "seeds",
        "events",
        "wall time [s]",
        "first",
    )
    keys = ["study", "engine", "engine_version", "causeway_version", "commit", "code"]
    runs = runs.assign(code=runs["code"].fillna("") if "code" in runs else "")
    rows = [
        (*key, group["point"].nunique(), len(group), _range(group["seed"]), _sum(group["events"]),
         _sum(group["wall_s"]), str(group["started_at"].min())[:19])
        for key, group in runs.groupby(keys, sort=True)
    ]  # fmt: skip
    return table(head, rows, stack=True) + _parameters(runs, parameters)


def _sum(column: pd.Series) -> float | str:
    """Nothing where nothing is known, as of converted files."""
    total = column.sum(min_count=1)
    return "" if pd.isna(total) else float(total)


def _range(seeds: pd.Series) -> str:
    if seeds.isna().all():  # converted files that do not say
        return ""
    low, high = int(seeds.min()), int(seeds.max())
    return f"{low}" if low == high else f"{low} to {high}"


def _parameters(runs: pd.DataFrame, parameters: pd.DataFrame) -> str:
    rows = []
    joined = parameters.merge(runs[["run_id", "study"]], on="run_id")
    for (study, name), group in joined.groupby(["study", "name"]):
        values = sorted(group["value"].unique(), key=_as_number)
        shown = ", ".join(map(str, values[:12])) + (f", … ({len(values)} values)" if len(values) > 12 else "")
        rows.append((study, name, shown))
    return (
        f"<details><summary>Parameters</summary>{table(('study', 'parameter', 'values'), rows)}</details>"
        if rows
        else ""
    )


def _as_number(text: str) -> tuple[Any, ...]:
    try:
        return 0, float(text), text
    except ValueError:
        return 1, 0.0, text


# --- published against measured ---


def verdicts(comparison: pd.DataFrame, published: pd.DataFrame, studies: set[str]) -> str:
    """Per paper: a tally per engine, then every published number with what each engine measured."""
    parts = []
    for paper, rows in comparison.groupby("paper"):
        judged = rows.copy()
        judged["verdict"] = pd.Series(list(map(_judge, rows.to_dict("records"))), index=rows.index, dtype=object)
        there = published[(published["paper"] == paper) & published["study"].isin(studies)]
        total = int((there["scalar"] != NOT_COMPARED).sum())
        parts.append(f"<h3>{escape(str(paper))}</h3>{_tally(judged, total)}{_verdict_table(judged)}")
        parts.append(_without(there, rows))
    note = (
        '<p class="soft">Measured is the mean over runs with its 95 % interval by Student’s t. “Inside” says that the '
        "published number lies in that interval; “within”, that the mean keeps the published bounds; near means within "
        "10 %. One run alone has no interval. All rows: "
        '<a href="comparison.csv">comparison.csv</a>.</p>'
    )
    return "".join(parts) + note


def _judge(row: Mapping[Any, Any]) -> Verdict:
    measured = row["measured"], row["ci95_low"], row["ci95_high"]
    if row["relation"] in ("=", "about"):
        return verdict(row["published"], *measured)
    return bounds_verdict(row["low"], row["high"], row["relation"] != "to", *measured)


def _tally(judged: pd.DataFrame, total: int) -> str:
    lines = []
    for engine, rows in judged.groupby("engine"):
        kinds = [one.kind for one in rows["verdict"]]
        told = ", ".join(
            f'<span class="{kind}">{kinds.count(kind)} {words}</span>'
            for kind, words in _WORDS.items()
            if kind in kinds
        )
        missing = total - len(rows)
        left = f", {missing} {NOT_RUN}" if missing > 0 else ""
        lines.append(f"<li>{escape(str(engine))}: of {total} published numbers {told}{left}</li>")
    return f"<ul>{''.join(lines)}</ul>"


def _verdict_table(judged: pd.DataFrame) -> str:
    engines = sorted(judged["engine"].unique())
    keys = ["where", "quantity", "condition", "published"]
    said = ["relation", "published", "low", "high"]
    judged = judged.assign(published=[_said(*row) for row in judged[said].itertuples(index=False)])
    rows = []
    for key, group in judged.groupby(keys, sort=False):
        found = {row["engine"]: row for row in group.to_dict("records")}
        rows.append((*key, *(_measured(found.get(engine)) for engine in engines)))
    return table((*keys, *engines), rows, stack=True)


def _without(published: pd.DataFrame, compared: pd.DataFrame) -> str:
    """The published numbers with no measured one beside them, and why: first those that no run can have."""
    keys = ["where", "quantity", "condition", "relation", "published", "low", "high"]
    measured = set(compared[keys].fillna("").itertuples(index=False, name=None))
    rows = []
    for row in published.to_dict("records"):
        if tuple("" if pd.isna(row[key]) else row[key] for key in keys) in measured:
            continue
        why = row["note"] if row["scalar"] == NOT_COMPARED else NOT_RUN
        rows.append((*(row[key] for key in keys[:3]), told(*(row[key] for key in keys[3:])), why))
    rows.sort(key=lambda row: row[-1] == NOT_RUN)
    head = ("where", "quantity", "condition", "published", "why")
    summary = f"<summary>Numbers without a measured one: {len(rows)}</summary>"
    return f"<details>{summary}{table(head, rows, stack=True)}</details>" if rows else ""


def _said(relation: str, published: float, low: float, high: float) -> str | float:
    """A plain number stays one: a column of them is set to the right."""
    return published if relation == "=" else told(relation, published, low, high)


def _measured(row: Mapping[Any, Any] | None) -> tuple[str, str]:
    if row is None:
        return "soft", "–"
    interval = (
        "" if pd.isna(row["ci95_low"]) else f" <small>[{short(row['ci95_low'])}, {short(row['ci95_high'])}]</small>"
    )
    runs = f"{row['runs']} run" + ("s" if row["runs"] > 1 else "")
    found = row["verdict"]
    return (
        "",
        f'{short(row["measured"])}{interval} <small>{runs}</small><br><span class="{found.kind}">{found.text}</span>',
    )


# --- figures ---


def figures(drawn: Sequence[Figure]) -> str:
    """All figures that have something to show, side by side where there is room."""
    return f'<div class="figures">{"".join(map(_figure, drawn))}</div>'


def _figure(figure: Figure) -> str:
    fixed = ", ".join(f"{name} = {value}" for name, value in figure.plot.where.items())
    source = " · ".join(filter(None, [figure.plot.paper, fixed]))
    head = ("series", "engine", "x", "mean", "low", "high", "runs")
    rows = [
        (line.series, line.engine, point.x, point.y, point.low, point.high, point.runs)
        for line in (*figure.lines, *figure.published)
        for point in line.points
    ]
    numbers = f"<details><summary>Numbers</summary>{table(head, rows)}</details>"
    kind = kind_of(figure.plot.kind)
    caption = f"<figcaption>{escape(figure.plot.title)}<small>{escape(source)}</small></figcaption>"
    return f"<figure>{caption}{draw(figure, kind)}{legend(figure, kind)}{numbers}</figure>"
