"""End a run when no message is in transit any more, so that the length of the final silence need not be estimated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, cast

from causeway.pycontrol.protocols.mobile.meter import S_PS
from causeway.pycontrol.repeated import NEVER_AGAIN

if TYPE_CHECKING:
    from causeway.pycontrol.node import Node

EVERY_PS = S_PS
ROUNDS = 3
"""The number of consecutive quiet rounds. A message between two stations is in no buffer while it is on the wire (10
ms)."""


class MayBeBusy(Protocol):
    """The interface that `Rest` needs of every node."""

    @property
    def busy(self) -> bool:
        """Return whether the node has messages to send, is not connected, or takes part in a handoff."""
        ...


@dataclass
class Rest:
    """A repeated job (`PerNode.every`) that ends the run when all nodes are quiet.

    It begins after the last broadcast of the application. The checker verifies that all messages have arrived.
    """

    quiet: int = 0

    def run(self, node: Node) -> int | None:
        """Stop the run after ROUNDS quiet rounds; return the time until the next call, None for the default."""
        nodes = cast("list[MayBeBusy]", node.runtime.nodes)
        self.quiet = 0 if any(n.busy for n in nodes) else self.quiet + 1
        if self.quiet == ROUNDS:
            node.stop()
            return NEVER_AGAIN
        return None
