"""One run of a study, from parameters to result tables."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from causeway.bridge import engines
from causeway.bridge.engine import RunSpec
from causeway.bridge.errors import UserError
from causeway.bridge.network import Network
from causeway.pycontrol.loop import Outcome, Progress, passive_mask, run_protocol
from causeway.studies import registry
from causeway.studies.parameters import make_params, point_of
from causeway.studies.study import Params, Study


@dataclass(frozen=True)
class Job:
    """One run to do: plain data, so that it can be shipped to a worker."""

    study: str
    """A name in the registry, or the path of a file that defines a study."""
    parameters: dict[str, Any]
    seed: int
    engine: str
    cap: int = 0
    record_to: str = ""

    @property
    def run_id(self) -> str:
        study = registry.get(self.study)
        return f"{study.name}-{point_of(study, make_params(study, self.parameters))}-{self.engine}-{self.seed}"


@dataclass(frozen=True)
class RunResult:
    """What a run produced: the outcome and the tables that say it."""

    job: Job
    params: Params
    outcome: Outcome
    scalars: dict[str, float]
    tables: dict[str, dict[str, Any]]


def choose_engine(study: Study, name: str | None, network: Network | None = None) -> str:
    """The engine to run a study (with such a network) on: the named one if it can, else the first that can here."""
    if name is not None:
        engine = engines.get(name)
        if name not in study.engines:
            raise UserError(f"study {study.name} does not run on engine {name}; it runs on {', '.join(study.engines)}")
        if why := engine.missing(network):
            raise UserError(f"engine {name} cannot run here: {why}")
        return name
    reasons = []
    for candidate in study.engines:
        why = engines.get(candidate).missing(network)
        if why is None:
            return candidate
        reasons.append(f"{candidate}: {why}")
    raise UserError(f"no engine for study {study.name} here ({'; '.join(reasons)})")


def make_spec(study: Study, params: Params, job: Job, passive_kinds: int) -> RunSpec:
    """What the engine is told."""
    return RunSpec(
        study=job.study,
        parameters=params.model_dump(mode="json"),
        seed=job.seed,
        network=study.network(params, job.seed),
        reaction_ps=study.reaction_ps(params),
        duration_ps=study.duration_ps(params),
        cap=job.cap,
        passive_kinds=passive_kinds,
        record_to=Path(job.record_to) if job.record_to else None,
        options=study.options(params, job.engine),
    )


def run_job(job: Job, report: Callable[[Progress], None] | None = None) -> RunResult:
    """Runs one job here and now."""
    study = registry.get(job.study)
    params = make_params(study, job.parameters)
    started_at = datetime.now(UTC)
    protocol = study.protocol(params)
    spec = make_spec(study, params, job, passive_mask(protocol))
    observers = study.observers(params, spec.network.nodes)
    outcome = run_protocol(engines.get(job.engine), spec, protocol, observers, report)
    scalars = study.scalars(params, {**{n: v for (m, n), v in outcome.engine_scalars.items()}, **outcome.scalars})
    return RunResult(job, params, outcome, scalars, _tables(job, study, params, outcome, scalars, started_at))


def _tables(job: Job, study: Study, params: Params, outcome: Outcome, scalars: dict[str, float], started_at: datetime):
    """The run as rows of the result tables (analysis/schema.py)."""
    run_id = job.run_id
    values = params.model_dump(mode="json")
    own = [("run", name, float(value)) for name, value in scalars.items()]
    theirs = [(module, name, float(value)) for (module, name), value in outcome.engine_scalars.items() if module]
    modules, names, numbers = (list(c) for c in zip(*own, *theirs, strict=True)) if own or theirs else ([], [], [])
    vectors: dict[str, list[Any]] = {"vector_id": [], "module": [], "name": []}
    samples: dict[str, list[Any]] = {"vector_id": [], "time_raw": [], "value": []}
    for id_, ((module, name), (times, points)) in enumerate(sorted(outcome.samples.items())):
        for column, value in zip(vectors, (id_, module, name), strict=True):
            vectors[column].append(value)
        samples["vector_id"] += [id_] * len(times)
        samples["time_raw"] += times
        samples["value"] += points
    return {
        "runs": {
            "run_id": [run_id], "study": [study.name], "point": [point_of(study, params)],
            "engine": [job.engine], "engine_version": [outcome.engine_version],
            "causeway_version": [causeway_version()], "commit": [commit()], "seed": [job.seed],
            "digest": [outcome.digest], "started_at": [started_at.isoformat(timespec="milliseconds")],
            "wall_s": [outcome.wall_s], "events": [outcome.events],
        },
        "parameters": {
            "name": list(values), "value": [_text(v) for v in values.values()],
            "number": [float(v) if isinstance(v, int | float) and not isinstance(v, bool) else None
                       for v in values.values()],
        },
        "scalars": {"module": modules, "name": names, "value": numbers},
        "vectors": vectors,
        "samples": {**samples, "time_exp": [-12] * len(samples["value"])},
    }  # fmt: skip


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


@cache
def causeway_version() -> str:
    """The version of this package."""
    try:
        return version("causeway")
    except PackageNotFoundError:
        return "0"


@cache
def commit() -> str:
    """The commit of the checkout this runs from ('+' if it has changes), or '' outside one."""
    here = Path(__file__).parent
    try:
        head = subprocess.run(["git", "rev-parse", "--short=12", "HEAD"], cwd=here, capture_output=True, text=True)
        dirty = subprocess.run(["git", "status", "--porcelain", "-uno"], cwd=here, capture_output=True, text=True)
    except OSError:
        return ""
    return head.stdout.strip() + ("+" if dirty.stdout.strip() else "") if head.returncode == 0 else ""
