"""Measure models: states and schedules per second, and models with published numbers of states."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from causeway.explore import exhaustive, schedules
from causeway.studies.trial import Trial

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
FLOOD = {"processes": 3, "causal": True}
PUBLISHED = {3: 288, 5: 8832}
"""Maps the number of managers of two-phase commit to the distinct states (Stateright). TLC has the same for three
managers, and a depth of 11."""
OTHERS = {
    "TLC, Lamport's mutex of its examples": "2,729,079 states found, 724,274 distinct, 10 s: 72,000 a second",
    "TLC, Paxos commit of its examples": "16,959,159 states found, 1,321,761 distinct, 60 s: 22,000 a second",
    "Maelstrom, broadcast of its guide": "one order of events in 20 s of real time, 29,000 messages a second",
}
"""Published figures of others, on their machines. Times are upper bounds of theirs."""
TRIES = 300


def run() -> dict[str, Any]:
    """Measure all figures in processor time."""
    figures: dict[str, Any] = {}
    for reduce in (False, True):
        trial = Trial(str(EXAMPLES / "flood.py"), FLOOD, budget={"broadcasts": 2})
        covered, took_s = _timed(trial, reduce)
        kind = "reduced" if reduce else "whole"
        figures[f"causal flooding, 3 nodes, 2 messages, {kind}"] = f"{covered.states:,} states"
        figures["states a second, causal flooding" + (", reduced" if reduce else "")] = round(covered.states / took_s)
    covered, took_s = _timed(Trial(str(EXAMPLES / "textbook" / "causal_broadcast.py")), True)
    figures["causal broadcast, 3 nodes, 3 messages, complete (s)"] = round(took_s, 2)
    for managers, published in PUBLISHED.items():
        trial = Trial(str(EXAMPLES / "textbook" / "two_phase_commit.py"), {"nodes": managers + 1})
        covered, took_s = _timed(trial, False)
        figures[f"two-phase commit, {managers} managers"] = f"{covered.states:,} states (published: {published:,})"
        figures[f"two-phase commit, {managers} managers, states on the longest way"] = covered.depth + 1
    trial = Trial(str(EXAMPLES / "flood.py"), FLOOD, budget={"broadcasts": 3, "losses": 1}, properties=("causal",))
    began = time.process_time()
    schedules.search(trial.make, trial.rules(), TRIES, 600.0, 1)
    figures["orders a second, causal flooding"] = round(TRIES / (time.process_time() - began))
    return figures | {f"published: {who}": what for who, what in OTHERS.items()}


def _timed(trial: Trial, reduce: bool) -> tuple[exhaustive.Covered, float]:
    began = time.process_time()
    covered = exhaustive.search_exhaustively(
        trial.make, trial.rules(), 10**7, 600.0, reduce=reduce, symmetric=trial.checks.symmetric
    )  # fmt: skip
    return covered, max(time.process_time() - began, 1e-3)
