"""Make nodes: the argument of `PerNode` is a class of nodes, or a function that returns a node for an id."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from causeway.deprecated import warn
from causeway.errors import UserError
from causeway.network.networks import Network
from causeway.pycontrol.dispatch import handlers_of
from causeway.pycontrol.handlers import HANDLERS, Node, check_attributes, check_handlers
from causeway.pycontrol.presence import Absent
from causeway.pycontrol.protocol_errors import misuse, shown
from causeway.pycontrol.services import NoRuntime

ID_NAMES = {"id", "id_", "i", "index", "me", "node", "node_id", "node_number", "number", "pid", "rank"}
"""Names of the parameter of `__init__` for the id. A parameter with any other name would get the id as a plausible but
wrong value."""
POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def maker_of(make: type[Node] | Callable[[int], Node]) -> Callable[[int], Node]:
    """Return a function that makes the node with an id.

    A class is called without arguments. For one release, a class whose `__init__` has a parameter for the id is still
    called with the id.

    Raises:
        UserError: `make` is neither a class nor a function, or the class needs further arguments.
    """
    if not callable(make):
        allowed = "a class of nodes, as in PerNode(Echo), or a function that returns a node for an id"
        raise UserError(f"PerNode was given {shown(make)}; allowed: {allowed}")
    if not (isinstance(make, type) and issubclass(make, Node)):
        return cast("Callable[[int], Node]", make)
    kind = make
    required = _required(kind)
    if not required:
        return lambda _: kind()
    if len(required) > 1 or required[0].kind not in POSITIONAL or required[0].name not in ID_NAMES:
        names = ", ".join(one.name for one in required)
        raise UserError(
            f"PerNode({kind.__name__}): {kind.__name__}.__init__ needs {names}; write PerNode(lambda id_: "
            f"{kind.__name__}(...)) with these arguments, or give them defaults"
        )
    warn(f"{kind.__name__}.__init__(self, {required[0].name})", "__init__(self), and use self.id", 4)
    return cast("Callable[[int], Node]", kind)


def new_node(make: Callable[[int], Node], id_: int) -> Node:
    """Make the node with an id, and check that it is a new one, with handlers that are called."""
    node = make(id_)
    if not isinstance(node, Node):
        raise misuse("PerNode", "make(id)", node, "a Node")
    if not isinstance(node.runtime, NoRuntime):
        raise misuse("PerNode", "make(id)", node, f"a new Node each time; this one is already node {node.id}")
    check_handlers(type(node))
    check_attributes(node)
    return node


def unheard_broadcasts(nodes: Sequence[Node], network: Network | None) -> list[str]:
    """Return a line for each class of nodes that the workload asks to broadcast although it has no `on_broadcast`."""
    load = None if network is None else network.workload
    if load is None or not (len(load.script.node) if load.script else any(one.rate_per_s for one in load.segments)):
        return []
    asked = (
        np.unique(load.script.node).tolist() if load.script else range(load.first_node, load.first_node + load.nodes)
    )
    kinds = dict.fromkeys(type(nodes[node]) for node in asked)
    return [
        f"the workload asks {kind.__name__} to broadcast, but {kind.__name__} has no on_broadcast(self, number, "
        "size_bytes), so these broadcasts are lost; add one, or restrict the workload to other nodes"
        for kind in kinds if kind.on_broadcast is Node.on_broadcast and kind is not Absent
    ]  # fmt: skip


def idle_nodes(nodes: Sequence[Node]) -> list[str]:
    """Return a line for each class of nodes that has no handler at all."""
    kinds: dict[Any, Node] = {type(node): node for node in nodes if not isinstance(node, Absent)}
    return [
        f"{kind.__name__} has no handler (on_start, on_broadcast, on_packet, on_timer, ...), so its nodes do nothing; "
        "add one" for kind, node in kinds.items()
        if all(getattr(kind, name) is getattr(Node, name) for name in HANDLERS)
        and not handlers_of(kind) and vars(node).keys().isdisjoint(HANDLERS)
    ]  # fmt: skip


def _required(kind: type[Node]) -> list[inspect.Parameter]:
    """Return the parameters of a class that have no default."""
    parameters = list(inspect.signature(kind.__init__).parameters.values())[1:]
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [one for one in parameters if one.default is one.empty and one.kind not in variable]
