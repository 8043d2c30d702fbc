"""Nodes that fail and recover, and nodes that come and go (`network/stays.py`), each stay as a new node."""

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
    """The place of a node that has not come yet, or has gone."""


def guests_of(network: Network | None) -> dict[int, int]:
    """Return the nodes of a network that come and go: 1 for those that are there at the beginning, 0 for the others."""
    if isinstance(network, MobileNetwork) and network.movement is not None:
        return dict.fromkeys(range(len(network.station_xy_mm), network.nodes), 0)
    stays = None if network is None else network.stays
    if stays is None:
        return {}
    there = set(stays.at(0))
    return {node: int(node in there) for node in sorted(set(stays.node.tolist()))}


def change(runtime: PerNode, node: int, up: bool) -> None:
    """Let a node recover or fail; let a guest come or go."""
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
    runtime._guests[node] += 1
    runtime.nodes[node] = runtime._new_node(node)
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
    """Return what stands for an absent node."""
    empty = Absent()
    empty.runtime, empty.id = runtime, node
    return empty


def _forget_timers(runtime: PerNode, node: int) -> None:
    for owner, key in [timer for timer in runtime.timers if timer[0] == node]:
        runtime.cancel_timer(owner, key)
    forget_calls(runtime.nodes[node])


def _forget_lookaheads(runtime: PerNode, node: int) -> None:
    """Take back the declarations of a node that goes, so that the next one with its id begins without them."""
    for key in [key for key in runtime._lookahead if key[0] == node]:
        del runtime._lookahead[key]
        runtime._lookaheads[key] = 0
