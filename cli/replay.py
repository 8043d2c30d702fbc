"""`causeway replay`."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from bridge.errors import UserError
from pycontrol.loop import passive_mask, run_protocol
from studies import registry
from studies.parameters import make_params
from studies.runner import Job, make_spec


def replay_file(path: Path, console: Console) -> None:
    """Runs the recorded study's protocol on the recorded frames; raises RunError at the first different answer."""
    from bridge.engines.replay import ReplayEngine

    if not path.is_file():
        raise UserError(f"no recording at {path}; `causeway run STUDY --record` makes one")
    engine = ReplayEngine(path)
    setup = engine.setup
    study = registry.get(setup.study)
    params = make_params(study, setup.parameters)
    protocol = study.protocol(params)
    job = Job(study.name, dict(setup.parameters), setup.seed, "replay")
    spec = make_spec(study, params, job, passive_mask(protocol))
    outcome = run_protocol(engine, spec, protocol, study.observers(params, spec.network.nodes))
    console.print(
        f"{path}: {outcome.windows} windows, {outcome.events} events of {outcome.engine_version}: the same answers; "
        f"digest {outcome.digest}",
        highlight=False, soft_wrap=True,
    )  # fmt: skip
