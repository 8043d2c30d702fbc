"""The model of ladc18 for `causeway check`: the reference implementation with four processes, or up to 16.

A crashed process sends a packet to the others, which replaces failure detectors: they notice the crash after some time.
"""

from __future__ import annotations

from typing import Any

from causeway.errors import UserError
from causeway.explore.checks import Checks
from causeway.explore.model import Budget
from causeway.pycontrol.node import EVERYONE, PerNode
from causeway.pycontrol.protocols.ladc18.node import Process, Tally
from causeway.pycontrol.protocols.ladc18.vectorized import Limits

FEW, MOST = 4, 16


class Crash:
    """The packet that reports the crash of its sender."""


class Noticing(Process):
    """A process that is notified of crashes."""

    not_state = frozenset({"tally", "limits"})

    def on_packet(self, content: Any, sender: int, interface: int) -> None:
        """Handle the notice of a crash, or a packet of the protocol."""
        if isinstance(content, Crash):
            self.on_crash(sender)
        else:
            super().on_packet(content, sender, interface)

    def on_down(self) -> None:
        """Notify the other processes of the crash."""
        super().on_down()
        self.send(EVERYONE, Crash(), 1)


def acknowledged(model: Any) -> str | None:
    """Check that no correct process waits for an acknowledgement at quiescence."""
    for process in model.nodes:
        if process.id not in model.down and process.ack_set:
            return f"acknowledged: process {process.id} still waits for {sum(map(len, process.ack_set.values()))}"
    return None


def checks(params: Any) -> Checks:
    """Return the settings of `causeway check ladc18`."""
    processes = params.processes if "processes" in params.model_fields_set else FEW
    if processes > MOST:
        raise UserError(f"the model of ladc18 has 2 to {MOST} processes, not {processes}; choose another number")
    single = Limits(processes, 0, 1, 1, 1)  # one message in a packet, as without aggregation

    def reference() -> PerNode:
        tally = Tally()
        return PerNode(lambda i: Noticing(i, single, tally))

    budget = Budget(broadcasts=2, crashes=1, recover=False)
    return Checks(
        properties=("once", "valid", "quiet"), at_end={"acknowledged": acknowledged},
        protocol=reference, nodes=processes, budget=budget,
    )  # fmt: skip
