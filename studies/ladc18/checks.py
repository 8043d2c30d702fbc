"""ladc18 in a small world: the readable twin among four processes. A process that crashes is noticed by the others at
some time: the detector is a packet that its crash sends."""

from __future__ import annotations

from typing import Any

from causeway.pycontrol.check.checks import Checks
from causeway.pycontrol.check.world import Budget
from causeway.pycontrol.node import EVERYONE, PerNode
from causeway.pycontrol.protocols.ladc18.columns import Limits
from causeway.pycontrol.protocols.ladc18.node import Process, Tally

PROCESSES = 4
SINGLE = Limits(PROCESSES, 0, 1, 1, 1)
"""One message a packet: as without aggregation."""


class Crash:
    """What the detectors say."""


class Noticing(Process):
    """A process with the detectors of all others."""

    not_state = frozenset({"tally", "limits"})

    def on_packet(self, content: Any, sender: int, interface: int) -> None:
        if isinstance(content, Crash):
            self.on_crash(sender)
        else:
            super().on_packet(content, sender, interface)

    def on_down(self) -> None:
        super().on_down()
        self.send(EVERYONE, Crash(), 1)


def checks(params: Any) -> Checks:
    """What `causeway check ladc18` does."""

    def twin() -> PerNode:
        tally = Tally()
        return PerNode(lambda i: Noticing(i, SINGLE, tally))

    budget = Budget(broadcasts=2, crashes=1, recover=False)
    return Checks(properties=("once", "valid", "quiet"), protocol=twin, nodes=PROCESSES, budget=budget)
