"""`causeway replay`."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from causeway.bridge.engines.replay import ReplayEngine
from causeway.bridge.errors import UserError
from causeway.bridge.recording import describe
from causeway.pycontrol.loop import passive_mask, run_protocol
from causeway.studies.runner import Job, make_spec


def replay_file(path: Path, console: Console) -> None:
    """Runs the recorded study's protocol on the recorded frames; raises RunError at the first different answer."""
    if not path.is_file():
        raise UserError(f"no recording at {path}; `causeway run STUDY --record` makes one")
    setup = describe(path).setup
    job = Job(setup.study, json.loads(setup.parameters_json), setup.seed, "replay")
    protocol = job.study.protocol(job.params)
    spec = replace(make_spec(job, passive_mask(protocol)), options={"recording": path})
    outcome = run_protocol(ReplayEngine(), spec, protocol, job.study.observers(job.params, spec.network.nodes))
    console.print(
        f"{path}: {outcome.windows} windows, {outcome.events} events of {outcome.engine_version}: the same answers; "
        f"digest {outcome.digest}",
        highlight=False, soft_wrap=True,
    )  # fmt: skip
