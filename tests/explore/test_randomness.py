"""Nodes with random numbers: a violation that does not repeat counts, and a search is not exhaustive."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from causeway.cli.check import Search, check_study
from causeway.cli.replay import replay_example
from causeway.explore import exhaustive, schedules
from causeway.explore.model import Budget, Model
from causeway.explore.properties import Rules, once
from causeway.explore.randomness import draws
from causeway.pycontrol.frozen import frozen
from causeway.pycontrol.node import EVERYONE, Node, PerNode
from causeway.studies.trial import Trial

NOW_AND_THEN = """
from causeway import EVERYONE, Budget, Checks, Node, ModelStudy


HEARD = []  # by all nodes of all models


class Careless(Node):
    kept = ()

    def on_broadcast(self, number, size_bytes):
        self.send(EVERYONE, self.new_message(), 10)

    def on_packet(self, content, sender, interface):
        self.deliver(content)
        HEARD.append(content)
        if len(HEARD) == 7:
            self.deliver(content)


class NowAndThen(ModelStudy):
    name, title = "now_and_then", "one message in the life of the process is delivered twice"
    versions = {"right": Careless}
    model_checks = Checks(properties=("once",), nodes=3, budget=Budget(broadcasts=2))
"""


def checked(trial: Trial, folder: Path, every: int) -> tuple[bool, str]:
    text = io.StringIO()
    broken = check_study(trial, Search(300, 60.0, every, False, 1), folder, Console(file=text, width=300))
    return broken, text.getvalue()


@pytest.mark.parametrize("every", [0, 10_000], ids=["made up", "every order"])
def test_a_violation_that_does_not_repeat_is_reported_as_not_deterministic(every: int, tmp_path: Path) -> None:
    file = tmp_path / "now_and_then.py"
    file.write_text(NOW_AND_THEN)
    broken, text = checked(Trial(str(file), every=bool(every)), tmp_path, every)
    assert broken and "no violation found" not in text
    assert "violated, but not deterministic: no duplicates: node" in text
    kept = json.loads((tmp_path / "now_and_then.json").read_text())
    assert kept["deterministic"] is False and kept["broken"] in text
    again = io.StringIO()
    assert replay_example(tmp_path / "now_and_then.json", Console(file=again, width=300), str(file), False)
    assert f"it was not deterministic; one execution violated: {kept['broken']}" in again.getvalue()


def test_the_events_that_broke_it_once_are_reported(tmp_path: Path) -> None:
    file = tmp_path / "now_and_then.py"
    file.write_text(NOW_AND_THEN)
    trial = Trial(str(file))
    found = schedules.search(trial.make, trial.rules(), 300, 60.0, 1)
    assert not found.repeats and found.broken is not None
    last, before = found.log.events[-1], found.log.events[-2]
    assert (last.what, last.node, last.number) == (before.what, before.node, before.number)


# ---- every order ----------------------------------------------------------------------------------------------------


class Lottery(Node):
    """Delivers a second time if it draws 0."""

    def __init__(self, chance: Any, draw: Callable[[Any], int]) -> None:
        super().__init__()
        self.kept, self.draw = {"chance": [chance]}, draw

    def on_broadcast(self, number: int, size_bytes: int) -> None:
        self.send(EVERYONE, self.new_message(), 10)

    def on_packet(self, content: int, sender: int, interface: int) -> None:
        self.deliver(content)
        if self.draw(self.kept["chance"][0]) == 0:
            self.deliver(content)


def rarely(chance: Any) -> int:
    return chance.randrange(10**9) if isinstance(chance, Random) else int(chance.random() * 10**9)


def exhaustive_search_of(make: Callable[[], Node]) -> exhaustive.Covered:
    def model() -> Model:
        return Model(PerNode(lambda _: make()), 3, Budget(broadcasts=2), watched=(once,))

    return exhaustive.search_exhaustively(model, Rules(), 10_000, 60.0)


@pytest.mark.parametrize("chance", [Random, np.random.default_rng, np.random.RandomState], ids=lambda one: one.__name__)
def test_a_search_with_one_sequence_of_draws_is_incomplete(chance: Any) -> None:
    found = exhaustive_search_of(lambda: Lottery(chance(1), rarely))
    assert found.broken is None and found.finished and not found.complete
    assert found.randomness == "Lottery.kept draws random numbers, and one sequence of them was followed"


def test_a_generator_in_not_state_is_left_out() -> None:
    class Jitter(Lottery):
        not_state = frozenset({"kept"})

    node = Jitter(Random(1), rarely)
    assert draws(node) == "" and draws(Lottery(Random(1), rarely)) == "Lottery.kept"


def test_an_incomplete_search_reports_the_reason(tmp_path: Path) -> None:
    file = tmp_path / "own.py"
    text = NOW_AND_THEN.replace("kept = ()", "def on_start(self):\n        self.own = Random(self.id)")
    text = text.replace("HEARD.append(content)", "drawn = self.own.random()")
    file.write_text("from random import Random\n" + text.replace("len(HEARD) == 7", "drawn < 1e-9"))
    broken, said = checked(Trial(str(file), every=True), tmp_path, 10_000)
    assert not broken and "deep, all of them" not in said
    assert "not all of them: Careless.own draws random numbers, and one sequence of them was followed" in said


def test_random_schedules_of_nodes_that_draw_report_that_they_share_one_sequence_of_draws(tmp_path: Path) -> None:
    def search(make: Callable[[], Node]) -> schedules.Verdict:
        def model() -> Model:
            return Model(PerNode(lambda _: make()), 3, Budget(broadcasts=2), watched=(once,))

        return schedules.search(model, Rules(), 20, 60.0, 1)

    assert search(lambda: Lottery(None, lambda _: 1)).randomness == ""
    said = "Lottery.kept draws random numbers, and one sequence of them was followed"
    assert search(lambda: Lottery(Random(1), rarely)).randomness == said


def test_hidden_state_is_detected_when_a_step_is_computed_again() -> None:
    drawn: list[int] = []

    def decides_nothing(_: Any) -> int:
        drawn.append(1)
        return 1

    assert exhaustive_search_of(lambda: Lottery(None, decides_nothing)).complete
    first_time = len(drawn) // 2  # each step was worked out twice
    found = exhaustive_search_of(lambda: Lottery(None, lambda _: drawn.append(0) or int(len(drawn) <= 3 * first_time)))
    assert found.broken is None and found.finished and not found.complete
    assert found.randomness.endswith("behaves differently when the same event is repeated")


PROGRAM = """
import random

from causeway import Budget, Checks, ProgramStudy


async def main(node):
    node.drawn = random.random() if {draws} else 0.5


class Drawing(ProgramStudy):
    name, title, main = "drawing", "a program that draws", main

    def checks(self, params):
        return Checks(properties=("once",), budget=Budget(broadcasts=0), nodes=2)
"""


@pytest.mark.parametrize("does", [False, True])
def test_a_search_of_an_asyncio_program_that_draws_is_incomplete(does: bool, tmp_path: Path) -> None:
    file = tmp_path / "drawing.py"
    file.write_text(PROGRAM.format(draws=does))
    trial = Trial(str(file), every=True)
    found = exhaustive.search_exhaustively(trial.make, trial.rules(), 10_000, 60.0)
    assert found.finished and found.complete == (not does)
    assert found.randomness.startswith("the program of node") == does


# ---- states ---------------------------------------------------------------------------------------------------------


class Empty:
    """Holds nothing."""


def test_objects_without_attributes_are_equal_if_they_have_one_class() -> None:
    assert frozen(Empty()) == frozen(Empty()) != frozen(Node)


@pytest.mark.parametrize("make", [Random, np.random.default_rng, np.random.RandomState, np.random.PCG64])
def test_generators_are_equal_if_they_will_draw_the_same(make: Any) -> None:
    assert frozen(make(1)) == frozen(make(1)) != frozen(make(2))
