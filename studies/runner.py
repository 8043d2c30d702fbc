"""One run of a study, from parameters to result tables.

Start here: `Job`, a run whose study is loaded, whose parameters are checked and whose id is computed, once. `run_job`
executes a job and returns its tables.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from causeway.bridge import engines
from causeway.bridge.engine import Engine, RunSpec, result_name
from causeway.bridge.events import Kind
from causeway.errors import UserError, unknown
from causeway.network.networks import AbstractNetwork, InetNetwork, MobileNetwork, Network
from causeway.pycontrol import debugging
from causeway.pycontrol.loop import Outcome, Progress, Steps, passive_mask, run_protocol, windows
from causeway.pycontrol.observing import validated_observers
from causeway.pycontrol.protocol import Protocol
from causeway.pycontrol.protocol_calls import validated_scalars
from causeway.studies import registry
from causeway.studies.contained import contained
from causeway.studies.external_project import ExternalProject, field_of
from causeway.studies.fingerprint import compare_fingerprint
from causeway.studies.identity import Identity, causeway_code
from causeway.studies.limits import check_seed, check_spec
from causeway.studies.module_values import ModuleValues
from causeway.studies.own_results import add_results
from causeway.studies.parameters import make_params, point_of
from causeway.studies.project import network_code, project_code
from causeway.studies.registry import Resolved
from causeway.studies.run_warnings import as_rows, early_events, late_events, short_times
from causeway.studies.study import Params, Study
from causeway.toolchain.installation import commit, version
from causeway.toolchain.user_file import enter_folder_of

PLACES_EVERY_PS = "places_every_ps"
"""The option of a job with the interval at which positions of all nodes are recorded for an animation."""


class Job:
    """One run, ready to execute: study, checked parameters, seed, engine and the id under which it is stored.

    A pickled job contains only names, so a study's file must be readable where the job is unpickled, but need not be
    importable. Each worker resolves the names again, and executes a study's file once. If a study is an object of this
    process (`studies/study_objects.py`), the object is pickled with the job.
    """

    def __init__(
        self, source: str | Resolved, parameters: Mapping[str, Any], seed: int, engine: str, cap: int = 0,
        record_to: str = "", external: ExternalProject | None = None, options: Mapping[str, Any] | None = None,
    ) -> None:  # fmt: skip
        self.source = source
        """A name in the registry, the path of a file that defines a study, or the study itself."""
        resolved = registry.resolve(source) if isinstance(source, str) else source
        self.name = source if isinstance(source, str) else source.study.name
        """The name of the study in messages and recordings."""
        self.study: Study = resolved.study
        self.study_code = resolved.code
        """The files of the study's own code, and their digest."""
        self.params: Params = make_params(self.study, parameters)
        self.parameters: dict[str, Any] = self.params.model_dump(mode="json")
        self.external = external
        """A user's own INET project, whose network replaces the study's."""
        self.options = dict(options or {})
        """Options of the engine, in addition to the study's."""
        self.point = point_of(self.study, self.params, external.reported if external else {})
        self.seed, self.engine, self.cap, self.record_to = check_seed(seed), engine, cap, record_to
        self._planned: Identity | None = None
        """The identity of the code in the process that planned the run; None if that is this process."""

    @cached_property
    def identity(self) -> Identity:
        """The digests of all code that determines the run's results, computed on this machine."""
        project = ""
        if self.external is not None:
            project = self.external.code
        elif self.engine == "omnet":
            project = self._own_project()
        return Identity(self.study_code.digest, causeway_code(self.study_code.own, self.engine), project)

    def _own_project(self) -> str:
        """Return the digest of the OMNeT++ project of the study's own network; "" if it has none."""
        options = self.study.options(self.params, self.engine)
        network = self.study.network(self.params, self.seed)
        if "ini" in options:
            return project_code(Path(options["ini"]), options.get("ned_path", ()), options.get("libs", ()))
        return network_code(Path(network.ini), network) if isinstance(network, InetNetwork) else ""

    @property
    def run_id(self) -> str:
        """The id under which the run is stored. It depends on the code, so a change of code makes a new run."""
        code = (self._planned or self.identity).code
        return f"{self.study.name}-{self.point}-{code}-{self.engine}-{self.seed}"

    def check_code(self) -> None:
        """Raise UserError if the code has changed since the run was planned."""
        if self._planned is None or self._planned == self.identity:
            return
        if self._planned.causeway != self.identity.causeway:
            raise UserError(
                "this process has other code of Causeway (or another simulator) than the process that planned the "
                "run; install the same version on all machines, or repeat the command if the code was just edited"
            )
        raise UserError(f"the files of {self.name} have changed since the run was planned; repeat the command")

    def but(
        self, seed: int | None = None, engine: str | None = None, record_to: str | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> Job:  # fmt: skip
        """Return a copy with another seed, engine, recording or options, without resolving the study again."""
        other = object.__new__(Job)
        other.__dict__.update(self.__dict__)
        other.seed = self.seed if seed is None else check_seed(seed)
        other.engine = self.engine if engine is None else engine
        other.record_to = self.record_to if record_to is None else record_to
        other.options = self.options if options is None else dict(options)
        if other.engine != self.engine:
            other.__dict__.pop("identity", None)
        return other

    def network(self) -> Network:
        """Return the network of the run: the study's, or that of the user's INET project.

        Raises:
            UserError: Positions are to be recorded, and the network has none.
        """
        with self.study_code.watched():
            own = self.study.network(self.params, self.seed)
        network = self.external.instead_of(own) if self.external else own
        every_ps = self.options.get(PLACES_EVERY_PS, 0)
        if not every_ps:
            return network
        if isinstance(network, AbstractNetwork) and not network.node_xy_mm:
            raise UserError(
                f"study {self.study.name} has an abstract network, whose nodes have no positions; set its node_xy_mm, "
                "or omit --animate"
            )
        return replace(network, places_every_ps=every_ps)

    def __reduce__(self) -> tuple[Any, ...]:
        arguments = (self.source, self.parameters, self.seed, self.engine, self.cap, self.record_to)
        return Job, (*arguments, self.external, self.options), {"_planned": self._planned or self.identity}


@dataclass(frozen=True)
class RunResult:
    """The results of a run: its outcome, and its rows of the result tables."""

    job: Job
    outcome: Outcome
    scalars: dict[str, float]
    tables: dict[str, dict[str, Any]]
    protocol: Protocol
    """The protocol at the end of the run."""
    warnings: Sequence[str] = ()


def engines_of(study: Study, network: Network) -> list[str]:
    """Return the engines that can run a study on this network, in order of preference, installed or not."""
    names = study.engines or tuple(engines.ENGINES)
    return [name for name in names if engines.builds(engines.get(name), network)]


def _check_radio(study: Study, network: Network) -> None:
    """Refuse a radio that no engine supports."""
    known = {radio for name in engines.ENGINES for radio in getattr(engines.get(name), "radios", ())}
    if isinstance(network, MobileNetwork) and known and network.radio not in known:
        raise unknown(f"radio of study {study.name}", network.radio, known)


def choose_engine(study: Study, name: str | None, network: Network) -> str:
    """Return the name of the engine to run a study on.

    Args:
        study: The study.
        name: The engine that the user chose; None: the first possible one that is installed.
        network: The network of the run.

    Raises:
        UserError: The engine is unknown, cannot run the study or is not installed; or no engine is.
    """
    possible = engines_of(study, network)
    if not possible:
        _check_radio(study, network)
    if name is not None:
        if name not in engines.ENGINES:
            raise unknown("engine", name, engines.ENGINES)
        if name not in possible:
            raise UserError(f"study {study.name} does not run on engine {name}; it runs on {', '.join(possible)}")
        if why := engines.get(name).missing(network):
            raise UserError(f"engine {name} cannot run here: {why}")
        return name
    if not possible:
        raise UserError(f"study {study.name}: no engine builds its network ({type(network).__name__})")
    reasons = []
    for candidate in possible:
        engine = engines.get(candidate)
        why = engine.missing(network)
        if why is None:
            return candidate
        if (refused := getattr(engine, "refused_choice", None)) and refused(network):
            raise UserError(f"engine {candidate} cannot run here: {why}; or choose another engine")
        reasons.append(f"{candidate}: {why}")
    raise UserError(f"no engine for study {study.name} here ({'; '.join(reasons)})")


def make_spec(job: Job, passive_kinds: int) -> RunSpec:
    """Return the specification of the run for the engine, and check that its numbers are within bounds."""
    study, params = job.study, job.params
    options = {name: value for name, value in job.options.items() if name != PLACES_EVERY_PS}
    spec = RunSpec(
        study=job.name,
        parameters=job.parameters,
        seed=job.seed,
        network=job.network(),
        reaction_ps=study.reaction_ps(params),
        duration_ps=study.duration_ps(params),
        cap=job.cap,
        passive_kinds=passive_kinds | 1 << int(Kind.PLACE),
        record_to=Path(job.record_to) if job.record_to else None,
        pauses=debugging.is_on(),
        options={**({} if job.external else study.options(params, job.engine)), **options},
    )
    if isinstance(spec.network, InetNetwork) and not spec.network.nodes:
        from causeway.bridge.engines.omnet_query import count_nodes

        spec = replace(spec, network=replace(spec.network, nodes=count_nodes(spec)))
    check_spec(spec)
    return spec


class StartedRun:
    """A run that has begun: the arguments of `run_protocol`, and the conversion of its outcome into results."""

    def __init__(self, job: Job) -> None:
        job.check_code()
        enter_folder_of(type(job.study))
        self.job = job
        self._started_at = datetime.now(UTC)
        self.protocol = job.study.protocol(job.params)
        if not isinstance(self.protocol, Protocol):
            returned = type(self.protocol).__name__
            raise UserError(f"study {job.study.name}: protocol() returned {returned}; allowed: a Protocol")
        self.spec = make_spec(job, passive_mask(self.protocol))
        found = job.study.observers(job.params, self.spec.network.nodes)
        self.observers = validated_observers(found, f"observers of study {job.study.name}")

    def run(self, steps: Steps) -> Generator[None, None, Outcome]:
        """Return the run as a generator that pauses at the points of `steps`."""
        self.spec = replace(self.spec, pauses=True)
        return windows(engines.get(self.job.engine), self.spec, self.protocol, self.observers, None, steps)

    def result(self, outcome: Outcome, warnings: Sequence[str] = ()) -> RunResult:
        """Return the results of the run, with these warnings and those that its outcome implies."""
        job, study, spec = self.job, self.job.study, self.spec
        found = {**{n: v for (m, n), v in outcome.engine_scalars.items()}, **outcome.scalars}
        scalars = validated_scalars(f"study {study.name}: {type(study).__name__}", study.scalars(job.params, found))
        job.study_code.check_read(study.name)
        if folder := spec.options.get("fingerprint"):
            compare_fingerprint(Path(folder), job.run_id, outcome.engine_scalars)
        tables = _tables(job, outcome, scalars, self._started_at)
        if warnings := [*warnings, *self.protocol.warnings(), *_warnings(job, spec, outcome)]:
            tables["attributes"] = as_rows(warnings)
        if "results" in spec.options:
            add_results(tables, Path(spec.options["results"]), result_name(spec))
        return RunResult(job, outcome, scalars, tables, self.protocol, warnings)


def _warnings(job: Job, spec: RunSpec, outcome: Outcome) -> list[str]:
    doubts = [*short_times(spec.reaction_ps, spec.duration_ps), *early_events(spec.network)]
    doubts += late_events(spec.network, spec.duration_ps)
    doubts += job.external.doubts if job.external else []
    if not outcome.finish.unused:
        return doubts
    from causeway.bridge.engines.omnet_ini import unused_lines

    variables = job.external.variables if job.external else ()
    carried = {name for name in variables if field_of(name, job.study.Params.model_fields)}
    return doubts + unused_lines(spec.network, spec.options, outcome.finish.unused, carried)


def run_job(job: Job, report: Callable[[Progress], None] | None = None, engine: Engine | None = None) -> RunResult:
    """Run one job in this process and return its results.

    Args:
        job: The run.
        report: Called with the progress of the run from time to time.
        engine: An engine to use instead of the job's own, such as a recording.

    Raises:
        UserError: The study, its parameters or the engine do not allow the run.
        RunError: The run failed.
    """
    with contained(job.study.name), job.study_code.watched():
        values = ModuleValues(job.study_code.files, is_object=not isinstance(job.source, str))
        begun = StartedRun(job)
        chosen = engine or engines.get(job.engine)
        outcome = run_protocol(chosen, begun.spec, begun.protocol, begun.observers, report)
        return begun.result(outcome, values.changes())


def _tables(job: Job, outcome: Outcome, scalars: dict[str, float], started_at: datetime) -> dict[str, dict[str, Any]]:
    """Return the run as rows of the result tables (analysis/schema.py)."""
    project_values = job.external.reported if job.external else {}
    values = {**job.parameters, **project_values}
    own = [("run", name, float(value)) for name, value in scalars.items()]
    engine = [(module, name, float(value)) for (module, name), value in outcome.engine_scalars.items() if module]
    modules, names, numbers = (list(c) for c in zip(*own, *engine, strict=True)) if own or engine else ([], [], [])
    vectors: dict[str, list[Any]] = {"vector_id": [], "module": [], "name": []}
    samples: dict[str, list[Any]] = {"vector_id": [], "time_raw": [], "value": []}
    for id_, ((module, name), (times, points)) in enumerate(sorted(outcome.samples.items())):
        for column, value in zip(vectors, (id_, module, name), strict=True):
            vectors[column].append(value)
        samples["vector_id"] += [id_] * len(times)
        samples["time_raw"] += times
        samples["value"] += points
    nodes = outcome.finish.nodes
    return {
        "runs": {
            "run_id": [job.run_id], "study": [job.study.name], "point": [job.point],
            "code": [job.identity.code], "study_code": [job.identity.study],
            "causeway_code": [job.identity.causeway], "project_code": [job.identity.project],
            "engine": [job.engine], "engine_version": [outcome.engine_version],
            "causeway_version": [version()], "commit": [commit()], "seed": [job.seed],
            "digest": [outcome.digest], "started_at": [started_at.isoformat(timespec="milliseconds")],
            "wall_s": [outcome.wall_s], "events": [outcome.events],
        },
        "parameters": {
            "name": list(values), "value": [_text(v) for v in values.values()],
            "number": [_number(name, value, project_values) for name, value in values.items()],
        },
        **({"nodes": {"node": list(nodes), "module": list(nodes.values())}} if nodes else {}),
        "scalars": {"module": modules, "name": names, "value": numbers},
        "vectors": vectors,
        "samples": {**samples, "time_exp": [-12] * len(samples["value"])},
    }  # fmt: skip


def _number(name: str, value: Any, project_values: Mapping[str, str]) -> float | None:
    """Return a parameter as a number; None if it is not a number. Iteration variables of an ini file are text."""
    if name in project_values:
        try:
            return float(value)
        except ValueError:
            return None
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
