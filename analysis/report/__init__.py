"""The report of a result folder: one page that needs no network, and comparison.csv beside it. Start here: `write`.

Kinds of plots (`causeway.analysis.kinds`) make numbers of what the studies ask for and draw them, `page` puts the
sections together. What the studies ask for stands in the folder (`causeway.analysis.description`): a report knows no
study.
"""

import os
import shutil
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pandas as pd

from causeway.analysis import animation, description, kinds, moving, schema, store, versions
from causeway.analysis.export import write as export
from causeway.analysis.figures.data import Data, Recorded
from causeway.analysis.figures.figure import COLUMNS, rows
from causeway.analysis.plots import Plot
from causeway.analysis.reduce import comparison, expression, in_pandas
from causeway.analysis.remote import is_remote, place
from causeway.analysis.report import page, wrong
from causeway.analysis.spark import read_spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SMALL_ROWS = 200_000  # what pandas reduces while Spark starts
_SHOWN_SCALARS = 400
Look = Callable[[Sequence[wrong.Wrong]], tuple[Sequence[wrong.Example], Sequence[str]]]
"""Is given what is wrong; gives examples, and of the rest what there is to say."""
_INTERVAL = ["runs", "mean", "sd", "ci_low", "ci_high"]


def write(
    result_dir: str | Path,
    out_dir: str | Path | None = None,
    master: "str | SparkSession | None" = None,
    formats: Sequence[str] = (),
    plots: Sequence[Plot] = (),
    look: Look | None = None,
) -> Path:
    """Write the report of `result_dir` into `out_dir` (its folder `report`), and give the path of the page.

    `plots`: more of them than the folder's studies ask for.
    `look`: is given what runs got wrong, and gives examples of it, and what there is to say instead.
    `formats`: svg, pdf, tex; figures and tables are then also files of their own, in `out_dir/export`.

    Reduced on Spark at `master`, or in a session of yours, which keeps its settings; without one, see `reduces_on`. The
    numbers are the same.
    """
    source = _Source(place(result_dir), master or reduces_on(place(result_dir)))
    out = place(out_dir) if out_dir else source.folder / "report"
    described = description.read(source.folder)
    asked = [plot for one in described for plot in one.plots] + list(plots)
    plots = [plot for plot in asked if plot.kind in kinds.known()]
    published = comparison.frame_of([row for one in described for row in one.published])
    runs = versions.told_apart(store.read_pandas(source.folder, "runs"))
    parameters = store.read_pandas(source.folder, "parameters")
    wanted = {name for formula in (*published["scalar"], *_formulas(plots)) for name in expression.names(formula)}
    wanted |= set(wrong.SCALARS)
    known = comparison.Runs(runs, parameters, source.run_values(wanted))
    compared = comparison.compare(published, known)
    data = Data(known, published, source.recorded, source.bins)
    figures = [kinds.kind_of(plot.kind).reduce(plot, data) for plot in plots]
    drawn = [one for one in figures if any(line.points for line in one.lines)]
    scalars = source.scalar_means(runs)
    out.mkdir(parents=True, exist_ok=True)
    _write_csv(out / "comparison.csv", compared)
    _write_csv(out / "scalars.csv", _with_parameters(scalars, known))
    _write_csv(out / "figures.csv", pd.DataFrame(rows(drawn, _labels), columns=list(COLUMNS)))
    if formats:
        export.write(drawn, compared, out / "export", formats)
    unexpected, expected = _wrong_sections(known, described, look, out)
    sections = [*_mixed(source.folder), *unexpected]
    pages, refused = animation.write_all(source.folder, described, out)
    pages += moving.write_all(source.folder, out)
    if pages or refused:
        links = "".join(f'<li><a href="{quote(name)}">{escape(title)}</a></li>' for title, name in pages)
        left = "".join(f"<li>{escape(why)}</li>" for why in refused)
        sections.append(("moving", "Moving pictures", f"<ul>{links}{left}</ul>"))
    if len(compared):
        body = page.verdicts(compared, published, set(runs["study"]))
        sections.append(("published", "Published against measured", body))
    sections += expected
    if figures:
        undrawn = [one.plot for one in figures if one not in drawn]
        sections.append(("figures", "Figures", page.figures(drawn) + _undrawn(undrawn, data)))
    known_studies = {one.study for one in described} | {figure.plot.study for figure in drawn}
    if (unknown := sorted(set(runs["study"]) - known_studies)) and "" not in known_studies:
        sections.append(("undescribed", "Not described", _undescribed(unknown)))
    if strange := [plot for plot in asked if plot not in plots]:
        sections.append(("strange", "Kinds of plots that are not known here", _strange(strange)))
    sections.append(("scalars", "All scalars", _scalar_section(scalars)))
    sections.append(("run", "What was run", page.what_was_run(runs, parameters)))
    sections.append(("tables", "Tables", _table_section(source.folder, out)))
    path = out / "index.html"
    with store.landing(path) as temporary:
        temporary.write_text(page.page(f"Results: {', '.join(sorted(set(runs['study'])))}", sections), encoding="utf-8")
    return path


def reduces_on(folder: Path) -> str | None:
    """Where a folder is reduced if nobody says so: on Spark where Java is, unless the folder is small; None: pandas."""
    rows = sum(store.count_rows(folder, table) for table in ("scalars", "samples"))
    return "local[*]" if rows > _SMALL_ROWS and (shutil.which("java") or os.environ.get("JAVA_HOME")) else None


class _Source:
    """The fact tables of a result folder, reduced by Spark at a master, or without one by pandas."""

    def __init__(self, folder: Path, master: "str | SparkSession | None") -> None:
        self.folder, self.master = folder, master

    def _spark(self) -> Any:
        from causeway.analysis.spark import session

        return session(self.master or "local[*]")

    def run_values(self, names: set[str]) -> pd.DataFrame:
        """One value per run and scalar of these names."""
        fields = self._fields()
        if self.master is None:
            scalars = pd.concat([store.read_pandas(self.folder, "scalars"), fields], ignore_index=True)
            return comparison.run_values(scalars, names)
        spark = self._spark()
        read = read_spark(spark, self.folder, "scalars").select("run_id", "module", "name", "value")
        if len(fields):
            read = read.union(spark.createDataFrame(fields))
        return comparison.run_values_spark(read, names).toPandas()

    def _fields(self) -> pd.DataFrame:
        """The fields of recorded statistics as scalars, named as OMNeT++'s tools name them: `name:mean`."""
        found = store.read_pandas(self.folder, "statistics", ["run_id", "module", "name", "field", "value"])
        found = found[found["field"] != ""]
        named = found.assign(name=found["name"] + ":" + found["field"])
        return named[["run_id", "module", "name", "value"]]

    def bins(self) -> pd.DataFrame:
        """The bins of recorded histograms."""
        return store.read_pandas(self.folder, "bins")

    def scalar_means(self, runs: pd.DataFrame) -> pd.DataFrame:
        """Mean and interval of every scalar of every point."""
        by = ["study", "point", "engine", "module", "name"]
        keys = runs[["run_id", *by[:3]]]
        if self.master is None:
            scalars = in_pandas.numbered(store.read_pandas(self.folder, "scalars"))
            return in_pandas.mean_ci(scalars.merge(keys, on="run_id"), by)
        from causeway.analysis.reduce import in_spark

        spark = self._spark()
        many = in_spark.numbered(read_spark(spark, self.folder, "scalars"))
        joined = many.join(spark.createDataFrame(keys), "run_id")
        return in_spark.mean_ci(joined, by).orderBy(*by).toPandas()

    def recorded(self) -> Recorded:
        """Vectors, samples and the reductions to use."""
        vectors = store.read_pandas(self.folder, "vectors")
        if self.master is None:
            return Recorded(vectors, store.read_pandas(self.folder, "samples"), in_pandas)
        from causeway.analysis.reduce import in_spark

        return Recorded(vectors, read_spark(self._spark(), self.folder, "samples"), in_spark)


def _wrong_sections(
    known: comparison.Runs, described: Sequence[description.Description], look: Look | None, out: Path
) -> tuple[list[tuple[str, str, str]], list[tuple[str, str, str]]]:
    """What nobody expected, for the head of the page, and what was expected."""
    groups = wrong.found(known, described)
    examples, notes = look(groups) if look is not None and groups else ((), ())
    wrong.write_pages(examples, out)
    unexpected, expected = [one for one in groups if not one.why], [one for one in groups if one.why]
    head = wrong.section(unexpected, known, examples, notes)
    body = wrong.section(expected, known, examples, () if unexpected else notes)
    return (
        [("wrong", "Wrong, and nobody expected it", head)] if unexpected else [],
        [("expected", "Wrong, as expected", body)] if expected else [],
    )


def _mixed(folder: Path) -> list[tuple[str, str, str]]:
    """What there is to say where runs are of several codes."""
    lines = "".join(f"<li>{escape(line)}</li>" for line in versions.told(folder))
    how = "They are shown apart: <code>inline @3fa8c1</code> is what the code 3fa8c1… gave on the engine inline."
    return [("codes", "Runs of several codes", f"<p>{how}</p><ul>{lines}</ul>")] if lines else []


def _formulas(plots: Sequence[Plot]) -> list[str]:
    return [formula for plot in plots for formula in kinds.kind_of(plot.kind).formulas(plot)]


def _labels(plot: Plot) -> tuple[str, str]:
    kind = kinds.kind_of(plot.kind)
    return kind.x_label(plot), kind.y_label(plot)


def _with_parameters(scalars: pd.DataFrame, known: comparison.Runs) -> pd.DataFrame:
    """Each point's parameters behind its scalars; empty where its runs do not agree (seeds of a converted run, say)."""
    keys = ["study", "point", "engine"]
    grouped = known.texts.join(known.runs[keys]).groupby(keys, dropna=False)
    told = grouped.first().where(grouped.nunique() == 1)
    taken = {name: f"parameter {name}" for name in told.columns if name in scalars.columns}
    return scalars.merge(told.rename(columns=taken).reset_index(), on=keys, how="left")


def _write_csv(path: Path, frame: pd.DataFrame) -> None:
    """Write a table for people's spreadsheets: texts that these would compute as formulas stay texts."""
    texts = frame.select_dtypes(["object", "string", "category"]).columns
    plain = frame.assign(**{name: frame[name].map(_no_formula) for name in texts})
    with store.landing(path) as temporary:
        plain.to_csv(temporary, index=False)


def _no_formula(cell: Any) -> Any:
    """Return a cell that no spreadsheet takes for a formula."""
    if not isinstance(cell, str) or not cell.startswith(("=", "+", "-", "@", "\t", "\r")):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell


def _undescribed(studies: Sequence[str]) -> str:
    return (
        f"<p>This folder does not say what to draw for: {escape(', '.join(studies))}. Converted results are like "
        "that: <code>causeway report --kinds FILE.py</code> takes plots from a file of yours. So are runs made by an "
        "older version: the same <code>causeway run</code> adds it and runs nothing again.</p>"
    )


def _strange(plots: Sequence[Plot]) -> str:
    told = "".join(f"<li>{escape(plot.title)}: kind '{escape(plot.kind)}'</li>" for plot in plots)
    how = "They are of a file of your own: <code>causeway report --kinds FILE.py</code> draws them."
    return f"<p>{how}</p><ul>{told}</ul>"


def _undrawn(plots: Sequence[Plot], data: Data) -> str:
    there, left = [plot for plot in plots if len(data.there(plot))], [p for p in plots if not len(data.there(p))]
    absent = ", ".join(escape(plot.title) for plot in left)
    told = f'<p class="soft">No runs here for: {absent}.</p>' if left else ""
    named = ", ".join(f"{escape(plot.title)} (<code>{escape(plot.y)}</code>)" for plot in there)
    return told + (f"<p>The runs have nothing of that name to draw: {named}.</p>" if there else "")


def _scalar_section(scalars: pd.DataFrame) -> str:
    shown = scalars.head(_SHOWN_SCALARS)
    cut = f", the first {len(shown)} of {len(scalars)}" if len(shown) < len(scalars) else ""
    head = ("study", "point", "engine", "module", "scalar", "runs", "mean", "low", "high")
    columns = ["study", "point", "engine", "module", "name", "runs", "mean", "ci_low", "ci_high"]
    body = page.table(head, shown[columns].itertuples(index=False, name=None))
    told = f'Means over the runs of a point, with 95 % intervals{cut}: <a href="scalars.csv">scalars.csv</a> has all.'
    return f"<p>{told}</p><details><summary>Show</summary>{body}</details>"


def _table_section(folder: Path, out: Path) -> str:
    lines = []
    for name in schema.TABLES:
        where, rows = store.table_dir(folder, name), f"{store.count_rows(folder, name)} rows"
        if is_remote(where) or is_remote(out):
            lines.append(f"<li>{name}: {rows}</li>")
        elif where.is_dir():
            link = escape(os.path.relpath(where, out).replace(os.sep, "/"), quote=True)
            lines.append(f'<li><a href="{link}/">{name}</a>: {rows}</li>')
    beside = "comparison.csv", "scalars.csv", "figures.csv"
    links = ", ".join(f'<a href="{name}">{name}</a>' for name in beside)
    told = "<p>Parquet, readable with pandas, Spark, DuckDB and others:</p>"
    return f"{told}<ul>{''.join(lines)}</ul><p>{links}</p>"
