"""Make jobs from the arguments of `run`, `simulation`, `sweep` and `compare`: a study, or a protocol and a network.

`Setting` has the arguments that all of them take, and `RunRequest.of` checks them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypedDict, TypeVar

import numpy as np

from causeway.errors import UserError, shown_type, unknown
from causeway.network.networks import Network
from causeway.network.units import check_time
from causeway.network.workload import Script, Workload
from causeway.pycontrol.loop import Progress
from causeway.pycontrol.node import Node
from causeway.pycontrol.protocol import Protocol
from causeway.studies.campaign import plan_seeds
from causeway.studies.protocol_study import (
    MakeNetwork,
    MakeObservers,
    ProtocolStudy,
    RunParts,
    plain,
    protocol_study,
)
from causeway.studies.registry import Resolved, resolve
from causeway.studies.runner import Job, choose_engine
from causeway.studies.study import MS_PS, S_PS, Study
from causeway.studies.study_objects import of_study

AnyStudy = str | Path | Study | type[Study]
"""A study: its name, its file, its class or an instance."""
AnyProtocol = type[Node] | Callable[[int], Node] | type[Protocol] | Callable[[], Protocol]
"""A protocol: a class of nodes, a function from id to node, or a function that makes a Protocol."""
DAY_PS = 86_400 * S_PS
F = TypeVar("F", bound=Callable[..., Any])


class Setting(TypedDict, total=False):
    """The arguments that `run`, `simulation`, `sweep` and `compare` share. The default of each is None."""

    broadcasts: Workload | Script | None
    """The workload, such as `poisson(50)`; None: the workload of the network, which has none by default."""
    until: int | None
    """The time at which the run ends (`seconds(10)`); None: when no event is left."""
    reaction: int | None
    """The time that a node takes to react to an event, 1 ms by default."""
    observers: MakeObservers | None
    """A function from the number of nodes to the observers of a run; by default the causality checker."""
    engine: str | None
    """"inline", "omnet" or "ns3"; None: the first one that builds the network and is installed."""


def takes_setting(function: F) -> F:
    """Show the arguments of `Setting` one by one in the signature of a function that has them as `**setting`."""
    signature = inspect.signature(function)
    own = [one for one in signature.parameters.values() if one.kind is not one.VAR_KEYWORD]
    shared = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
        for name, annotation in inspect.get_annotations(Setting).items()
    ]
    function.__signature__ = signature.replace(parameters=[*own, *shared])  # type: ignore[attr-defined]
    return function


@dataclass(frozen=True)
class RunRequest:
    """The arguments that describe a run, except the seed."""

    protocol: AnyStudy | AnyProtocol
    network: Network | MakeNetwork | None = None
    broadcasts: Workload | Script | None = None
    until: int | None = None
    reaction: int | None = None
    observers: MakeObservers | None = None
    engine: str | None = None

    @classmethod
    def of(
        cls, protocol: AnyStudy | AnyProtocol, network: Network | MakeNetwork | None, setting: Mapping[str, Any]
    ) -> Self:
        """Return the request of a protocol, a network and a `Setting`.

        Raises:
            UserError: There is no argument with this name.
        """
        known = Setting.__annotations__
        for name in setting:
            if name not in known:
                raise unknown("argument", name, known)
        engine = setting.get("engine")
        if engine is not None and not isinstance(engine, str):
            raise UserError(f"engine is {engine!r}; allowed: 'inline', 'omnet' or 'ns3'")
        return cls(protocol, network, **setting)

    def jobs(self, points: Sequence[Mapping[str, Any]], seeds: Iterable[int]) -> list[Job]:
        """Return a job for each point and seed, on one engine.

        Args:
            points: The parameters of each point.
            seeds: The seeds.
        """
        chosen = chosen_seeds(seeds)
        points = [{name: plain(name, value) for name, value in point.items()} for point in points]
        names = dict.fromkeys(name for point in points for name in point)
        source = self.source(names)
        if isinstance(source, Resolved) and isinstance(source.study, ProtocolStudy):
            _check_complete(points, names)
        jobs = plan_seeds(source, self.engine or "", points, chosen)
        if len(jobs) < len(points) * len(chosen):
            raise _equal_points(points, jobs, len(chosen))
        found = choose_engine(jobs[0].study, self.engine, jobs[0].network())
        return [job.but(engine=found) for job in jobs]

    def source(self, parameters: Iterable[str]) -> str | Resolved:
        """Return the study, by its name or with its code."""
        protocol = self.protocol
        if isinstance(protocol, str | Path | Study) or (isinstance(protocol, type) and issubclass(protocol, Study)):
            self._check_study()
            if isinstance(protocol, str | Path):
                return resolve(str(protocol))
            return of_study(protocol() if isinstance(protocol, type) else protocol)
        if self.network is None:
            raise UserError(
                f"{getattr(protocol, '__name__', 'the protocol')} needs a network, as in "
                "causeway.run(MyNode, causeway.AbstractNetwork(20)); a study has its own"
            )
        reaction_ps = MS_PS if self.reaction is None else _time("reaction", self.reaction)
        until_ps = 0 if self.until is None else _time("until", self.until)
        parts = RunParts(protocol, self.network, self.broadcasts, until_ps, reaction_ps, self.observers)
        return protocol_study(parts, dict.fromkeys(parameters))

    def _check_study(self) -> None:
        for name in ("network", "broadcasts", "until", "reaction", "observers"):
            if getattr(self, name) is not None:
                raise UserError(
                    f"{name} cannot be combined with a study, which has its own; set its parameters with params=..."
                )


def point_from(params: Any) -> dict[str, Any]:
    """Return the parameters of a single point."""
    if params is not None and not isinstance(params, Mapping):
        raise UserError(f"params is {shown_type(params)}; allowed: a dict, as in params={{'loss': 0.1}}")
    return dict(params or {})


def _equal_points(points: Sequence[Mapping[str, Any]], jobs: Sequence[Job], seeds: int) -> UserError:
    """Return the error for points that are one point to the study."""
    twice = next((point for number, point in enumerate(points) if point in points[:number]), None)
    shown = "" if twice is None else f", such as {', '.join(f'{name}={value!r}' for name, value in twice.items())}"
    return UserError(
        f"{len(points)} points of the sweep are only {len(jobs) // seeds} different ones{shown}; give each point once "
        "(more seeds repeat a point: seeds=range(10))"
    )


def _check_complete(points: Sequence[Mapping[str, Any]], names: Iterable[str]) -> None:
    """Refuse points with different parameters, except points of a study, whose parameters have defaults."""
    for number, point in enumerate(points):
        if missing := [name for name in names if name not in point]:
            remedy = "give every point the same parameters"
            raise UserError(f"point {number} of the sweep has no {missing[0]}, but other points have it; {remedy}")


def _time(name: str, value: Any) -> int:
    """Return a time; raise UserError unless it is a positive whole number of picoseconds."""
    if isinstance(value, np.integer):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or value <= 0:
        shown = f"{value!r}" if isinstance(value, int | float) else shown_type(value)
        raise UserError(f"{name} is {shown}; allowed: a time above 0, as in {name}=causeway.seconds(10)")
    check_time(name, value)
    return value


def chosen_seeds(seeds: Any) -> list[int]:
    """Return the seeds of a request as a list. A single seed may be given as a number."""
    chosen = list(seeds) if isinstance(seeds, Iterable) else [seeds]
    if not chosen:
        raise UserError("seeds is empty; give at least one, as in seeds=range(10)")
    for seed in chosen:
        if isinstance(seed, bool) or not isinstance(seed, int | np.integer):
            raise UserError(f"a seed is {seed!r}; allowed: whole numbers, as in seeds=range(10)")
    whole = [int(seed) for seed in chosen]
    if twice := [seed for number, seed in enumerate(whole) if seed in whole[:number]]:
        raise UserError(f"seed {twice[0]} is given twice, but its runs are equal; give each seed once")
    return whole


def endless(job: Job) -> Callable[[Progress], None] | None:
    """Return a check that ends a run after a day of simulated time; None for a run that has its own end."""
    study = job.study
    if not isinstance(study, ProtocolStudy) or study.parts.until_ps:
        return None

    def check(progress: Progress) -> None:
        if progress.now_ps > DAY_PS:
            raise UserError(
                f"{study.name} has run for a day of simulated time and does not end: timers are set again and again, "
                f"or packets wait for a slow link or CPU; add until=causeway.seconds(60)"
            )

    return check
