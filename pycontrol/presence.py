"""Nodes that fail and recover, and nodes that come and go (`network/stays.py`). Each stay is a new node."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from causeway.network.networks import InetNetwork, MobileNetwork, Network
from causeway.pycontrol.after_end import services_refused
from causeway.pycontrol.handlers import Node
from causeway.pycontrol.node_timers import forget_calls
from causeway.pycontrol.protocol import JOINED, LEFT
from causeway.pycontrol.repeated import Repeated

if TYPE_CHECKING:
    from causeway.pycontrol.node import PerNode


class Absent(Node):
    """A placeholder for a node that has not come yet, or has gone."""


@dataclass
class Presence:
    """The nodes that come and go, and those that are down."""

    comings: dict[int, int] = field(default_factory=dict)
    """The nodes that come and go, and how often each has come."""
    down: set[int] = field(default_factory=set)
    """The nodes that are absent or down, or will be so one reaction time from now."""
    _vain: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    """The calls of `crash` and `recover` without effect: their number, and the node and time of the first one."""

    def switch(self, node: int, up: bool, now_ps: int) -> None:
        """Count a call of `crash` or `recover`, if it has no effect."""
        if up == (node in self.down):
            self.change(node, up)
            return
        service = "recover" if up else "crash"
        count, *first = self._vain.get(service, (0, node, now_ps))
        self._vain[service] = (count + 1, first[0], first[1])

    def change(self, node: int, up: bool) -> None:
        """Note that a node has failed or gone, or that it has recovered or come."""
        (self.down.discard if up else self.down.add)(node)

    def warnings(self) -> list[str]:
        """Return a line for each service that was called without effect."""
        return [
            f"{service}({node}) at {now_ps / 1e12:g} s has no effect, since node {node} is "
            f"{'up' if service == 'recover' else 'down'} already ({count} such calls in the run)"
            for service, (count, node, now_ps) in self._vain.items()
        ]


def begin(network: Network | None) -> Presence:
    """Return the presence of nodes at the beginning of a run."""
    comings = first_comings(network)
    return Presence(comings, {node for node, came in comings.items() if not came})


def first_comings(network: Network | None) -> dict[int, int]:
    """Return the nodes of a network that come and go: 1 for those that are there at the beginning, 0 for the others."""
    if isinstance(network, MobileNetwork | InetNetwork) and network.movement is not None:
        return dict.fromkeys(network.vehicle_nodes, 0)
    stays = None if network is None else network.stays
    if stays is None:
        return {}
    there = set(stays.at(0))
    return {node: int(node in there) for node in sorted(set(stays.node.tolist()))}


def change(runtime: PerNode, node: int, up: bool) -> None:
    """Let a node recover (`up`) or fail; let a node with stays come or go."""
    runtime._presence.change(node, up)
    if node in runtime._presence.comings:
        if up:
            _come(runtime, node)
        elif not isinstance(runtime.nodes[node], Absent):
            _go(runtime, node)
        return
    if up:
        runtime.nodes[node].on_up()
        return
    _forget_timers(runtime, node)
    runtime.nodes[node].on_down()


def _come(runtime: PerNode, node: int) -> None:
    runtime._presence.comings[node] += 1
    runtime.nodes[node] = runtime._new_node(node)
    if runtime.contents is not None:
        runtime.contents.watch(runtime.nodes[node])
    runtime.acting = runtime.nodes[node]
    runtime.note(JOINED, node, -1)
    runtime.nodes[node].on_start()


def _go(runtime: PerNode, node: int) -> None:
    _forget_timers(runtime, node)
    with services_refused(runtime):
        runtime.nodes[node].on_finish()
    runtime.note(LEFT, node, -1)
    _forget_lookaheads(runtime, node)
    runtime.nodes[node] = absent(runtime, node)


def absent(runtime: PerNode, node: int) -> Absent:
    """Return a placeholder for an absent node."""
    empty = Absent()
    empty.runtime, empty.id = runtime, node
    return empty


def _forget_timers(runtime: PerNode, node: int) -> None:
    for owner, key in [timer for timer in runtime.timers if timer[0] == node]:
        if not (type(key) is Repeated and key.always):
            runtime.cancel_timer(owner, key)
    forget_calls(runtime.nodes[node])


def _forget_lookaheads(runtime: PerNode, node: int) -> None:
    """Take back the declarations of a node that goes, so that the next one with its id begins without them."""
    for key in [key for key in runtime._lookahead if key[0] == node]:
        del runtime._lookahead[key]
        runtime._lookaheads[key] = 0
