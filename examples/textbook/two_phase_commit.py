"""Two-phase commit: a coordinator asks all managers to prepare, and then sends them its decision.

    causeway check examples/textbook/two_phase_commit.py --every 1000000
    causeway check examples/textbook/two_phase_commit.py --every 1000000 --set version=hasty

After J. Gray, *Notes on data base operating systems* (1978), in the form of Lamport's TLA+ example: a manager may
prepare or abort, and the coordinator may commit after all have prepared, or abort at any time. Node 0 is the
coordinator. Messages that were sent stay available (`forever`), so they may arrive again, and late.

Verdict: no manager commits while another aborts. The number of states is the published one for this model: 288 with
three managers (`--set nodes=4`), 8,832 with five. The hasty coordinator commits as soon as one manager has prepared.
With `--crashes 1 --no-forever`, a manager that has prepared waits for ever if the coordinator has failed.
"""

from collections.abc import Hashable
from typing import Any

import causeway as cw

WORKING, PREPARED, COMMITTED, ABORTED = "working", "prepared", "committed", "aborted"


class Coordinator(cw.Node):
    """Node 0. It may decide at any time that the rules allow; its possible decisions are timers."""

    def __init__(self, managers: int) -> None:
        self.managers = managers
        self.prepared: set[int] = set()
        self.decision = WORKING

    def on_start(self) -> None:
        self.set_timer("abort", 0)

    def on_packet(self, content: str, sender: int, interface: int) -> None:
        if content == PREPARED and self.decision == WORKING:
            self.prepared.add(sender)
            if len(self.prepared) == self.enough():
                self.set_timer("commit", 0)

    def enough(self) -> int:
        return self.managers

    def on_timer(self, key: Hashable) -> None:
        self.cancel_timer("abort")
        self.cancel_timer("commit")
        self.decision = COMMITTED if key == "commit" else ABORTED
        self.send(cw.EVERYONE, self.decision, 10)


class Hasty(Coordinator):
    """Wrong: does not wait for all managers."""

    def enough(self) -> int:
        return 1


class Manager(cw.Node):
    """A manager, which executes its part of the transaction."""

    state = WORKING

    def __init__(self) -> None:
        self.state = WORKING

    def on_start(self) -> None:
        self.set_timer("prepare", 0)
        self.set_timer("abort", 0)

    def on_timer(self, key: Hashable) -> None:
        self.cancel_timer("abort")
        self.cancel_timer("prepare")
        self.state = PREPARED if key == "prepare" else ABORTED
        if key == "prepare":
            self.send(0, PREPARED, 10)

    def on_packet(self, content: str, sender: int, interface: int) -> None:
        if sender == 0:
            self.cancel_timer("abort")
            self.cancel_timer("prepare")
            self.state = content


def agreed(model: Any) -> str | None:
    states = {node.state for node in model.nodes[1:]}
    return "agreement: one manager has committed, another aborted" if {COMMITTED, ABORTED} <= states else None


def nobody_waits(model: Any) -> str | None:
    waiting = [node.id for node in model.nodes[1:] if node.state == PREPARED and node.id not in model.down]
    return f"blocked: manager {waiting[0]} has prepared and never learns the decision" if waiting else None


def renamed(value: Any, names: Any) -> Any:
    """Rename the managers in a value, for the reduction by symmetry."""
    if isinstance(value, Coordinator):
        value.prepared = {names.node(manager) for manager in value.prepared}
    return value


class TwoPhaseCommit(cw.ModelStudy):
    name, title = "two_phase_commit", "two-phase commit"
    versions = {"right": Coordinator, "hasty": Hasty}
    verdicts = {"hasty": "agreement"}

    def node(self, params: cw.ModelParams, id_: int) -> cw.Node:
        return Manager() if id_ else self.versions[params.version](params.nodes - 1)

    def checks(self, params: cw.ModelParams) -> cw.Checks:
        budget = cw.Budget(broadcasts=0, forever=True, recover=False)
        return cw.Checks(
            always={"agreement": agreed}, at_end={"nobody waits": nobody_waits}, budget=budget, clocks="none",
            symmetry=cw.SymmetricNodes(range(1, params.nodes), renamed),
        )  # fmt: skip
