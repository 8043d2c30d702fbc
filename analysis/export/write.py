"""Write figures and tables into files, named after their titles. Start here: `Export`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from causeway.analysis import store
from causeway.analysis.export import tex
from causeway.analysis.figures.sheet import Sheet
from causeway.errors import UserError

FORMATS = ("svg", "pdf", "pgf", "tex")
FIGURES = ("svg", "pdf", "pgf")
OURS = ".exported"
"""The name of a file that lists the exported files. A later export deletes only those."""


def check(formats: Sequence[str]) -> None:
    """Raise UserError if a format is unknown."""
    for name in formats:
        if name not in FORMATS:
            raise UserError(f"'{name}' is not a format for exports; allowed: {', '.join(FORMATS)}")


class Export:
    """The files of one export: figures as svg, pdf or pgf, tables as tex."""

    def __init__(self, out: Path, formats: Sequence[str]) -> None:
        self.out, self.formats = out, formats
        self._files: set[str] = set()
        self._names: list[str] = []
        if formats:
            out.mkdir(parents=True, exist_ok=True)

    def figure(self, sheet: Sheet) -> None:
        """Write the drawing on a sheet to one file for each format. This may convert the sheet's texts to LaTeX."""
        plot = sheet.data.plot
        name = self._unused_name(f"{plot.study} {plot.title}")
        for form in FIGURES:
            if form in self.formats:
                with store.replacing(self._path(f"{name}.{form}")) as temporary:
                    sheet.save(temporary, form)

    def finish(self, compared: pd.DataFrame) -> None:
        """Write the tables, and delete the files of an earlier export that are not in this one."""
        if "tex" in self.formats and len(compared):
            for paper, rows in compared.groupby("paper"):
                table = tex.compared(rows, f"{paper}: published and measured (mean and 95 % interval)")
                _text(self._path(f"{_slug(f'{paper} published')}.tex"), table)
        if self.formats:
            _delete_older(self.out, self._files, self.formats)

    def _path(self, name: str) -> Path:
        self._files.add(name)
        return self.out / name

    def _unused_name(self, title: str) -> str:
        """Return the file name for a title. Equal titles get numbers."""
        name = _slug(title)
        alike = sum(re.fullmatch(rf"{re.escape(name)}(-\d+)?", one) is not None for one in self._names)
        self._names.append(f"{name}-{alike + 1}" if alike else name)
        return self._names[-1]


def _slug(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-") or "figure"


def _delete_older(out: Path, now: set[str], formats: Sequence[str]) -> None:
    """Delete figures that are no longer in the report, since a reader would take them for current ones."""
    reported = out / OURS
    lines = reported.read_text(encoding="utf-8", errors="replace").splitlines() if reported.exists() else []
    before = {name for name in lines if Path(name).name == name}
    for name in before - now:
        if name.rpartition(".")[2] in formats:
            (out / name).unlink(missing_ok=True)
    kept = now | {name for name in before if (out / name).exists()}
    _text(reported, "".join(f"{name}\n" for name in sorted(kept)))


def _text(path: Path, text: str) -> None:
    with store.replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
