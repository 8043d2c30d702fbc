"""Make a study of a protocol, a network and a workload that a user passes, so that the runner can execute them.

`protocol_study` makes the study. Its parameters are those that a sweep varies. `setup`, a digest of everything else,
distinguishes runs that differ in something else, such as their networks.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, ClassVar

import numpy as np
from pydantic import create_model

from causeway.errors import UserError, shown_type, unknown
from causeway.network.networks import AbstractNetwork, InetNetwork, MobileNetwork, Network
from causeway.network.workload import Script, Workload
from causeway.pycontrol.node import Node, PerNode
from causeway.pycontrol.protocol import Observer, Protocol
from causeway.studies.study import MS_PS, Params, Study
from causeway.studies.study_objects import StudyObject, code_of, content_of, study_object

NETWORKS = (AbstractNetwork, MobileNetwork, InetNetwork)
MakeNetwork = Callable[..., Network]
MakeObservers = Callable[[int], Sequence[Observer]]


@dataclass(frozen=True)
class RunParts:
    """The protocol, network and workload that a user passes instead of a study."""

    protocol: Callable[..., Any]
    """A class of nodes, a function from id to node, or a class or function without arguments that makes a protocol."""
    network: Network | MakeNetwork
    broadcasts: Workload | Script | None = None
    until_ps: int = 0
    reaction_ps: int = MS_PS
    observers: MakeObservers | None = None

    def check(self) -> None:
        """Raise UserError with a remedy if one of the parts cannot be used."""
        if not callable(self.protocol) or isinstance(self.protocol, Node | Protocol):
            name, hint = type(self.protocol).__name__, ""
            if isinstance(self.protocol, Node):
                hint = f"; pass the class, {name}"
            elif isinstance(self.protocol, Protocol):
                hint = f"; each run needs a new one, as in lambda: {name}(...)"
            given = shown_type(self.protocol)
            raise UserError(f"the protocol is {given}; allowed: a class of nodes, or a function that makes one{hint}")
        if isinstance(self.protocol, type) and not issubclass(self.protocol, Node | Protocol):
            name = self.protocol.__name__
            raise UserError(f"{name} is not a class of nodes; write class {name}(causeway.Node)")
        if not isinstance(self.network, NETWORKS) and not callable(self.network):
            allowed = "AbstractNetwork, MobileNetwork, InetNetwork, or a function that returns one"
            raise UserError(f"the network is {shown_type(self.network)}; allowed: {allowed}")
        if self.broadcasts is not None and not isinstance(self.broadcasts, Workload | Script):
            allowed = "causeway.poisson(rate), a Workload or a Script"
            raise UserError(f"broadcasts is {shown_type(self.broadcasts)}; allowed: {allowed}")
        if self.observers is not None and not callable(self.observers):
            raise UserError(
                f"observers is {shown_type(self.observers)}; allowed: a function from the number of nodes to a list, "
                "as in observers=lambda nodes: [CausalityChecker(nodes)], since each run needs new ones"
            )

    def takes(self) -> frozenset[str]:
        """Return the names of the parameters that the protocol or the network has."""
        named = _keywords(self.protocol) - {"id_"}
        if isinstance(self.network, NETWORKS):
            return named | {one.name for one in fields(self.network) if one.init}
        return named | _keywords(self.network) - {"seed"}

    def check_taken_once(self, name: str) -> None:
        """Raise UserError if the protocol and the network have a common parameter, since both would get its value."""
        made: Any = type(self.network) if isinstance(self.network, NETWORKS) else self.network
        if name in _keywords(self.protocol) and name in _keywords(made):
            raise UserError(
                f"both {_name_of(self.protocol)} and {_name_of(made)} have a parameter {name}, so one value would set "
                f"both; rename the parameter of {_name_of(self.protocol)}"
            )

    def network_of(self, params: Mapping[str, Any], seed: int) -> Network:
        """Return the network of a point: the result of the function, or the network with parameters as fields."""
        if isinstance(self.network, NETWORKS):
            named = {one.name for one in fields(self.network)} & params.keys()
            network: Network = replace(self.network, **{name: params[name] for name in named})
        else:
            keywords = _keywords(self.network)
            arguments = {name: value for name, value in {"seed": seed, **params}.items() if name in keywords}
            name = _name_of(self.network)
            if missing := [one for one in _required(self.network) if one not in arguments]:
                remedy = f"give it in params, or write a network, as in {name}(20)"
                raise UserError(f"{name} needs {', '.join(missing)}; {remedy}")
            network = self.network(**arguments)
            if not isinstance(network, NETWORKS):
                raise UserError(f"the network's function returned {shown_type(network)}; allowed: a network")
        return self._with_broadcasts(network)

    def _with_broadcasts(self, network: Network) -> Network:
        broadcasts = self.broadcasts
        if broadcasts is not None:
            if not network.workload.is_silent:
                raise UserError("the network has a workload, and broadcasts=... is another one; remove one of them")
            network = replace(
                network, workload=Workload(script=broadcasts) if isinstance(broadcasts, Script) else broadcasts
            )
        load = network.workload
        endless = load.script is None and not load.messages and load.segments and load.segments[-1].rate_per_s > 0
        if endless and not self.until_ps and not isinstance(network, InetNetwork):
            raise UserError(
                "neither the broadcasts nor the run end; add until=causeway.seconds(10), or the number of broadcasts, "
                f"as in poisson({load.segments[-1].rate_per_s:g}, messages=100)"
            )
        return network

    def protocol_of(self, params: Mapping[str, Any]) -> Protocol:
        """Return a new protocol for one run."""
        make = self.protocol
        arguments = {name: value for name, value in params.items() if name in _keywords(make)}
        if isinstance(make, type) and issubclass(make, Protocol):
            return make(**arguments)
        if isinstance(make, type) or _takes_id(make):
            return PerNode(_nodes_of(make, arguments))
        made = make(**arguments)
        if not isinstance(made, Protocol):
            raise UserError(
                f"{_name_of(make)}() returned {shown_type(made)}; allowed: a Protocol, such as PerNode(...), or, from "
                "a function of a node's id, a Node"
            )
        return made


class ProtocolStudy(Study):
    """The base of the studies that `protocol_study` makes."""

    parts: ClassVar[RunParts]

    def network(self, params: Any, seed: int) -> Network:
        """Return the given network, with the parameters."""
        return self.parts.network_of(dict(params), seed)

    def protocol(self, params: Any) -> Protocol:
        """Return the given protocol, with the parameters."""
        return self.parts.protocol_of(dict(params))

    def reaction_ps(self, params: Any) -> int:
        """Return the given reaction time."""
        return self.parts.reaction_ps

    def duration_ps(self, params: Any) -> int:
        """Return the given end of the run."""
        return self.parts.until_ps

    def observers(self, params: Any, nodes: int) -> Sequence[Observer]:
        """Return the given observers, or the causality checker if none are given."""
        return super().observers(params, nodes) if self.parts.observers is None else self.parts.observers(nodes)


def protocol_study(parts: RunParts, parameters: Collection[str] = ()) -> StudyObject:
    """Return a study of the user's parts, with the parameters that a sweep varies.

    Raises:
        UserError: One of the parts cannot be used, or none of them has a parameter of one of these names.
    """
    parts.check()
    for name in parameters:
        if name not in parts.takes():
            raise unknown(f"parameter of {_name_of(parts.protocol)} and its network", name, parts.takes())
        parts.check_taken_once(name)
    content = content_of(parts)
    arguments = (parts, tuple(parameters), content)
    made_of = [
        parts.protocol,
        *([] if isinstance(parts.network, NETWORKS) else [parts.network]),
    ]
    return study_object(_study, arguments, code_of(*made_of), content)


def _study(parts: RunParts, parameters: Iterable[str], setup: str) -> Study:
    name = _name_of(parts.protocol)
    named: dict[str, Any] = dict.fromkeys(parameters, (Any, ...))
    model: type[Params] = create_model(f"{name}Params", __base__=Params, setup=(str, setup), **named)
    title = (inspect.getdoc(parts.protocol) or "").partition("\n")[0].rstrip(".") or name
    attributes = {
        "name": name,
        "title": title,
        "Params": model,
        "parts": parts,
        "__module__": __name__,
    }
    return type(name, (ProtocolStudy,), attributes)()


def plain(name: str, value: Any) -> Any:
    """Return a value of a parameter in the form of result tables.

    Raises:
        UserError: It is not a finite number, a text or a list of these. NaN and infinity would all be stored as null.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, list | tuple):
        return [plain(name, one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        raise UserError(f"parameter {name} is {value}; allowed: finite numbers; write None or a large number instead")
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise UserError(f"parameter {name} is {shown_type(value)}; allowed: numbers, text, True, False and lists of these")


def _name_of(make: Callable[..., Any]) -> str:
    while hasattr(make, "func"):  # functools.partial
        make = make.func
    name = getattr(make, "__name__", type(make).__name__)
    return name if name.isidentifier() else "protocol"  # a lambda


def _keywords(make: Callable[..., Any]) -> frozenset[str]:
    """Return the names of the arguments that a class or function takes by keyword."""
    if isinstance(make, type) and issubclass(make, Node) and make.__init__ is Node.__init__ and not is_dataclass(make):
        return frozenset()
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return frozenset(name for name, one in _signature(make).items() if one.kind in kinds)


def _takes_id(make: Callable[..., Any]) -> bool:
    """Return whether a function needs one argument, the id of a node."""
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.POSITIONAL_ONLY)
    required = [p for p in _signature(make).values() if p.default is inspect.Parameter.empty and p.kind in kinds]
    return len(required) > 0


def _required(make: Callable[..., Any]) -> list[str]:
    """Return the names of the arguments without a default that a function takes by keyword."""
    return [name for name, one in _signature(make).items() if one.default is one.empty and name in _keywords(make)]


def _signature(make: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    try:
        return inspect.signature(make).parameters
    except (TypeError, ValueError):
        return {}


def _nodes_of(make: Callable[..., Any], arguments: Mapping[str, Any]) -> Callable[..., Any]:
    """Return the function that PerNode calls for each node: the class or function, with `arguments` by keyword."""
    if not arguments:
        return make
    if isinstance(make, type):
        return lambda id_: make(**arguments)
    return lambda id_: make(id_, **arguments)
