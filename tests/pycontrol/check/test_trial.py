"""What `causeway check` makes of a study: few nodes unless told otherwise, cells where there are stations, bounds."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from causeway.bridge.errors import UserError
from causeway.cli.check import Search, check_study
from causeway.pycontrol.check import orders, schedules
from causeway.pycontrol.check.mobile import MobileWorld
from causeway.studies.trial import Trial, parse_bounds

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
FLOOD, RUMOUR, CHATTER = (str(EXAMPLES / name) for name in ("flood.py", "rumour.py", "chatter.py"))


def checked(trial: Trial, folder: Path, every: int = 0) -> tuple[bool, str]:
    text = io.StringIO()
    broken = check_study(trial, Search(300, 60.0, every, False, 1), folder, Console(file=text, width=300))
    return broken, text.getvalue()


def test_a_study_of_many_nodes_is_tried_with_few_and_the_fewest_are_enough(tmp_path: Path) -> None:
    assert [one.make().count for one in Trial(FLOOD).sizes()] == [2, 3, 4]
    broken, text = checked(Trial(FLOOD), tmp_path)
    assert broken and "flood: 2 or 3 or 4 nodes" in text
    assert "node 2" not in text, "two nodes are enough for what has no order"


def test_nodes_that_were_asked_for_are_kept_unless_fewer_break_it_too(tmp_path: Path) -> None:
    causal = Trial(FLOOD, {"processes": 5, "causal": True})
    assert [one.make().count for one in causal.sizes()] == [5]
    broken, text = checked(Trial(FLOOD, {"processes": 5}), tmp_path)
    assert broken and "node 2" not in text


def test_a_network_of_stations_is_a_world_of_cells(tmp_path: Path) -> None:
    trial = Trial(RUMOUR).sizes()[0]
    world = trial.make()
    assert isinstance(world, MobileWorld) and (world.stations, world.count) == (7, 9)
    broken, text = checked(trial, tmp_path)
    assert broken and "is in the cell of station" in text
    with pytest.raises(UserError, match="leave --every away"):
        orders.every_order(trial.make, trial.rules(), 1000, 10.0)


def test_an_asyncio_program_is_checked_in_made_up_orders_only(tmp_path: Path) -> None:
    trial = Trial(CHATTER, {"nodes": 3}, budget={"broadcasts": 0})
    found = schedules.search(trial.make, trial.rules(), 30, 60.0, 1)
    assert found.broken is None
    with pytest.raises(UserError, match="asyncio programs"):
        orders.every_order(trial.make, trial.rules(), 1000, 10.0)


def test_a_bound_on_what_nodes_keep_holds_or_is_broken(tmp_path: Path) -> None:
    causal = Trial(FLOOD, {"processes": 3, "causal": True}, ("once",), {"broadcasts": 3})
    for most, expected in ((3, False), (0, True)):
        broken, text = checked(Trial(**{**vars(causal), "bounds": {"waiting": most}}), tmp_path)
        assert broken == expected, text
    assert "things in waiting, more than 0" in text
    with pytest.raises(UserError, match="no node keeps"):
        checked(Trial(**{**vars(causal), "bounds": {"wait": 1}}), tmp_path)
    with pytest.raises(UserError, match="--bound NAME=N"):
        parse_bounds(["held=many"])


def test_a_search_that_runs_away_is_followed_by_the_shortest_orders(tmp_path: Path) -> None:
    file = tmp_path / "again.py"
    file.write_text(AGAIN)
    broken, text = checked(Trial(str(file)), tmp_path, every=3000)
    assert broken and "the shortest first" in text and "broken twice: node 1" in text


AGAIN = """
from causeway import Budget, Checks, Node, SmallStudy


class Sender(Node):
    def on_start(self):
        self.got = 0
        if self.id == 0:
            self.set_timer("again", 5)

    def on_timer(self, key):
        self.send(1, "x", 10)
        self.set_timer("again", 5)

    def on_packet(self, content, sender, interface):
        self.got = min(self.got + 1, 2)


def twice(world):
    late = [node.id for node in world.nodes if node.got > 1]
    return f"twice: node {late[0]}" if late and not world.flying else None


class Again(SmallStudy):
    name, title = "again", "sends for ever"
    versions = {"right": Sender}
    asked = Checks(budget=Budget(broadcasts=0), nodes=2)

    def checks(self, params):
        from dataclasses import replace

        return replace(self.asked, always={"twice": twice})
"""
