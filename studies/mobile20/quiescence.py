"""Ends a run once nothing is left to arrive: the silence after the experiment need not be guessed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, cast

from causeway.pycontrol.protocols.mobile.meter import S_PS
from causeway.pycontrol.repeated import NEVER_AGAIN

if TYPE_CHECKING:
    from causeway.pycontrol.node import Node

EVERY_PS = S_PS
ROUNDS = 3
"""So often in a row: a message between two stations is in nobody's buffer for the 10 ms of a wire."""


class MayBeBusy(Protocol):
    """What a node of the study must tell."""

    @property
    def busy(self) -> bool:
        """Whether it still has something for somebody, or is on its way to a station."""
        ...


@dataclass
class Rest:
    """A repeated job (`PerNode.every`) that begins when the application falls silent. It ends the run, no more: whether
    all that was owed has arrived is for the checker to say."""

    quiet: int = 0

    def run(self, node: Node) -> int | None:
        nodes = cast("list[MayBeBusy]", node.host.nodes)
        self.quiet = 0 if any(n.busy for n in nodes) else self.quiet + 1
        if self.quiet == ROUNDS:
            node.stop()
            return NEVER_AGAIN
        return None
