"""`Run`, the results of one run: numbers, tables, the nodes' final state, and explanations of violations."""

from __future__ import annotations

import html
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Generic, TypeVar

import pandas as pd
import pyarrow as pa

from causeway.analysis import store
from causeway.analysis.animation import write_nodes
from causeway.analysis.plots import Headline
from causeway.analysis.reduce.quantity import number, quantity
from causeway.errors import unknown
from causeway.explore import spacetime
from causeway.pycontrol.node import Node, PerNode
from causeway.studies.explained import describe_chain, drawn, look, unnamed_in_words
from causeway.studies.runner import Job, RunResult

N = TypeVar("N", bound=Node, covariant=True)
FRAMES = ("runs", "parameters", "scalars", "samples", "nodes")
"""The tables that `Run.frame` returns."""
EXPLAINED = ("violations", "missing", "duplicates")
"""Scalars that count violations, which `Run.explain` explains."""
SHOWN = 8
"""The number of scalars to print for a study without headlines."""
FIRST = tuple(
    Headline(name, name) for name in ("messages", "deliveries", "missing", "violations", "duplicates", "packets")
)
"""The headlines of a run without a study."""


@dataclass(frozen=True, repr=False)
class Run(Generic[N]):
    """The results of one run.

    `print(run)` shows the headline numbers. `run.scalars` has all numbers by name.
    """

    scalars: Mapping[str, float]
    """The numbers of the whole run, such as `violations`, `deliveries` and `packets`."""
    digest: str
    """A digest of everything that the nodes did. Runs with the same behaviour have equal digests."""
    engine: str
    engine_version: str
    seed: int
    events: int
    """The number of events."""
    wall_s: float = field(compare=False)
    """The wall-clock time of the run."""
    run_id: str
    """The name under which a result folder keeps the run."""
    nodes: Sequence[N] = field(compare=False)
    """The nodes at the end of the run; empty if it was read from a folder or executed in another process."""
    out: Path | None = field(compare=False)
    """The result folder that contains the run, if any."""
    _job: Job = field(compare=False)
    _tables: Mapping[str, pa.Table] = field(compare=False)

    def frame(self, table: str = "scalars") -> pd.DataFrame:
        """Return a table of the run: "scalars", "samples" (time series), "parameters", "runs" or "nodes".

        A sample has the columns module, name, time_s and value.
        """
        if table not in FRAMES:
            raise unknown("table of a run", table, FRAMES)
        if table != "samples":
            return self._frames[table].drop(columns="run_id", errors="ignore")  # a table without rows has no columns
        samples = self._frames["samples"].merge(
            self._frames["vectors"][["vector_id", "module", "name"]], on="vector_id"
        )
        samples["time_s"] = samples["time_raw"] * 10.0 ** samples["time_exp"].astype(float)
        return samples[["module", "name", "time_s", "value"]]

    @cached_property
    def _frames(self) -> dict[str, pd.DataFrame]:
        names = (*FRAMES, "vectors")
        if self.out is not None:
            return {name: store.read_table_of(self.out, name, self.run_id).to_pandas() for name in names}
        return {name: self._tables[name].to_pandas() if name in self._tables else pd.DataFrame() for name in names}

    def explain(self, diagram: str | Path | None = None) -> str:
        """Describe the events that led to the first violation.

        The run is repeated with a witness (`causeway.explore.witness`).

        Args:
            diagram: An HTML file to write, with a space-time diagram of these events.
        """
        evidence = look(self._job.but(record_to="", options={}), None, 1)
        if not evidence.chains:
            return "the run has no violation"
        one = evidence.chains[0]
        lines = [one.title, *(f"  {line}" for line in describe_chain(one))]
        lines += [f"  and {one.left_out} more events"] if one.left_out else []
        lines += [f"  {unnamed_in_words(one)}"] if one.unnamed else []
        if diagram is not None:
            study = self._job.study
            Path(diagram).write_text(spacetime.page(drawn(one, f"{study.name}: {study.title}")), encoding="utf-8")
            lines.append(f"diagram: {diagram}")
        return "\n".join(lines)

    def animate(self, path: str | Path) -> None:
        """Write an animation of the nodes' positions to an HTML file.

        The network must record them, as in `MobileNetwork(..., places_every_ps=ms(500))`.
        """
        if self.out is not None:
            write_nodes(self.out, self.run_id, Path(path))
            return
        with tempfile.TemporaryDirectory(prefix="causeway-") as folder:
            store.write_run(Path(folder), self._tables)
            write_nodes(Path(folder), self.run_id, Path(path))

    @property
    def headlines(self) -> dict[str, float]:
        """The few numbers that summarize the run, with their units."""
        study = self._job.study
        known = {"scalars": self.scalars, "parameters": self._job.parameters}
        chosen = [one for one in study.headlines or FIRST if quantity(one.scalar, known) is not None]
        chosen = chosen or [Headline(name, name) for name in list(self.scalars)[:SHOWN]]
        found = {f"{one.name} [{one.unit}]" if one.unit else one.name: quantity(one.scalar, known) for one in chosen}
        return {name: value for name, value in found.items() if value is not None}

    @property
    def _title(self) -> str:
        return f"{self._job.study.name} on {self.engine_version}, seed {self.seed}: {self.events:,} events"

    def __repr__(self) -> str:
        wide = max((len(name) for name in self.headlines), default=0)
        lines = [f"  {name:<{wide}}  {number(value)}" for name, value in self.headlines.items()]
        return "\n".join([self._title, *lines, f"  {'digest':<{wide}}  {self.digest}"])

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{html.escape(name)}</td><td style='text-align:right'>{number(value)}</td></tr>"
            for name, value in self.headlines.items()
        )
        return f"<p>{html.escape(self._title)}</p><table>{rows}</table>"


def of_result(result: RunResult, out: Path | None) -> Run[Node]:
    """Return a run of this process."""
    protocol = result.protocol
    nodes = tuple(protocol.nodes) if isinstance(protocol, PerNode) else ()
    tables = store.conformed(result.tables)
    return _made(result.job, tables["runs"].to_pylist()[0], result.scalars, nodes, out, tables)


def from_folder(out: Path, job: Job) -> Run[Node]:
    """Return a run from a result folder."""
    (row,) = store.read_table_of(out, "runs", job.run_id).to_pylist()
    scalars = store.read_table_of(out, "scalars", job.run_id).to_pylist()
    own = {one["name"]: one["value"] for one in scalars if one["module"] == "run"}
    return _made(job, row, own, (), out, {})


def _made(
    job: Job, row: Mapping[str, object], scalars: Mapping[str, float], nodes: Sequence[Node], out: Path | None,
    tables: Mapping[str, pa.Table],
) -> Run[Node]:  # fmt: skip
    events, wall_s = row["events"], row["wall_s"]
    return Run(
        scalars=dict(scalars), digest=str(row["digest"]), engine=job.engine, seed=job.seed, run_id=job.run_id,
        engine_version=str(row["engine_version"]), events=events if isinstance(events, int) else 0,
        wall_s=wall_s if isinstance(wall_s, float) else 0.0, nodes=nodes, out=out, _job=job, _tables=tables,
    )  # fmt: skip
