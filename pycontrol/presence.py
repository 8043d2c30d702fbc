"""Nodes that fail and recover, and nodes that come and go (`network/stays.py`). Each stay is a new node."""

from __future__ import annotations

from typing import TYPE_CHECKING

from causeway.network.networks import MobileNetwork, Network
from causeway.pycontrol.after_end import services_refused
from causeway.pycontrol.handlers import Node
from causeway.pycontrol.node_timers import forget_calls
from causeway.pycontrol.protocol import JOINED, LEFT

if TYPE_CHECKING:
    from causeway.pycontrol.node import PerNode


class Absent(Node):
    """A placeholder for a node that has not come yet, or has gone."""


def guests_of(network: Network | None) -> dict[int, bool]:
    """Return the nodes of a network that come and go, and whether each is there at the beginning."""
    if isinstance(network, MobileNetwork) and network.movement is not None:
        return dict.fromkeys(range(len(network.station_xy_mm), network.nodes), False)
    stays = None if network is None else network.stays
    if stays is None:
        return {}
    there = set(stays.at(0))
    return {node: node in there for node in sorted(set(stays.node.tolist()))}


def change(runtime: PerNode, node: int, up: bool) -> None:
    """Let a node recover (`up`) or fail; let a node with stays come or go."""
    if node in runtime._guests:
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
    runtime.nodes[node] = runtime._new_node(node)
    runtime.acting = runtime.nodes[node]
    runtime.note(JOINED, node, -1)
    runtime.nodes[node].on_start()


def _go(runtime: PerNode, node: int) -> None:
    _forget_timers(runtime, node)
    with services_refused(runtime):
        runtime.nodes[node].on_finish()
    runtime.note(LEFT, node, -1)
    runtime.nodes[node] = absent(runtime, node)


def absent(runtime: PerNode, node: int) -> Absent:
    """Return a placeholder for an absent node."""
    empty = Absent()
    empty.runtime, empty.id = runtime, node
    return empty


def _forget_timers(runtime: PerNode, node: int) -> None:
    for owner, key in [timer for timer in runtime.timers if timer[0] == node]:
        runtime.cancel_timer(owner, key)
    forget_calls(runtime.nodes[node])
