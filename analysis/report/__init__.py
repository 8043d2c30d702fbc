"""The report of a result folder: one page that needs no network, and CSV files beside it. Start here: `write`.

The result folder contains descriptions of its studies (`causeway.analysis.study_description`) with their plots, so a
report needs no study. `result` reads, compares and draws the folder. `verdict` judges a number, and `tally` counts the
verdicts. `sections` lists the sections of the page; `page` and `wrong` make their contents, and
analysis/templates/report has their HTML.
"""

import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from causeway.analysis import pages, store
from causeway.analysis.files import refuse_links
from causeway.analysis.plots import Plot
from causeway.analysis.remote import place
from causeway.analysis.report import csv_files, tally
from causeway.analysis.report.result import Look, read
from causeway.analysis.report.sections import SECTIONS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SMALL_ROWS = 200_000  # pandas reduces these folders in less time than Spark takes to start


@store.in_one_state
def write(
    result_dir: str | Path,
    out_dir: str | Path | None = None,
    master: "str | SparkSession | None" = None,
    formats: Sequence[str] = (),
    plots: Sequence[Plot] = (),
    look: Look | None = None,
    say: Callable[[str], None] = lambda line: None,
) -> Path:
    """Write the report of a result folder; return the path of the page.

    Args:
        result_dir: The result folder.
        out_dir: The folder of the page; without it, the folder `report` of `result_dir`.
        master: Reduce on Spark at this master URL, or in your own session, which keeps its settings. Without it,
            `reduces_on` chooses. The numbers are the same.
        formats: svg, pdf, pgf or tex: also write figures and tables into separate files in `out_dir/export`.
        plots: Plots besides those of the folder's studies.
        look: A function that draws examples of wrong runs.
        say: A function that is called with one line for each study and engine: the number of published numbers that
        were reproduced.
    """
    folder = place(result_dir)
    out = place(out_dir) if out_dir else folder / "report"
    refuse_links(out.parent, out.name, f"{out.name}/export")
    result = read(folder, out, master or reduces_on(folder), formats, plots, look)
    csv_files.write(result)
    for line in tally.lines(result.tallies):
        say(line)
    sections = [section for make in SECTIONS for section in make(result)]
    title = f"Results: {', '.join(sorted(set(result.runs['study'])))}"
    pages.write(out / "index.html", "report/index.html", title=title, sections=sections)
    return out / "index.html"


def reduces_on(folder: Path) -> str | None:
    """Return the Spark master on which to reduce a folder; None means pandas, for a small folder or without Java."""
    rows = sum(store.count_rows(folder, table) for table in ("scalars", "samples"))
    return "local[*]" if rows > _SMALL_ROWS and (shutil.which("java") or os.environ.get("JAVA_HOME")) else None
