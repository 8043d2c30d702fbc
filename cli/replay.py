"""`causeway replay`: run a protocol on a recording again, or execute a counterexample again."""

from __future__ import annotations

import contextlib
import json
import shlex
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from causeway.bridge.engines.replay import ReplayEngine
from causeway.bridge.recording import describe
from causeway.cli.console import printable
from causeway.errors import UserError
from causeway.explore import schedule_page
from causeway.explore.stepper import Stepper
from causeway.explore.stop_at import StopAt
from causeway.pycontrol.confined import confined
from causeway.pycontrol.debugging import debugging
from causeway.pycontrol.loop import passive_mask, run_protocol
from causeway.studies import registry
from causeway.studies.external_project import ExternalProject
from causeway.studies.runner import Job, make_spec
from causeway.studies.trial import Trial


def replay_file(
    path: Path, console: Console, study_name: str | None = None, stop_at: tuple[int, int] | None = None
) -> None:
    """Run the recorded study's protocol on the recorded frames.

    A recording is data: it can select one of Causeway's own studies, but not a file that is then executed. For any
    other study, the user must pass the file.

    Raises:
        RunError: An answer differs from the recorded one.
    """
    if not path.is_file():
        raise UserError(f"no recording at {path}; `causeway run STUDY --record` makes one")
    setup = describe(path).setup
    if study_name is None and setup.study not in registry.STUDIES:
        raise UserError(
            f"{path} was made with a study that does not ship with Causeway ({setup.study}); add its file: `causeway "
            f"replay {path} --study FILE.py`"
        )
    job = recorded_job(path, setup, study_name or setup.study)
    protocol = job.study.protocol(job.params)
    spec = replace(make_spec(job, passive_mask(protocol)), options={"recording": path})
    stop = None if stop_at is None else StopAt(*stop_at)
    with debugging() if stop else contextlib.nullcontext():
        observers = job.study.observers(job.params, spec.network.nodes)
        outcome = run_protocol(ReplayEngine(), spec, protocol, observers, steps=stop)
    if stop is not None and not stop.reached:
        raise UserError(f"{path} has no such event after this time; choose an earlier time, or omit --node")
    reported = (
        f"{path}: {outcome.windows} windows, {outcome.events} events of {outcome.engine_version}: the same answers; "
        f"digest {outcome.digest}"
    )
    console.print(Text(printable(reported)), soft_wrap=True)


def recorded_job(path: Path, setup: Any, study: str) -> Job:
    """Return the job of a recording, on a user's own network if it was recorded there."""
    external = ExternalProject("", "General") if setup.HasField("own_network") else None
    return Job(study, _parameters(path, setup.parameters_json), setup.seed, "replay", external=external)


@confined()
def replay_example(
    path: Path, console: Console, study_name: str | None, by_hand: bool, always: Sequence[str] = (),
    at_end: Sequence[str] = (),
) -> bool:  # fmt: skip
    """Execute a counterexample of `causeway check` again; return whether its result differs from the stored one.

    `always` and `at_end` are the conditions with which it was found. They are code, so they are not read from the file.
    """
    try:
        kept = json.loads(path.read_text())
        listed = {name: tuple(kept["trial"].get(name, ())) for name in ("properties", "calls", "always", "at_end")}
        trial = Trial(**{**kept["trial"], **listed})
        plan = [int(number) for number in kept["plan"]]
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise UserError(f"{path} is not a counterexample; `causeway check` writes them to results/check") from None
    if study_name is None and trial.study_name not in registry.STUDIES:
        raise UserError(
            f"{path} was made with a study that does not ship with Causeway ({trial.study_name}); add its file: "
            f"`causeway replay {path} --study FILE.py`"
        )
    _check_conditions(path, trial, study_name, always, at_end)
    trial = replace(trial, study_name=study_name or trial.study_name, always=tuple(always), at_end=tuple(at_end))
    with closing(Stepper(trial.make, plan, trial.rules())) as stepper:
        if by_hand:
            stepper.interact(console.input, lambda text: console.print(Text(printable(text)), soft_wrap=True))
            return False
        stepper.to_the_end()
        broken = stepper.broken
        log = stepper.model.whole_log
    for line in schedule_page.lines_of(log):
        console.print(Text(printable(line)), soft_wrap=True)
    console.print(Text(f"broken {printable(broken)}" if broken else "no violation found"), soft_wrap=True)
    if broken is None and not kept.get("deterministic", True):
        console.print(
            Text(f"it was not deterministic; one execution violated: {printable(str(kept.get('broken')))}"),
            soft_wrap=True,
        )
    return broken != kept.get("broken")


def _check_conditions(
    path: Path, trial: Trial, study_name: str | None, always: Sequence[str], at_end: Sequence[str]
) -> None:  # fmt: skip
    """Refuse a counterexample without the conditions with which it was found. The user must pass them again."""
    if set(trial.always) <= set(always) and set(trial.at_end) <= set(at_end):
        return
    conditions = [word for one in trial.always for word in ("--always", one)]
    conditions += [word for one in trial.at_end for word in ("--at-end", one)]
    study = ["--study", study_name] if study_name is not None else []
    raise UserError(
        f"{path} was found with your own conditions, which are code and are not read from the file; repeat them, as in "
        + shlex.join(["causeway", "replay", str(path), *study, *conditions])
    )


def _parameters(path: Path, text: str) -> dict[str, Any]:
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict):
        raise UserError(f"{path} is damaged: its parameters are not a JSON object; record it again")
    return values
