"""The models that `causeway check` explores: `Trial` holds the settings of one, and `Trial.make` builds it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple

from causeway.errors import UserError, unknown
from causeway.explore import properties
from causeway.explore.checks import Checks
from causeway.explore.mobile_model import MobileModel
from causeway.explore.model import LATE_CLOCKS, Budget, Model
from causeway.explore.properties import Rules
from causeway.network.networks import MobileNetwork
from causeway.pycontrol.node import PerNode
from causeway.pycontrol.shared import watching_contents
from causeway.pycontrol.watchdog import TookTooLong, calls_handlers
from causeway.studies import registry
from causeway.studies.parameters import make_params, parse_settings
from causeway.studies.study import Study

SEED = 1
SIZES = (2, 3, 4)
"""The numbers of nodes (or of hosts, in a model with stations) to try if the user sets none and the study has more."""


@dataclass(frozen=True)
class Trial:
    """The settings of a model: study, parameters, faults and properties. `as_json` returns them as JSON."""

    study_name: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    properties: tuple[str, ...] = ()
    budget: Mapping[str, Any] = field(default_factory=dict)
    """Changes to the study's own limits on losses, crashes and other optional events."""
    always: tuple[str, ...] = ()
    """Python conditions on `nodes` (and `model`, formerly `world`) that must hold in every state."""
    at_end: tuple[str, ...] = ()
    """Python conditions that must hold when no event is left."""
    bounds: Mapping[str, int] = field(default_factory=dict)
    """Maps an attribute of nodes to the maximum number of things in it."""
    clocks: str = ""
    """The order of timers, if it differs from the study's; see `Model.clocks`."""
    calls: tuple[str, ...] = ()
    """The application's calls that may happen; if empty, all calls of the study."""
    every: bool = False
    """True for an exhaustive search. A study may have other settings for it."""
    contents: bool = False
    """True if a change of contents after they were sent is a violation, too. Some counterexamples have no other
    violation."""

    def __post_init__(self) -> None:
        known = (*properties.ON_DELIVERY, *properties.QUIESCENT)
        for name in self.properties:
            if name not in known:
                raise unknown("property", name, known)

    @property
    def study(self) -> Study:
        """The study of the protocol."""
        return registry.get(self.study_name)

    @property
    def checks(self) -> Checks:
        """The study's own settings for checks."""
        found = self.study.checks(make_params(self.study, self.settings))
        return found.every if self.every and found.every is not None else found

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the predefined properties that are checked."""
        checks = self.checks
        if self.properties or checks.properties:
            return self.properties or checks.properties
        return () if checks.always or checks.at_end else properties.USUAL

    def full_budget(self) -> Budget:
        """Return upper bounds on losses, crashes and other optional events."""
        return replace(self.checks.budget or Budget(), **self.budget)

    @property
    def size(self) -> Size | None:
        """The parameter that sets the number of nodes; None if there is none or the study fixes the number."""
        checks = self.checks
        if checks.nodes or checks.model is not None or checks.protocol is not None:
            return None
        return size_of(self.study, self.settings)

    def sizes(self) -> list[Trial]:
        """Return trials with a few nodes if the study has many by default; else only this trial."""
        size = self.size
        if size is None or size.name in self.settings or size.value <= SIZES[-1]:
            return [self]
        return [smaller for value in SIZES if (smaller := self.sized(size.name, value)) is not None] or [self]

    def smaller(self) -> list[Trial]:
        """Return trials with fewer nodes, the smallest first."""
        size = self.size
        if size is None:
            return []
        values = range(SIZES[0], min(size.value, SIZES[-1] + 1))
        return [one for value in values if (one := self.sized(size.name, value)) is not None]

    def sized(self, name: str, value: int) -> Trial | None:
        """Return the trial with another number of nodes; None if the study does not allow it."""
        changed = replace(self, settings={**self.settings, name: value})
        try:
            changed.make()
        except UserError:
            return None
        return changed

    def rules(self) -> Rules:
        """Return the properties that must hold, except those that are checked on delivery."""
        checks, names = self.checks, self.names
        quiescent = [properties.QUIESCENT[name] for name in names if name in properties.QUIESCENT]
        quiescent += [*checks.at_end.values(), *map(condition, self.at_end)]
        always = [*checks.always.values(), *map(condition, self.always)]
        always += [properties.bounded(name, most) for name, most in self.bounds.items()]
        ordered = bool(properties.BY_ORDER & set(names) or checks.at_end or self.at_end)
        return Rules(tuple(quiescent), tuple(always), ordered)

    def words(self) -> str:
        """Return the names of all properties that must hold, separated by commas."""
        checks = self.checks
        bounds = [f"at most {most} in {name}" for name, most in self.bounds.items()]
        return ", ".join([*self.names, *checks.always, *checks.at_end, *self.always, *self.at_end, *bounds])

    def make(self) -> Model:
        """Return a fresh model."""
        with watching_contents() if self.contents else nullcontext():
            return self._made()

    def _made(self) -> Model:
        study, checks = self.study, self.checks
        params = make_params(study, self.settings)
        protocol = checks.protocol() if checks.protocol else study.protocol(params)
        if not isinstance(protocol, PerNode):
            raise UserError(
                f"study {study.name} has a vectorized protocol with these parameters; `check` needs a protocol of "
                f"nodes (PerNode): select a reference implementation in `Study.checks`"
            )
        if checks.model is not None:
            model = checks.model(protocol, self.full_budget())
        else:
            network = study.network(params, SEED)
            workload = network.workload
            nodes = checks.nodes or network.nodes
            senders = tuple(range(workload.first_node, min(nodes, workload.first_node + workload.nodes)))
            stations = len(network.station_xy_mm) if isinstance(network, MobileNetwork) else 0
            if stations > 1:
                model = MobileModel(protocol, nodes, self.full_budget(), SEED, stations=stations)
            else:
                model = Model(protocol, nodes, self.full_budget(), SEED, senders)
        model.watched = tuple(properties.ON_DELIVERY[name] for name in self.names if name in properties.ON_DELIVERY)
        for name in self.calls:
            if name not in checks.calls:
                raise unknown("call", name, checks.calls)
        model.calls = {name: call for name, call in checks.calls.items() if name in self.calls or not self.calls}
        model.clocks = self.clocks or checks.clocks
        return model

    def check_effect(self) -> None:
        """Refuse settings of the budget that have no effect, so that a search tries everything that was requested."""
        budget, model = self.full_budget(), self.make()
        with closing(model):
            clocks, without = model.clocks, []
            if self.budget.get("early") and clocks != LATE_CLOCKS:
                without.append("--early needs --late, which delays timers")
            if "recover" in self.budget and not budget.crashes:
                without.append("--recover and --no-recover need --crashes: no node fails")
            if self.budget.get("moves") and self.checks.model is None and not isinstance(model, MobileModel):
                without.append("--moves needs a network with two stations or more: no host changes cells")
            if self.budget.get("calls") and not model.calls:
                without.append("--calls needs calls of the study (Checks.calls): its application only broadcasts")
        if without:
            raise UserError(f"study {self.study.name}: {without[0]}; remove the option")

    def as_json(self) -> dict[str, Any]:
        """Return the settings as a mapping to write as JSON."""
        return asdict(self)


class Size(NamedTuple):
    """The parameter that sets the number of nodes, and its value."""

    name: str
    value: int


def size_of(study: Study, settings: Mapping[str, Any]) -> Size | None:
    """Return the parameter that sets the number of nodes, if one less removes one node; None if there is none."""

    def nodes_with(changed: Mapping[str, Any]) -> int:
        try:
            return study.network(make_params(study, changed), SEED).nodes
        except UserError:
            return 0

    params = make_params(study, settings)
    nodes = nodes_with(settings)
    for name in type(params).model_fields:
        value = getattr(params, name)
        if type(value) is int and nodes_with({**settings, name: value - 1}) == nodes - 1 > 0:
            return Size(name, value)
    return None


def parse_bounds(texts: Sequence[str]) -> dict[str, int]:
    """Parse bounds: ['held=3'] becomes {'held': 3}. Raise UserError if a value is not a whole number."""
    found = {}
    for text in texts:
        if "=" not in text:
            raise UserError(f"'{text}' is not a bound; write --bound NAME=N, where N is a whole number")
    for name, text in parse_settings(texts).items():
        if not text.isdigit():
            raise UserError(f"'{name}={text}' is not a bound; write --bound NAME=N, where N is a whole number")
        found[name] = int(text)
    return found


def condition(text: str) -> Any:
    """Return a rule that evaluates a Python condition on `nodes` and `model` from the user's command line.

    Raises:
        UserError: The condition is not a Python expression. The rule also raises it if the evaluation fails.
    """
    try:
        code = compile(text, "<condition>", "eval")
    except SyntaxError as error:
        raise UserError(f"'{text}' is not a Python condition: {error.msg}") from None

    @calls_handlers
    def rule(model: Any) -> str | None:
        try:
            holds = eval(code, {"nodes": model.nodes, "model": model, "world": model})
        except TookTooLong as error:
            raise UserError(f"'{text}' {error}") from None
        except Exception as error:
            raise UserError(f"'{text}' cannot be evaluated: {type(error).__name__}: {error}") from None
        return None if holds else f"condition: {text}"

    return rule
