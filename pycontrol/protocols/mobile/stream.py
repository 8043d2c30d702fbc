"""The random numbers of mobile20's nodes: a separate stream, on which the published digests depend."""

from __future__ import annotations

from random import Random

from causeway.pycontrol.node import Node


def stream_of(node: Node) -> Random:
    """Return the generator of a node. New protocols use `self.rng`."""
    return Random(node.runtime.context.seed * 1_000_003 + node.id)
