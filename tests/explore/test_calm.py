"""Faults end: hosts outside all cells return to one, by their handlers."""

from __future__ import annotations

import random

from causeway.explore.mobile_model import MobileModel
from causeway.explore.model import Budget, Choice
from causeway.pycontrol.confined import confined
from causeway.pycontrol.node import Node, PerNode


class Wanders(Node):
    def on_station(self, station: int, x_mm: int, y_mm: int) -> None:
        self.seen = (station, random.random())


class Stumbles(Node):
    def on_station(self, station: int, x_mm: int, y_mm: int) -> None:
        if hasattr(self, "out") and station >= 0:
            raise ValueError("lost its way")
        if station < 0:
            self.out = True


def calmed(kind: type[Node]) -> MobileModel:
    """A model whose only host left its cell, after faults ended."""
    model = MobileModel(PerNode(kind), 3, Budget(moves=1))
    model.do(Choice("move", 2, key=()))
    model.calm_down()
    return model


def test_an_error_of_a_host_that_returns_to_a_cell_is_a_violation() -> None:
    assert "node 2 raises ValueError: lost its way" in (calmed(Stumbles).broken or "")


def test_a_host_that_returns_to_a_cell_draws_from_the_seed() -> None:
    with confined():
        first, second = (calmed(Wanders).nodes[2].seen for _ in range(2))  # type: ignore[attr-defined]
    assert first == second and first[0] == 0
