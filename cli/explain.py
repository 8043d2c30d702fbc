"""`causeway explain`: show the causes of a run's first violations, as text, as a diagram, and as a log for ShiViz."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from causeway.analysis import store, versions
from causeway.analysis.files import refuse_links
from causeway.bridge.recording import describe
from causeway.cli.build import prepare
from causeway.cli.console import printable
from causeway.cli.replay import recorded_job
from causeway.errors import UserError
from causeway.explore import captured_frames, shiviz, spacetime
from causeway.explore.causal_chain import Chain
from causeway.network.networks import MobileNetwork
from causeway.studies import registry
from causeway.studies.explained import Evidence, describe_chain, drawn, look, unnamed_in_words
from causeway.studies.external_project import ExternalProject
from causeway.studies.runner import Job

MISTAKES = ("violations", "duplicates", "missing")
"""Scalars of a run that count mistakes."""


def explain(target: str, out_dir: Path, study: str | None, wanted: int, pages: Path, console: Console) -> bool:
    """Explain the first violations of a run. Return whether there were violations."""
    job, recording = find(target, out_dir, study)
    console.print(
        f"{job.run_id}: examined by {'its recording' if recording else 'repeating it on ' + job.engine}", soft_wrap=True
    )
    if recording is None:
        prepare(job.engine, job.network(), console)
    found = look(job, recording, wanted)
    folder = recording.parent.parent if recording is not None else Path(target) if Path(target).is_dir() else out_dir
    name_frames(found, folder / "pcap" / job.run_id)
    if not found.chains:
        console.print("this run has no violation")
        return False
    for number, one in enumerate(found.chains, 1):
        print_chain(one, f"{job.run_id}-{number}", f"{job.study.name}: {job.study.title}", pages, console, number == 1)
    return True


def name_frames(evidence: Evidence, folder: Path) -> None:
    """Add to each arrival the frame that carried it, if captures of the run exist."""
    network = evidence.network
    if folder.is_dir() and isinstance(network, MobileNetwork):
        stations = len(network.station_xy_mm)
        names = {
            node: f"station[{node}]" if node < stations else f"host[{node - stations}]" for node in range(network.nodes)
        }
        captures = captured_frames.Captures(folder)
        for one in evidence.chains:
            one.events[:] = captured_frames.named(one.events, captures, names)


def find(target: str, out_dir: Path, study: str | None) -> tuple[Job, Path | None]:
    """Return the job of a recording, of a run in a result folder, or of the folder's first run with a violation.

    Returns:
        The job, and its recording if there is one.
    """
    path = Path(target)
    if path.is_file():
        setup = describe(path).setup
        _check_study(setup.study, study, path)
        return recorded_job(path, setup, study or setup.study), path
    if path.is_dir():
        out_dir, target = path, _first_wrong(path)
    if not store.has_run(out_dir, target):
        raise UserError(
            f"no run {target} in {out_dir}, and no file of this name; choose the result folder with --out DIR"
        )
    run = store.read_table_of(out_dir, "runs", target).to_pylist()[0]
    rows = store.read_table_of(out_dir, "parameters", target).to_pylist()
    _check_study(run["study"], study, out_dir)
    job = _job(study or run["study"], {row["name"]: row["value"] for row in rows}, run)
    if run["code"] is not None and run["code"] != job.identity.code:
        _warn(f"{target} was made by code other than the present one ({versions.short(run['code'])})")
    recording = out_dir / "recordings" / f"{target}.frames"
    if recording.is_file():
        return job, recording
    if job.external is not None:
        raise UserError(
            f"{target} is a run on a network of your own; repeat it with --record, then explain the recording"
        )
    return job, None


def _job(name: str, reported: dict[str, str], run: Mapping[str, Any]) -> Job:
    """Return the job of a run. Parameters that its study does not have belong to a user's own project."""
    fields = registry.get(name).Params.model_fields
    own = {key: value for key, value in reported.items() if key in fields}
    more = {key: value for key, value in reported.items() if key not in fields}
    if not {"ini", "config"} <= more.keys():
        return Job(name, reported, run["seed"], run["engine"])
    ini, config, hosts = more.pop("ini"), more.pop("config"), more.pop("host_pattern", "")
    more.pop("with", None)
    external = ExternalProject(ini, config, hosts, variables=more, code=run["project_code"] or "")
    return Job(name, own, run["seed"], run["engine"], external=external)


def _warn(text: str) -> None:
    print(f"causeway: {printable(text)}", file=sys.stderr)


def _check_study(name: str, study: str | None, where: Path) -> None:
    if study is None and name not in registry.STUDIES:
        raise UserError(f"{where} has a run of a study that does not ship with Causeway ({name}); add --study FILE.py")


def _first_wrong(folder: Path) -> str:
    """Return the first run of a folder with a violation."""
    run_ids = sorted(store.finished_runs(folder))
    if not run_ids:
        raise UserError(f"{folder} contains no finished run; `causeway run STUDY --out {folder}` makes one")
    for run_id in run_ids:
        rows = store.read_table_of(folder, "scalars", run_id).to_pylist()
        if any(row["name"] in MISTAKES and row["value"] > 0 for row in rows):
            return run_id
    raise UserError(f"no run in {folder} has a violation")


def print_chain(one: Chain, name: str, title: str, pages: Path, console: Console, in_full: bool) -> None:
    """Print a chain and write its pages."""
    lines = describe_chain(one)
    console.print(Text.assemble(("wrong", "red"), " ", printable(one.title)), soft_wrap=True)
    for line in lines if in_full else []:
        console.print(Text("  " + printable(line)), soft_wrap=True)
    if one.left_out:
        console.print(f"  and {one.left_out} more events", soft_wrap=True)
    if one.unnamed:
        console.print(Text("  " + printable(unnamed_in_words(one))), soft_wrap=True)
    page, log = pages / f"{name}.html", pages / f"{name}.shiviz.txt"
    refuse_links(pages, page.name, log.name)
    pages.mkdir(parents=True, exist_ok=True)
    page.write_text(spacetime.page(drawn(one, title)))
    log.write_text(shiviz.log(one.events, lines, one.names))
    console.print(f"diagram: {page}; log for ShiViz: {log}", soft_wrap=True)
