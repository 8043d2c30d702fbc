"""Exhaustive search of models in which hosts change cells, and of programs that cannot be copied."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from causeway.explore import exhaustive, schedules
from causeway.explore.mobile_model import MobileModel
from causeway.explore.model import LATE_CLOCKS, Budget, Model
from causeway.explore.properties import Rules
from causeway.network.networks import WIRE, WIRELESS
from causeway.pycontrol.node import EVERYONE, Node, PerNode
from causeway.pycontrol.protocols.mobile.handoff import Handoff
from causeway.studies.trial import Trial
from tests.helpers import by_hand, mobile_quirks

STATIONS = 2
MS_PS = 10**9


class Mast(Node):
    """Tells the other mast what it hears first, and answers whoever speaks to it."""

    def __init__(self) -> None:
        self.heard: tuple[int, ...] = ()

    def on_packet(self, content: int, sender: int, interface: int) -> None:
        if content not in self.heard:
            self.heard = (*self.heard, content)
            self.send(1 - self.id, content, 10, WIRE)
        if interface == WIRELESS:
            self.send(EVERYONE, content, 10, WIRELESS)


class Walker(Node):
    """Says something again until it hears it from a mast."""

    def __init__(self) -> None:
        self.heard: tuple[int, ...] = ()
        self.cells: tuple[int, ...] = ()

    def on_station(self, station: int, x_mm: int, y_mm: int) -> None:
        self.cells = (*self.cells[-1:], station)

    def on_broadcast(self, number: int, size_bytes: int) -> None:
        self.say(self.id)

    def say(self, what: int) -> None:
        self.send(EVERYONE, what, 10, WIRELESS)
        self.set_timer(what, 5 * MS_PS)

    def on_packet(self, content: int, sender: int, interface: int) -> None:
        self.heard = (*self.heard, content)
        self.cancel_timer(content)

    def on_timer(self, key: Any) -> None:
        self.say(key)


def make(clocks: str, **budget: int) -> Model:
    def node(id_: int) -> Node:
        return Mast() if id_ < STATIONS else Walker()

    model = MobileModel(PerNode(node), STATIONS + 1, Budget(**budget), stations=STATIONS)
    model.clocks = clocks
    return model


@pytest.mark.parametrize(
    "budget",
    [
        {"broadcasts": 1},
        {"broadcasts": 1, "moves": 1},
        {"broadcasts": 1, "losses": 1},
        {"broadcasts": 1, "moves": 1, "early": 1},
        {"broadcasts": 1, "crashes": 1},
        {"broadcasts": 1, "moves": 1, "duplicates": 1},
    ],
    ids=str,
)
def test_every_schedule_meets_the_states_that_a_slow_search_meets(budget: dict[str, int]) -> None:
    covered = exhaustive.search_exhaustively(lambda: make(LATE_CLOCKS, **budget), Rules(ordered=False), 10**6, 100.0)
    slow = by_hand.explored(lambda: make(LATE_CLOCKS, **budget), by_hand.by_state)
    assert covered.complete and covered.clocks == LATE_CLOCKS
    assert covered.states == len(slow) > 5


def mobile(hosts: int, **budget: int) -> Trial:
    return Trial("mobile20", {"cells": 2, "hosts": hosts}, budget=budget, every=True)


def covered_of(trial: Trial) -> exhaustive.Covered:
    return exhaustive.search_exhaustively(trial.make, trial.rules(), 10**6, 200.0)


@pytest.mark.parametrize(
    ("hosts", "budget"),
    [(1, {}), (2, {}), (1, {"losses": 1}), (1, {"early": 1}), (1, {"moves": 2}), (2, {"moves": 0, "crashes": 1})],
    ids=str,
)
def test_mobile20_is_right_in_every_schedule_of_small_model(hosts: int, budget: dict[str, int]) -> None:
    covered = covered_of(mobile(hosts, **budget))
    assert (covered.complete, covered.broken) == (True, None) and covered.ends > 0


def test_a_handoff_that_loses_state_is_found_and_its_counterexample_repeats(monkeypatch: pytest.MonkeyPatch) -> None:
    real = Handoff._on_rsp1
    monkeypatch.setattr(Handoff, "_on_rsp1", lambda self, m, h: None if self.s.SBuffer.seq_C else real(self, m, h))
    trial = mobile(1)
    covered = covered_of(trial)
    assert covered.broken is not None
    model = trial.make()
    assert schedules.follow(model, covered.plan, trial.rules()) is not None
    assert {"station", "packet", "sent"} <= {event.what for event in model.log}


@pytest.mark.parametrize(
    "quirk",
    [mobile_quirks.the_previous_station_goes_on, mobile_quirks.a_host_speaks_before_it_is_connected],
    ids=lambda quirk: quirk.__name__,
)
def test_printed_lines_fail_in_some_schedule_of_a_small_model(quirk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    quirk(monkeypatch)
    assert covered_of(mobile(2, losses=1)).broken is not None


# ---- programs -------------------------------------------------------------------------------------------------------

TALLY = str(Path(__file__).resolve().parents[2] / "examples" / "tally.py")


@pytest.mark.parametrize("clocks", [pytest.param("", marks=pytest.mark.slow), LATE_CLOCKS], ids=["any clock", "late"])
def test_every_schedule_of_a_program_meets_every_history_that_a_slow_search_meets(clocks: str) -> None:
    trial = Trial(
        TALLY,
        {"nodes": 2 if clocks else 3, "tries": 3 if clocks else 1},
        budget={"losses": 1 if clocks else 0},
        clocks=clocks or "own",
    )
    covered = exhaustive.search_exhaustively(trial.make, Rules(ordered=False), 10**5, 100.0)
    slow = by_hand.explored(trial.make, by_hand.by_history)
    assert covered.complete and covered.states == len(slow) > 5


@pytest.mark.parametrize("losses", [0, 1])
def test_a_program_that_counts_duplicates_twice_is_found(losses: int) -> None:
    for version in ("right", "careless"):
        trial = Trial(TALLY, {"nodes": 3, "version": version}, budget={"losses": losses}, clocks=LATE_CLOCKS)
        covered = exhaustive.search_exhaustively(trial.make, trial.rules(), 10**5, 100.0)
        wrong = version == "careless" and losses > 0
        assert (covered.broken is not None) == wrong and covered.complete == (not wrong)
