"""Jobs that a study gives to one of the nodes: sampling a run once a second, failing hosts.

They run on a reliable node's timer, so they come at exact simulated times on every engine, and take no part in the
protocol.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass

from causeway.pycontrol.node import Node

CHORE = "chore"


@dataclass
class Chore:
    """`run(node)` is called first after `first_ps`, then after as long as it says; None: never again."""

    first_ps: int
    run: Callable[[Node], int | None]


def with_chores(node: Node, chores: list[Chore]) -> Node:
    """The node, doing these jobs besides."""
    if chores:
        node.__class__ = type(node.__class__.__name__, (_Busy, node.__class__), {})
        node.chores = chores  # type: ignore[attr-defined]
    return node


class _Busy(Node):
    chores: list[Chore]

    def on_start(self) -> None:
        super().on_start()
        for number, chore in enumerate(self.chores):
            self.set_timer((CHORE, number), chore.first_ps)

    def on_timer(self, key: Hashable) -> None:
        if not (isinstance(key, tuple) and key[0] == CHORE):
            super().on_timer(key)
            return
        again_ps = self.chores[key[1]].run(self)
        if again_ps is not None:
            self.set_timer(key, again_ps)
