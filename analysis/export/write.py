"""Writes the files: one a figure, one a table, named after their titles."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from causeway.analysis import store
from causeway.analysis.export import paint, standalone, tex
from causeway.analysis.figures.figure import Figure
from causeway.analysis.kinds import kind_of
from causeway.bridge.errors import UserError

FORMATS = ("svg", "pdf", "tex")
OURS = ".exported"
"""Names the files of earlier exports: those alone are taken away."""


def check(formats: Sequence[str]) -> None:
    """Refuses a format that there is not."""
    for name in formats:
        if name not in FORMATS:
            raise UserError(f"there is no export '{name}'; allowed: {', '.join(FORMATS)}")


def write(figures: Sequence[Figure], compared: pd.DataFrame, out: Path, formats: Sequence[str]) -> list[Path]:
    """Figures as svg or pdf, tables as tex, into the folder `out`; the files."""
    out.mkdir(parents=True, exist_ok=True)
    files: list[Path] = []
    names = _names([f"{figure.plot.study} {figure.plot.title}" for figure in figures])
    for figure, name in zip(figures, names, strict=True):
        drawn = standalone.svg(figure, kind_of(figure.plot.kind))
        if "svg" in formats:
            files.append(_text(out / f"{name}.svg", drawn))
        if "pdf" in formats:
            files.append(out / f"{name}.pdf")
            with store.landing(files[-1]) as temporary:
                paint.save(drawn, temporary, figure.plot.title)
    if "tex" in formats and len(compared):
        for paper, rows in compared.groupby("paper"):
            table = tex.compared(rows, f"{paper}: published and measured (mean and 95 % interval)")
            files.append(_text(out / f"{_names([f'{paper} published'])[0]}.tex", table))
    _take_away_older(out, {path.name for path in files}, formats)
    return files


def _take_away_older(out: Path, now: set[str], formats: Sequence[str]) -> None:
    """Figures that are not in the report any more would pass for today's."""
    told = out / OURS
    lines = told.read_text(encoding="utf-8", errors="replace").splitlines() if told.exists() else []
    before = {name for name in lines if Path(name).name == name}
    for name in before - now:
        if name.rpartition(".")[2] in formats:
            (out / name).unlink(missing_ok=True)
    kept = now | {name for name in before if (out / name).exists()}
    _text(told, "".join(f"{name}\n" for name in sorted(kept)))


def _text(path: Path, text: str) -> Path:
    with store.landing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return path


def _names(titles: Sequence[str]) -> list[str]:
    """Titles as names of files; equal ones get numbers."""
    names: list[str] = []
    for title in titles:
        name = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-") or "figure"
        alike = sum(re.fullmatch(rf"{re.escape(name)}(-\d+)?", one) is not None for one in names)
        names.append(f"{name}-{alike + 1}" if alike else name)
    return names
