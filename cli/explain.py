"""`causeway explain`: the causes of a run's first violations, as text, as a diagram, and as a log for ShiViz."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from causeway.analysis import store, versions
from causeway.analysis.files import refuse_links
from causeway.bridge import engines
from causeway.bridge.engine import Engine
from causeway.bridge.engines.replay import ReplayEngine
from causeway.bridge.recording import describe, nodes_of
from causeway.cli.build import prepare
from causeway.cli.console import printable
from causeway.cli.replay import recorded_job
from causeway.errors import UserError
from causeway.explore import captured_frames, schedule_page, shiviz, spacetime
from causeway.explore.causal_chain import Chain, chain
from causeway.explore.witness import Enough, Watched, Witness
from causeway.network.networks import InetNetwork, MobileNetwork, Network
from causeway.pycontrol.loop import passive_mask, run_protocol
from causeway.pycontrol.protocol import Protocol
from causeway.studies import registry
from causeway.studies.external_project import ExternalProject
from causeway.studies.runner import Job, make_spec

WRONG = ("violations", "duplicates", "missing")
"""Scalars of a run that count mistakes."""


@dataclass(frozen=True)
class Evidence:
    """A run with the causal chains of its violations."""

    job: Job
    witness: Witness
    protocol: Protocol
    chains: tuple[Chain, ...]
    network: Network


def explain(target: str, out_dir: Path, study: str | None, wanted: int, pages: Path, console: Console) -> bool:
    """Explain the first violations of a run. Return whether there were any."""
    job, recording = find(target, out_dir, study)
    console.print(
        f"{job.run_id}: {'its recording' if recording else 'run once more on ' + job.engine}, looked at", soft_wrap=True
    )
    if recording is None:
        prepare(job.engine, job.network(), console)
    found = look(job, recording, wanted)
    folder = recording.parent.parent if recording is not None else Path(target) if Path(target).is_dir() else out_dir
    name_frames(found, folder / "pcap" / job.run_id)
    if not found.chains:
        console.print("nothing is wrong with it")
        return False
    for number, one in enumerate(found.chains, 1):
        print_chain(one, f"{job.run_id}-{number}", f"{job.study.name}: {job.study.title}", pages, console, number == 1)
    return True


def look(job: Job, recording: Path | None, wanted: int, most_s: float = inf) -> Evidence:
    """Run a job or replay its recording with a witness, for at most `most_s` seconds."""
    protocol = job.study.protocol(job.params)
    spec = make_spec(job, passive_mask(protocol))
    engine: Engine = engines.get(job.engine) if recording is None else ReplayEngine()
    if recording is not None:
        spec = replace(spec, options={"recording": recording})
    witness = Witness(spec.network.nodes, wanted, most_s=most_s)
    observers = [*job.study.observers(job.params, spec.network.nodes), witness]
    with contextlib.suppress(Enough):
        run_protocol(Watched(engine, witness, protocol), spec, protocol, observers)
    chains = tuple(chain(witness, violation, protocol, spec.network) for violation in witness.violations)
    if recording is not None and isinstance(spec.network, InetNetwork):
        name_modules(chains, nodes_of(recording))
    return Evidence(job, witness, protocol, chains, spec.network)


def name_modules(chains: Sequence[Chain], modules: Mapping[int, str]) -> None:
    """Name nodes by their modules of a user's own network, without the name of the network itself."""
    for one in chains:
        for node in one.names.keys() & modules.keys():
            one.names[node] = f"node {node} ({modules[node].partition('.')[2] or modules[node]})"


def name_frames(evidence: Evidence, folder: Path) -> None:
    """Add to arrivals the frames that carried them, if captures of the run exist."""
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
        raise UserError(f"no run {target} in {out_dir}, and no file of that name; `--out DIR` says where runs are")
    run = store.read_table_of(out_dir, "runs", target).to_pylist()[0]
    rows = store.read_table_of(out_dir, "parameters", target).to_pylist()
    _check_study(run["study"], study, out_dir)
    job = _job(study or run["study"], {row["name"]: row["value"] for row in rows}, run)
    if run["code"] is not None and run["code"] != job.identity.code:
        _warn(f"{target} was made by other code ({versions.short(run['code'])}) than what is here now")
    recording = out_dir / "recordings" / f"{target}.frames"
    if recording.is_file():
        return job, recording
    if job.external is not None:
        raise UserError(f"{target} is a run on somebody's own network; run it with --record to have it explained")
    return job, None


def _job(name: str, reported: dict[str, str], run: Mapping[str, Any]) -> Job:
    """Return the job of a run. Parameters beyond those of its study are of a user's own project."""
    fields = registry.get(name).Params.model_fields
    own = {key: value for key, value in reported.items() if key in fields}
    more = {key: value for key, value in reported.items() if key not in fields}
    if not {"ini", "config"} <= more.keys():
        return Job(name, reported, run["seed"], run["engine"])
    ini, config, hosts = more.pop("ini"), more.pop("config"), more.pop("host_pattern", "")
    external = ExternalProject(ini, config, hosts, variables=more, code=run["project_code"] or "")
    return Job(name, own, run["seed"], run["engine"], external=external)


def _warn(text: str) -> None:
    print(f"causeway: {printable(text)}", file=sys.stderr)


def _check_study(name: str, given: str | None, where: Path) -> None:
    if given is None and name not in registry.STUDIES:
        raise UserError(f"{where} has a run of a study that is not one of ours ({name}); say --study FILE.py")


def _first_wrong(folder: Path) -> str:
    """Return the first run of a folder with a violation."""
    run_ids = sorted(store.finished_runs(folder))
    if not run_ids:
        raise UserError(f"{folder} holds no finished run; `causeway run STUDY --out {folder}` makes one")
    for run_id in run_ids:
        rows = store.read_table_of(folder, "scalars", run_id).to_pylist()
        if any(row["name"] in WRONG and row["value"] > 0 for row in rows):
            return run_id
    raise UserError(f"no run in {folder} went wrong")


def print_chain(one: Chain, name: str, title: str, pages: Path, console: Console, in_full: bool) -> None:
    """Print a chain and write its pages."""
    lines = in_words(one)
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
    console.print(f"drawn in {page}, for ShiViz in {log}", soft_wrap=True)


def unnamed_in_words(one: Chain) -> str:
    """Describe the packets left out because their contents name no message, and how to name it."""
    kinds = ", ".join(f"{count} {name}" for name, count in one.unnamed.most_common())
    example = one.unnamed_example if len(one.unnamed_example) <= 60 else one.unnamed_example[:57] + "..."
    return (
        f"left out: packets whose contents name no message ({kinds}; the first is {example}); if messages are in them, "
        "say which: override PerNode.about(content), which returns (messages, nodes)"
    )


def drawn(one: Chain, title: str) -> spacetime.Story:
    """Return a chain in the form for diagrams."""
    about = frozenset({one.violation.message, one.violation.before} - {-1})
    return spacetime.Story(
        one.events, one.names, title, one.title, in_words(one), about, one.wanted, one.violation.node, timed=True
    )


def in_words(one: Chain) -> Sequence[str]:
    """Describe each event of a chain in one line."""
    lines = []
    for event in one.events:
        values: dict[str, Any] = event._asdict()
        values["peer"] = one.names.get(event.peer, f"node {event.peer}") if event.peer >= 0 else "all in reach"
        text = schedule_page.NAMED[event.what].format(**values)
        if event.what == "packet" and event.text.endswith("]") and " [frame " in event.text:
            text += " [frame " + event.text.rpartition(" [frame ")[2]
        lines.append(f"{event.time_ps / 1e12:.6f} s  {one.names.get(event.node, f'node {event.node}')}  {text}")
    return lines
