"""`causeway run`: plan the runs, execute them with a progress bar, print their results. Start here: `run_study`."""

from __future__ import annotations

import shlex
import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.text import Text

from causeway.analysis import compact, store, versions
from causeway.analysis.files import refuse_links
from causeway.analysis.reduce.quantity import unknown_names
from causeway.analysis.remote import require_local
from causeway.cli import outcome
from causeway.cli.build import prepare
from causeway.cli.console import printable
from causeway.cli.main import print_json
from causeway.cli.twice import compare_runs
from causeway.errors import UserError, unknown
from causeway.pycontrol.debugging import debugging
from causeway.pycontrol.node_log import logging_nodes
from causeway.studies import campaign, registry
from causeway.studies.contained import contained as contained
from causeway.studies.describe import describe, describe_in
from causeway.studies.execution import execute, read_back
from causeway.studies.external_project import plan_external
from causeway.studies.parameters import parse_settings
from causeway.studies.processes import processes_for
from causeway.studies.run_warnings import in_lines
from causeway.studies.runner import PLACES_EVERY_PS, Job, choose_engine
from causeway.studies.study import Study
from causeway.toolchain.first_compile import MOST_S, on_first_compile

S_PS = 10**12
MOST_NODES = 4
"""The maximum number of nodes whose modules are all printed. Of more nodes, only the first and the last are printed."""


@dataclass(frozen=True)
class InProject:
    """A user's own INET project (--ini), on whose network a study is run."""

    ini: Path
    config: str
    hosts: str
    models: tuple[str, ...] = ()

    def plan(self, options: RunOptions, settings: dict[str, str]) -> list[Job]:
        """Return all runs of the configuration."""
        if options.sweep is not None:
            raise UserError("--sweep and --ini do not go together: the configuration defines the runs")
        study, ini = registry.get(options.study), str(self.ini)
        planned = plan_external(study, ini, self.config, self.hosts, settings, self.models)
        engine = options.engine or "omnet"
        jobs = campaign.plan_for(options.study, engine, planned, options.seed, options.reps, options.cap)
        folder = str((options.out_dir / "omnetpp").resolve())
        return [job.but(options={"results": folder, "result_name": job.run_id}) for job in jobs]


def project_of(ini: Path | None, config: str, hosts: str, models: Sequence[str] = ()) -> InProject | None:
    """Return the project of --ini, --config, --hosts and --with; None without --ini."""
    if ini is None and (config != "General" or hosts or models):
        raise UserError("--config, --hosts and --with need --ini FILE; add it")
    return InProject(ini, config, hosts, tuple(models)) if ini is not None else None


@dataclass(frozen=True)
class Instruments:
    """The instruments of OMNeT++ for a run, and the interval of an animation, on any packet-level engine."""

    pcap: bool = False
    eventlog: bool = False
    fingerprint: Path | None = None
    ui: str = ""
    animate_s: float = 0.0

    def on(self, job: Job, out_dir: Path) -> Job:
        """Return the job with these instruments. Raise UserError if its engine does not have one of them."""
        folder = out_dir.resolve()
        options = {
            "pcap": str(folder / "pcap" / job.run_id) if self.pcap else "",
            "eventlog": str(folder / "eventlog" / f"{job.run_id}.elog") if self.eventlog else "",
            "fingerprint": str(self.fingerprint.resolve()) if self.fingerprint else "",
            "ui": self.ui,
        }
        used: dict[str, Any] = {name: value for name, value in options.items() if value}
        if used and job.engine != "omnet":
            raise UserError(f"engine {job.engine} has no --{next(iter(used))}; choose --engine omnet")
        if self.animate_s:
            used[PLACES_EVERY_PS] = round(self.animate_s * S_PS)
        return job.but(options={**job.options, **used})


@dataclass(frozen=True)
class RunOptions:
    """The options of `causeway run`; `causeway run --help` describes them."""

    study: str
    engine: str | None = None
    settings: Sequence[str] = ()
    sweep: str | None = None
    seed: int = 1
    reps: int = 1
    out_dir: Path = Path("results")
    record: bool = False
    spark: str | None = None
    processes: int | None = None
    cap: int = 0
    fresh: bool = False
    twice: bool = False
    all_scalars: bool = False
    as_json: bool = False
    project: InProject | None = None
    instruments: Instruments = Instruments()
    pdb: bool = False
    log: str = ""
    log_file: Path | None = None

    @property
    def logs(self) -> bool:
        """True if the log of nodes is written."""
        return bool(self.log or self.log_file)

    def check(self) -> None:
        """Raise UserError for options that exclude each other."""
        measured = self.instruments != Instruments()
        if self.record and self.spark:
            raise UserError("--record and --spark exclude each other; record single runs without --spark")
        if self.logs and (self.spark or (self.processes or 1) > 1):
            raise UserError("--log needs runs one after the other; omit --spark and --jobs")
        if self.twice and (self.record or self.spark or self.fresh or measured):
            raise UserError("--twice keeps no results; omit --record, --spark, --fresh and instruments")
        if self.pdb and (self.spark or self.twice or self.as_json or (self.processes or 1) > 1):
            raise UserError("--pdb debugs runs in this terminal; omit --spark, --twice, --json and --jobs")
        if not self.twice and (self.project is not None or self.record or measured):
            require_local(self.out_dir, "a run with --ini, --record or an instrument of OMNeT++")


def run_study(options: RunOptions, console: Console) -> bool:
    """Execute the runs and print their results; return whether one failed."""
    options.check()
    with logging_nodes(options.log or "info", options.log_file) if options.logs else nullcontext():
        return _run_study(options, console)


def _run_study(options: RunOptions, console: Console) -> bool:
    study, out_dir = registry.get(options.study), options.out_dir
    jobs = _planned(options, study)
    engine = jobs[0].engine
    prepare(engine, jobs[0].network(), console)
    if options.twice:
        return compare_runs(jobs, options.as_json, console)
    out_dir.mkdir(parents=True, exist_ok=True)
    if options.fresh:
        compact.forget_runs(out_dir, {job.run_id for job in jobs} & store.finished_runs(out_dir))
    doubts = in_lines([job.external.doubts for job in jobs if job.external])
    for line in doubts:
        console.print(line, highlight=False, markup=False, soft_wrap=True)
    other = list(versions.other_code(out_dir, study.name, engine, jobs[0].identity.code))
    tally = _work(study, jobs, options, console)
    found = _results_in_order(out_dir, jobs, tally)
    if found:
        describe_in(out_dir, study)  # the stored runs may be older than the study's plots
    warnings = [line for line in in_lines([run.get("warnings", []) for run in found]) if line not in doubts]
    misspelled, absent = unknown_names(study.headlines, found)
    warnings += [f"warning: {line}" for line in absent]
    for line in [*_reused_text(tally), *other, *warnings, *_nothing_delivered(found), *describe_nodes(found)]:
        console.print(line, highlight=False, markup=False, soft_wrap=True)
    if options.as_json:
        print_json(found[0] if len(jobs) == 1 and len(found) == 1 else {"runs": found})
    elif found:
        title = f"{study.name}: {study.title} ({found[0]['engine_version']}, code {found[0]['code']})"
        numbers = describe(study).published
        outcome.show(console, title, study.headlines, jobs, found, options.all_scalars, numbers)
        console.print(
            f"{len(found)} runs in {out_dir}; `causeway report {shlex.quote(str(out_dir))}` draws them",
            highlight=False, markup=False, soft_wrap=True,
        )  # fmt: skip
    for run_id, problem in tally.failed.items():
        console.print(Text.assemble(("failed", "red"), f" {printable(run_id)}: {printable(problem)}"), soft_wrap=True)
    if misspelled:
        raise UserError(misspelled[0])
    return bool(tally.failed)


def _planned(options: RunOptions, study: Study) -> list[Job]:
    """Return the jobs with the chosen engine, instruments and recordings."""
    settings = parse_settings(options.settings)
    if options.project is not None:
        jobs = options.project.plan(options, settings)
    else:
        points = points_of(study, options.sweep, settings)
        jobs = campaign.plan(options.study, options.engine or "", points, options.seed, options.reps, options.cap)
    engine = choose_engine(study, options.engine, jobs[0].network())
    jobs = [options.instruments.on(job.but(engine=engine), options.out_dir) for job in jobs]
    return [_recorded(job, options.out_dir) for job in jobs] if options.record else jobs


def _reused_text(tally: campaign.Tally) -> list[str]:
    """Return a line with the number of runs that were already in the folder."""
    line = f"{tally.skipped} of {tally.total} runs were already there; --fresh repeats them"
    return [line] if tally.skipped else []


def _nothing_delivered(found: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a warning about a protocol that broadcasts but never delivers, since its numbers mean nothing."""
    scalars = [run["scalars"] for run in found]
    if not any(one.get("messages") for one in scalars) or any(one.get("deliveries", 1) for one in scalars):
        return []
    return ["warning: messages were broadcast, but none was delivered; nodes must call self.deliver(message)"]


def describe_nodes(found: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a line that maps nodes to modules of a user's own network, for the first run."""
    named = [run["nodes"] for run in found if run.get("nodes")]
    if not named:
        return []
    first = [f"{node} = {module}" for node, module in enumerate(named[0])]
    shown = first if len(first) <= MOST_NODES else [*first[: MOST_NODES - 1], "...", first[-1]]
    others = "; other runs have other nodes (table `nodes`)" if any(one != named[0] for one in named) else ""
    return [f"nodes: {', '.join(shown)}{others}"]


def points_of(study: Study, sweep: str | None, given: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the points of the sweep, or one point without a sweep. `given` parameters replace those of a point."""
    if sweep is None:
        return [dict(given)]
    if sweep not in study.sweeps:
        raise unknown(f"sweep of study {study.name}", sweep, study.sweeps)
    before = study.sweeps[sweep]
    if not before:
        raise UserError(f"sweep {sweep} of study {study.name} has no points; add one to its list in `sweeps`")
    points = [{**point, **given} for point in before]
    swept = [name for name in given if len({str(point.get(name)) for point in before}) > 1]
    if swept and len({str(sorted(point.items())) for point in points}) < len(points):
        raise UserError(f"--set {swept[0]} replaces what --sweep {sweep} varies, so that points are equal; remove one")
    return points


def _recorded(job: Job, out_dir: Path) -> Job:
    path = out_dir / "recordings" / f"{job.run_id}.frames"
    refuse_links(out_dir, "recordings", str(path.relative_to(out_dir)))
    path.parent.mkdir(parents=True, exist_ok=True)
    return job.but(record_to=str(path))


def _work(study: Study, jobs: list[Job], options: RunOptions, console: Console) -> campaign.Tally:
    """Execute the jobs, in processes or on Spark, with a progress bar."""
    processes = 1 if options.logs or options.pdb else processes_for(jobs, options.processes)
    began, out_dir = time.monotonic(), options.out_dir
    columns = (
        SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(),
        TimeElapsedColumn(), TextColumn("{task.fields[left]}", markup=False),
    )  # fmt: skip
    with Progress(*columns, console=console, transient=True, disable=options.pdb or not console.is_terminal) as bar:
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

        debugged = debugging() if options.pdb else nullcontext()
        with on_first_compile(lambda: _say_compiling(study, console)), debugged:
            return execute(jobs, out_dir, watch, spark=options.spark, processes=processes, report=report)


def _say_compiling(study: Study, console: Console) -> None:
    ahead = "`causeway build kernels` compiles them in advance"
    text = f"compiling the kernels of {study.name} (once, up to {MOST_S} s; {ahead})"
    console.print(text, highlight=False, markup=False, soft_wrap=True)


def _results_in_order(out_dir: Path, jobs: list[Job], tally: campaign.Tally) -> list[dict[str, Any]]:
    """Return the results of the finished runs in the order of the jobs.

    Results of earlier commands are read from the folder.
    """
    found, before = [], read_back(out_dir, [job.run_id for job in jobs if job.run_id not in tally.found])
    for job in jobs:
        run = tally.found.get(job.run_id) or before.get(job.run_id)
        if run is None:
            continue
        scalars = {name: _plain(value) for name, value in run["scalars"].items()}
        setup = {"study": run["study"], "engine": job.engine, "engine_version": run["engine_version"], "seed": job.seed}
        results = {
            "code": job.identity.code, "reused": job.run_id not in tally.found, "digest": run["digest"],
            "wall_s": run["wall_s"], "scalars": scalars,
            **{name: run[name] for name in ("nodes", "warnings") if run[name]},
        }  # fmt: skip
        found.append({**setup, "parameters": job.parameters, **results})
    return found


def _plain(value: float) -> float | int | None:
    """Return whole numbers as int, and None for NaN and infinity, which JSON does not have."""
    if value != value or value in (float("inf"), float("-inf")):
        return None
    return int(value) if value == int(value) and abs(value) < 2**53 else value
