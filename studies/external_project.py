"""Run a study in a user's own INET project, whose ini file defines the network and the runs.

`causeway run STUDY --ini my.ini --config C`: the study keeps its protocol, load and parameters; the project's network
replaces its own. An iteration variable of the configuration sets the parameter of the study that has the same name.
All iteration variables are stored with the run. Start with `plan_external`.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from causeway.errors import UserError
from causeway.network.networks import AbstractNetwork, InetNetwork, Network
from causeway.studies.parameters import make_params
from causeway.studies.project import network_code
from causeway.studies.study import Study
from causeway.toolchain.model_projects import find_models

CLOSE = 0.8
"""The similarity of a variable to a parameter from which it may be misspelt: `node` and `nodes` have 0.89."""


@dataclass(frozen=True)
class ExternalProject:
    """One run of a configuration in a user's INET project."""

    ini: str
    config: str
    hosts: str = ""
    """Patterns of the hosts that are nodes; "" if the ini file selects them."""
    models: tuple[str, ...] = ()
    """Projects of models (`InetNetwork.models`)."""
    run: int = 0
    """OMNeT++'s number of the run."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """The run's iteration variables."""
    code: str = ""
    """The digest of the project: see `studies/project.py`."""
    doubts: tuple[str, ...] = ()
    """Warnings about iteration variables."""

    def instead_of(self, own: Network) -> InetNetwork:
        """Return the project's network, with the nodes, load, faults, stays and vehicles of the study's network."""
        named = self.hosts or (own.hosts if isinstance(own, InetNetwork) else "")
        ned_path, libs, models = (own.ned_path, own.libs, own.models) if isinstance(own, InetNetwork) else ((), (), ())
        vehicles = own.vehicles if isinstance(own, InetNetwork) else getattr(own, "vehicle_nodes", ())
        return InetNetwork(
            own.nodes, ini=self.ini, config=self.config, run=self.run, hosts=named, ned_path=ned_path, libs=libs,
            models=(*models, *self.models), faults=own.faults, stays=own.stays,
            movement=None if isinstance(own, AbstractNetwork) else own.movement, vehicles=vehicles,
            workload=replace(own.workload),  # the number of broadcasting nodes stays the study's
        )  # fmt: skip

    @property
    def reported(self) -> dict[str, str]:
        """Values that are stored with the parameters of the run."""
        hosts = {"host_pattern": self.hosts} if self.hosts else {}
        models = {"with": " ".join(self.models)} if self.models else {}
        return {"ini": Path(self.ini).name, "config": self.config, **hosts, **models, **self.variables}


@dataclass(frozen=True)
class Planned:
    """A run of the configuration, with the parameters and the seed that it gives the study."""

    external: ExternalProject
    settings: dict[str, Any]
    seed: int | None
    """None if the configuration has a single run, whose seeds are chosen as for any study."""


def plan_external(
    study: Study, ini: str, config: str, hosts: str, given: Mapping[str, Any], models: tuple[str, ...] = ()
) -> list[Planned]:
    """Return every run of a configuration.

    Args:
        study: The study.
        ini: Path of the project's ini file.
        config: Name of the configuration.
        hosts: Patterns of the hosts that are nodes; "" if the ini file selects them.
        given: Parameters that the user sets for all runs.
        models: Projects of models, in addition to those of the study's own network.

    Raises:
        UserError: A parameter is set and iterated over, or two runs have the same seed-set and variables.
    """
    from causeway.bridge.engines.omnet_query import runs_of

    find_models(models)  # refuses them before anything is compiled
    runs = runs_of(Path(ini), config)
    fields = study.Params.model_fields
    if twice := sorted({field_of(name, fields) for name in runs[0].variables} & set(given)):
        raise UserError(
            f"{twice[0]} is set here and is also an iteration variable of configuration {config} of {ini}; remove one"
        )
    settings = [_settings(run.variables, fields, given) for run in runs]
    own = study.network(make_params(study, settings[0]), runs[0].seed)
    code = network_code(Path(ini), own, models)
    planned = []
    for run, set_ in zip(runs, settings, strict=True):
        external = ExternalProject(
            str(Path(ini).resolve()), config, hosts, models, run.number, dict(run.variables), code,
            doubts(run.variables, fields, given),
        )  # fmt: skip
        planned.append(Planned(external, set_, run.seed if len(runs) > 1 else None))
    _check_distinct(planned, ini, config)
    return planned


def _settings(variables: Mapping[str, str], fields: Iterable[str], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that the user and the iteration variables set."""
    return {**given, **{field: value for name, value in variables.items() if (field := field_of(name, fields))}}


def field_of(variable: str, fields: Iterable[str]) -> str:
    """Return the parameter that an iteration variable sets, or "".

    Before OMNeT++ 6.2, the name of a variable cannot contain underscores.
    """
    return variable if variable in fields else next((one for one in fields if one.replace("_", "") == variable), "")


def doubts(variables: Mapping[str, str], fields: Iterable[str], given: Iterable[str]) -> tuple[str, ...]:
    """Return warnings about variables that set nothing, and are nearly the names of parameters that nothing sets."""
    fields = list(fields)
    set_by_others = {*given, *(field_of(name, fields) for name in variables)}
    free = {name.replace("_", "").lower(): name for name in fields if name not in set_by_others}
    found = []
    for name in variables:
        if not field_of(name, fields) and (near := difflib.get_close_matches(name.lower(), free, 1, CLOSE)):
            found.append(f"iteration variable {name} sets no parameter of the study; did you mean {free[near[0]]}?")
    return tuple(found)


def _check_distinct(planned: Sequence[Planned], ini: str, config: str) -> None:
    seen: dict[str, int] = {}
    for plan in planned:
        key = repr((sorted(plan.external.variables.items()), plan.seed))
        if key in seen:
            raise UserError(
                f"runs {seen[key]} and {plan.external.run} of configuration {config} of {ini} have the same seed-set "
                f"and variables, so they would be the same run; write seed-set = ${{repetition}}"
            )
        seen[key] = plan.external.run
