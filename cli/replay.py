"""`causeway replay`."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from causeway.bridge.engines.replay import ReplayEngine
from causeway.bridge.errors import UserError
from causeway.bridge.recording import describe
from causeway.cli.console import printable
from causeway.pycontrol.loop import passive_mask, run_protocol
from causeway.studies import registry
from causeway.studies.runner import Job, make_spec


def replay_file(path: Path, console: Console, study_name: str | None = None) -> None:
    """Runs the recorded study's protocol on the recorded frames; raises RunError at the first different answer.

    A recording is data: it chooses among our studies, and never names a file that is then run. A study in a file is one
    that the user names.
    """
    if not path.is_file():
        raise UserError(f"no recording at {path}; `causeway run STUDY --record` makes one")
    setup = describe(path).setup
    if study_name is None and setup.study not in registry.STUDIES:
        raise UserError(
            f"{path} is of a study that is not one of ours ({setup.study}); if it is yours, say "
            f"`causeway replay {path} --study FILE.py`"
        )
    job = Job(study_name or setup.study, _parameters(path, setup.parameters_json), setup.seed, "replay")
    protocol = job.study.protocol(job.params)
    spec = replace(make_spec(job, passive_mask(protocol)), options={"recording": path})
    outcome = run_protocol(ReplayEngine(), spec, protocol, job.study.observers(job.params, spec.network.nodes))
    told = (
        f"{path}: {outcome.windows} windows, {outcome.events} events of {outcome.engine_version}: the same answers; "
        f"digest {outcome.digest}"
    )
    console.print(Text(printable(told)), soft_wrap=True)


def _parameters(path: Path, text: str) -> dict[str, Any]:
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict):
        raise UserError(f"{path} is damaged: its parameters are no JSON object; record it anew")
    return values
