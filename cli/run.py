"""`causeway run`: plans the runs, makes them with a progress bar, and prints the results."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.text import Text

from causeway.analysis import compact, store, versions
from causeway.analysis.files import refuse_links
from causeway.analysis.remote import only_here
from causeway.cli import outcome
from causeway.cli.build import prepare
from causeway.cli.console import printable
from causeway.cli.main import print_json
from causeway.cli.twice import compare_runs
from causeway.errors import UserError, unknown
from causeway.studies import campaign, registry
from causeway.studies.contained import contained as contained
from causeway.studies.describe import describe_in
from causeway.studies.external_project import plan_external
from causeway.studies.parameters import parse_settings
from causeway.studies.processes import processes_for, run_in_processes
from causeway.studies.runner import PLACES_EVERY_PS, Job, choose_engine
from causeway.studies.study import Study
from causeway.toolchain.first_compile import MOST_S, on_first_compile

S_PS = 10**12
MOST_NODES = 4
"""The most nodes that are printed with their modules."""


@dataclass(frozen=True)
class InProject:
    """A user's INET project (--ini) in which a study is run."""

    ini: Path
    config: str
    hosts: str

    def plan(
        self, name: str, engine: str, sweep: str | None, given: dict[str, str], seed: int, reps: int, cap: int,
        out_dir: Path,
    ) -> list[Job]:  # fmt: skip
        """Return a job for every run of the configuration."""
        if sweep is not None:
            raise UserError("--sweep and --ini do not go together: the configuration says which runs there are")
        planned = plan_external(registry.get(name), str(self.ini), self.config, self.hosts, given)
        jobs = campaign.plan_for(name, engine, planned, seed, reps, cap)
        folder = str((out_dir / "omnetpp").resolve())
        return [job.but(options={"results": folder, "result_name": job.run_id}) for job in jobs]


@dataclass(frozen=True)
class Instruments:
    """The instruments of OMNeT++ for a run, and the recording for an animation, on any packet-level engine."""

    pcap: bool = False
    eventlog: bool = False
    fingerprint: Path | None = None
    ui: str = ""
    animate_s: float = 0.0

    def on(self, job: Job, out_dir: Path) -> Job:
        """Return a job with these instruments."""
        folder = out_dir.resolve()
        asked = {
            "pcap": str(folder / "pcap" / job.run_id) if self.pcap else "",
            "eventlog": str(folder / "eventlog" / f"{job.run_id}.elog") if self.eventlog else "",
            "fingerprint": str(self.fingerprint.resolve()) if self.fingerprint else "",
            "ui": self.ui,
        }
        given: dict[str, Any] = {name: value for name, value in asked.items() if value}
        if given and job.engine != "omnet":
            raise UserError(f"engine {job.engine} has no --{next(iter(given))}; that is for omnet")
        if self.animate_s:
            given[PLACES_EVERY_PS] = round(self.animate_s * S_PS)
        return job.but(options={**job.options, **given})


def run_study(
    name: str, engine: str | None, settings: Sequence[str], sweep: str | None, seed: int, reps: int, out_dir: Path,
    record: bool, spark: str | None, cap: int, as_json: bool, console: Console, everything: bool = False,
    wished: int | None = None, project: InProject | None = None, instruments: Instruments | None = None,
    fresh: bool = False, twice: bool = False,
) -> bool:  # fmt: skip
    """Make the runs; return whether one failed."""
    study = registry.get(name)
    if record and spark:
        raise UserError("--record and --spark do not go together; record single runs without --spark")
    given = parse_settings(settings)
    if project is not None:
        jobs = project.plan(name, engine or "omnet", sweep, given, seed, reps, cap, out_dir)
    else:
        jobs = campaign.plan(name, engine or "", points_of(study, sweep, given), seed, reps, cap)
    chosen = choose_engine(study, engine, jobs[0].network())
    jobs = [job.but(engine=chosen) for job in jobs]
    if instruments is not None:
        jobs = [instruments.on(job, out_dir) for job in jobs]
    prepare(chosen, console)
    if twice:
        if record or spark or fresh or instruments not in (None, Instruments()):
            raise UserError("--twice compares and keeps nothing; leave --record, --spark, --fresh and instruments out")
        return compare_runs(jobs, as_json, console)
    if record:
        jobs = [_recorded(job, out_dir) for job in jobs]
    if project is not None or record or instruments not in (None, Instruments()):
        only_here(out_dir, "a run with --ini, --record or an instrument of OMNeT++")
    out_dir.mkdir(parents=True, exist_ok=True)
    if fresh:
        compact.forget_runs(out_dir, {job.run_id for job in jobs} & store.finished_runs(out_dir))
    other = list(versions.other_code(out_dir, study.name, chosen, jobs[0].identity.code))
    tally = _work(study, jobs, out_dir, spark, processes_for(jobs, wished), console)
    found = _found(out_dir, jobs, tally)
    if found:
        describe_in(out_dir, study)  # all runs may be older than the study's plots
    for line in [*_reused(tally), *other, *_nothing_delivered(found), *nodes_in_words(found)]:
        console.print(line, highlight=False, markup=False, soft_wrap=True)
    if as_json:
        print_json(found[0] if len(jobs) == 1 and len(found) == 1 else {"runs": found})
    elif found:
        title = f"{study.name}: {study.title} ({found[0]['engine_version']}, code {found[0]['code']})"
        outcome.show(console, title, study.headlines, jobs, found, everything)
        console.print(
            f"{len(found)} runs in {out_dir}; `causeway report {out_dir}` draws them",
            highlight=False, markup=False, soft_wrap=True,
        )  # fmt: skip
    for run_id, problem in tally.failed.items():
        console.print(Text.assemble(("failed", "red"), f" {printable(run_id)}: {printable(problem)}"), soft_wrap=True)
    return bool(tally.failed)


def _reused(tally: campaign.Tally) -> list[str]:
    """Describe how many runs were already in the folder."""
    reported = f"{tally.skipped} of {tally.total} runs were here already; --fresh makes them anew"
    return [reported] if tally.skipped else []


def _nothing_delivered(found: Sequence[Mapping[str, Any]]) -> list[str]:
    """Warn of a protocol that broadcasts and never delivers: its numbers say nothing."""
    scalars = [run["scalars"] for run in found]
    if not any(one.get("messages") for one in scalars) or any(one.get("deliveries", 1) for one in scalars):
        return []
    return ["warning: messages were broadcast and none was delivered; nodes call self.deliver(message) for each"]


def nodes_in_words(found: Sequence[Mapping[str, Any]]) -> list[str]:
    """Describe which modules of a user's own network are which nodes; if runs differ, for the first."""
    named = [run["nodes"] for run in found if run.get("nodes")]
    if not named:
        return []
    first = [f"{node} = {module}" for node, module in enumerate(named[0])]
    shown = first if len(first) <= MOST_NODES else [*first[: MOST_NODES - 1], "...", first[-1]]
    others = "; other runs have others (table nodes)" if any(one != named[0] for one in named) else ""
    return [f"nodes: {', '.join(shown)}{others}"]


def points_of(study: Study, sweep: str | None, given: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the points of a sweep, or a single one. The user's settings override those of the points."""
    if sweep is None:
        return [dict(given)]
    if sweep not in study.sweeps:
        raise unknown(f"sweep of study {study.name}", sweep, study.sweeps)
    return [{**point, **given} for point in study.sweeps[sweep]]


def _recorded(job: Job, out_dir: Path) -> Job:
    path = out_dir / "recordings" / f"{job.run_id}.frames"
    refuse_links(out_dir, "recordings", str(path.relative_to(out_dir)))
    path.parent.mkdir(parents=True, exist_ok=True)
    return job.but(record_to=str(path))


def _work(
    study: Study, jobs: list[Job], out_dir: Path, spark: str | None, processes: int, console: Console
) -> campaign.Tally:
    began = time.monotonic()
    columns = (
        SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(),
        TimeElapsedColumn(), TextColumn("{task.fields[left]}", markup=False),
    )  # fmt: skip
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(study.name, total=len(jobs), left="")
        inner = bar.add_task("", total=None, left="", visible=False)

        def watch(tally: campaign.Tally) -> None:
            left = campaign.time_left_s(tally, began)
            text = f"{tally.running} running, {len(tally.failed)} failed, {tally.skipped} already there"
            text += "" if left is None else f", about {left:,.0f} s left"
            bar.update(task, completed=tally.done + tally.skipped + len(tally.failed), left=text)

        def report(progress: Any) -> None:
            text = f"t = {progress.now_ps / 1e12:,.3f} s, {progress.events:,} events"
            bar.update(inner, description=text, visible=True)

        if spark is not None:
            return campaign.run_on_spark(jobs, out_dir, spark, watch)
        if processes > 1:
            return run_in_processes(jobs, out_dir, processes, watch)
        with on_first_compile(lambda: _say_compiling(study, console)):
            return campaign.run_here(jobs, out_dir, watch, report=report)


def _say_compiling(study: Study, console: Console) -> None:
    text = f"compiling what {study.name} needs (once, up to {MOST_S} s; `causeway build kernels` does it ahead)"
    console.print(text, highlight=False, markup=False, soft_wrap=True)


def _found(out_dir: Path, jobs: list[Job], tally: campaign.Tally) -> list[dict[str, Any]]:
    """Return the results of the finished runs in the order of the jobs, from this run or read from the folder."""
    found, before = [], _read_back(out_dir, [job.run_id for job in jobs if job.run_id not in tally.found])
    for job in jobs:
        run = tally.found.get(job.run_id) or before.get(job.run_id)
        if run is None:
            continue
        scalars = {name: _plain(value) for name, value in run["scalars"].items()}
        what = {"study": run["study"], "engine": job.engine, "engine_version": run["engine_version"], "seed": job.seed}
        came = {
            "code": job.identity.code, "reused": job.run_id not in tally.found, "digest": run["digest"],
            "wall_s": run["wall_s"], "scalars": scalars, **({"nodes": run["nodes"]} if run["nodes"] else {}),
        }  # fmt: skip
        found.append({**what, "parameters": job.parameters, **came})
    return found


def _read_back(out_dir: Path, run_ids: list[str]) -> dict[str, dict[str, Any]]:
    """Read the results of runs that were in the folder before, all at once."""
    import pyarrow.compute as pc

    if not run_ids:
        return {}
    ours = pc.field("run_id").isin(run_ids)
    found = {
        run["run_id"]: {**run, "scalars": {}, "nodes": []}
        for run in store.read_arrow(out_dir, "runs", where=ours).to_pylist()
    }
    for row in store.read_arrow(out_dir, "scalars", where=ours & (pc.field("module") == "run")).to_pylist():
        if row["run_id"] in found:
            found[row["run_id"]]["scalars"][row["name"]] = row["value"]
    for row in store.read_arrow(out_dir, "nodes", where=ours).sort_by("node").to_pylist():
        if row["run_id"] in found:
            found[row["run_id"]]["nodes"].append(row["module"])
    return found


def _plain(value: float) -> float | int | None:
    """Return whole numbers as int, and None for NaN and infinity, which JSON does not have."""
    if value != value or value in (float("inf"), float("-inf")):
        return None
    return int(value) if value == int(value) and abs(value) < 2**53 else value
