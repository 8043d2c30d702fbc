"""`causeway attach`: wait for simulations that the user starts, one after the other."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from causeway.analysis import store
from causeway.bridge.attached import AttachEngine
from causeway.bridge.engines.omnet import INET_LIBRARY, LIBRARY, OmnetEngine, command, launch_of, loadable
from causeway.cli import outcome
from causeway.cli.console import printable
from causeway.cli.run import describe_nodes
from causeway.errors import RunError, UserError
from causeway.network.networks import InetNetwork
from causeway.pycontrol.loop import passive_mask
from causeway.studies.campaign import commit_runs, summary
from causeway.studies.external_project import ExternalProject
from causeway.studies.parameters import parse_settings
from causeway.studies.runner import Job, make_spec, run_job
from causeway.toolchain.adapters import build
from causeway.toolchain.omnet_find import Found, find_omnetpp, missing_omnetpp


def attach_study(
    name: str, settings: Sequence[str], seed: int, hosts: str, out_dir: Path | None, times: int, console: Console
) -> None:
    """Wait for simulations that the user starts, and run the study on each.

    `times` is the number of simulations; 0: until interrupted.
    """
    found = find_omnetpp()
    if found is None:
        raise UserError(f"nothing can be attached here: {missing_omnetpp()}")
    external = ExternalProject("", "General", hosts) if hosts else None
    job = Job(name, parse_settings(settings), seed, "omnet", external=external)
    if why := OmnetEngine().missing(job.network()):
        raise UserError(f"nothing can be attached here: {why}")
    for adapter in OmnetEngine().adapters(job.network()):
        build(adapter)
    engine = AttachEngine(lambda: _say(console, "a simulation has connected"))
    try:
        _print_lines(job, engine, found, console)
        attempt = 0
        while times == 0 or attempt < times:
            attempt += 1
            _attempt(job, engine, attempt, out_dir, console)
    finally:
        engine.close()


def _attempt(job: Job, engine: AttachEngine, attempt: int, out_dir: Path | None, console: Console) -> None:
    _say(console, f"attempt {attempt}: waiting")
    try:
        result = run_job(job, engine=engine)
    except RunError as error:
        _say(console, f"attempt {attempt} failed: {error}")
        return
    reported = {**summary(result), "engine": "omnet", "seed": job.seed, "parameters": job.parameters}
    outcome.show(
        console, f"attempt {attempt}: digest {reported['digest']}", job.study.headlines, [job], [reported], False
    )
    _say(console, *describe_nodes([reported]))
    if out_dir is not None:
        folder = out_dir / f"attempt-{attempt}"
        if not store.has_run(folder, job.run_id):
            commit_runs(folder, result)


def _print_lines(job: Job, engine: AttachEngine, found: Found, console: Console) -> None:
    """Print the settings to paste: the environment, and lines for an ini file or a whole command."""
    spec = make_spec(job, passive_mask(job.study.protocol(job.params)))
    _say(console, "in the environment of the simulation:")
    _say(console, *(f"export {key}={value}" for key, value in engine.environment.items()))
    network = spec.network
    library = INET_LIBRARY if isinstance(network, InetNetwork) else LIBRARY
    _say(console, "in its ini file, in the section [General] (OMNeT++ refuses this line in other sections):")
    _say(console, f"load-libs = {loadable(found, library)}")
    _say(console, "in its ini file, in [General] or in the configuration that you start:")
    _say(console, 'scheduler-class = "causeway::CausewayScheduler"')
    if isinstance(network, InetNetwork) and network.hosts:
        _say(console, f'causeway-nodes = "{network.hosts}"')
    if not isinstance(network, InetNetwork) or network.ini:
        whole = shlex.join(command(found, launch_of(spec, found), spec))
        _say(console, "or all of this in one command (-u Qtenv shows the simulation):", whole)


def _say(console: Console, *lines: str) -> None:
    for line in lines:
        console.print(Text(printable(line)), soft_wrap=True)
