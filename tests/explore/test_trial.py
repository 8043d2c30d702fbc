"""The models that `causeway check` makes of a study: few nodes by default, cells if there are stations, bounds."""

from __future__ import annotations

import io
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from causeway.cli.check import Search, check_study
from causeway.errors import UserError
from causeway.explore import exhaustive, schedules
from causeway.explore.mobile_model import MobileModel
from causeway.studies.dcs23 import exploration
from causeway.studies.trial import Trial, parse_bounds
from tests.helpers.command import causeway_here as causeway_here
from tests.helpers.edits import edited
from tests.protocols.dcs import test_dcs_models

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
FLOOD, RUMOUR, CHATTER = (str(EXAMPLES / name) for name in ("flood.py", "rumour.py", "chatter.py"))


def checked(trial: Trial, folder: Path, every: int = 0) -> tuple[bool, str]:
    text = io.StringIO()
    broken = check_study(trial, Search(300, 60.0, every, False, 1), folder, Console(file=text, width=300))
    return broken, text.getvalue()


def test_a_study_of_many_nodes_is_tried_with_few_and_reduced_to_the_fewest(tmp_path: Path) -> None:
    assert [one.make().count for one in Trial(FLOOD).sizes()] == [2, 3, 4]
    broken, text = checked(Trial(FLOOD), tmp_path)
    assert broken and "flood: 2 to 4 nodes" in text
    assert "node 2" not in text, "two nodes are enough for what has no order"


def test_the_requested_number_of_nodes_is_kept_unless_fewer_show_the_violation(tmp_path: Path) -> None:
    causal = Trial(FLOOD, {"processes": 5, "causal": True})
    assert [one.make().count for one in causal.sizes()] == [5]
    broken, text = checked(Trial(FLOOD, {"processes": 5}), tmp_path)
    assert broken and "node 2" not in text


def test_a_network_of_stations_is_a_model_with_cells(tmp_path: Path) -> None:
    trial = Trial(RUMOUR).sizes()[0]
    model = trial.make()
    assert isinstance(model, MobileModel) and (model.stations, model.count) == (7, 9)
    broken, text = checked(trial, tmp_path)
    assert broken and "is in the cell of station" in text
    covered = exhaustive.search_exhaustively(trial.make, trial.rules(), 1000, 60.0)
    assert covered.broken is not None or covered.states > 1000


@pytest.mark.parametrize("every", [0, 1000])
@pytest.mark.parametrize("rule", ["9**9**9 > 0", "any(False for _ in iter(int, 1)) or True"])
def test_an_endless_condition_is_ended_with_an_error_of_one_line(
    rule: str, every: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CAUSEWAY_HANDLER_S", "2")
    with pytest.raises(UserError) as reported:
        checked(Trial(FLOOD, {"processes": 3}, always=(rule,)), tmp_path, every)
    assert str(reported.value) == (
        f"'{rule}' has not returned for 2 s; allowed: CAUSEWAY_HANDLER_S=2 (seconds; 0: for ever)"
    )


@pytest.mark.parametrize("every", [0, 1000])
def test_a_handler_that_never_returns_ends_the_search(
    every: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CAUSEWAY_HANDLER_S", "2")
    file = tmp_path / "endless.py"
    waits = "if message not in self.heard:\n            while True:\n                pass"
    file.write_text(edited(Path(FLOOD).read_text(), ("if message not in self.heard:", waits)))
    with pytest.raises(UserError, match=r"node \d raises TookTooLong: has not returned for 2 s.*\(endless.py:\d+\)"):
        checked(Trial(str(file), {"processes": 3}), tmp_path, every)


def test_an_asyncio_program_is_checked_in_random_schedules_and_in_every_schedule_and_leaves_nothing_behind() -> None:
    threads = threading.active_count()
    trial = Trial(CHATTER, {"nodes": 3}, budget={"broadcasts": 0})
    found = schedules.search(trial.make, trial.rules(), 30, 60.0, 1)
    assert found.broken is None
    covered = exhaustive.search_exhaustively(trial.make, trial.rules(), 200, 60.0)
    assert covered.broken is None and covered.states > 200 and not covered.complete
    deadline = time.monotonic() + 30
    while threading.active_count() > threads and time.monotonic() < deadline:
        time.sleep(0.1)
    assert threading.active_count() <= threads, "a world that is needed no more must end"


def test_a_bound_on_an_attribute_of_nodes_holds_or_is_violated(tmp_path: Path) -> None:
    causal = Trial(FLOOD, {"processes": 3, "causal": True}, ("once",), {"broadcasts": 3})
    for most, expected in ((3, False), (0, True)):
        broken, text = checked(Trial(**{**vars(causal), "bounds": {"waiting": most}}), tmp_path)
        assert broken == expected, text
    assert "in waiting, more than 0" in text
    with pytest.raises(UserError, match=r"wait.* no node has"):
        checked(Trial(**{**vars(causal), "bounds": {"wait": 1}}), tmp_path)
    with pytest.raises(UserError, match="--bound NAME=N"):
        parse_bounds(["held=many"])


def test_an_endless_search_is_followed_by_the_shortest_schedules(tmp_path: Path) -> None:
    file = tmp_path / "again.py"
    file.write_text(AGAIN)
    broken, text = checked(Trial(str(file)), tmp_path, every=3000)
    assert broken and "the shortest first" in text and "broken money: " in text


def test_dcs23_passes_and_its_mistakes_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    trial = Trial("dcs23")
    assert schedules.search(trial.make, trial.rules(), 100, 60.0, 1).broken is None
    for kind in (test_dcs_models.RuleOneAtDelivery, test_dcs_models.MaximumAtReception, test_dcs_models.DeliversTwice):
        monkeypatch.setattr(exploration, "KIND", kind)
        found = schedules.search(trial.make, trial.rules(), 2000, 600.0, 1, shrink=False)
        assert found.broken is not None, kind


@pytest.mark.slow
def test_dcs23_with_the_printed_decision_is_caught_in_every_schedule(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exploration, "KIND", test_dcs_models.LateDecision)
    trial = Trial("dcs23", budget={"broadcasts": 2, "calls": 2})
    covered = exhaustive.search_exhaustively(trial.make, trial.rules(), 500_000, 600.0, reduce=True)
    assert covered.broken is not None and covered.broken.startswith("causal order")


AGAIN = """
from causeway import Budget, Checks, Node, ModelStudy


class Account(Node):
    # gives until it hears that it was got, and remembers nothing of what it got

    def on_start(self):
        self.money, self.pending = 10, False

    def give(self):
        self.money -= 1
        self.pending = True
        self.on_timer("again")

    def on_timer(self, key):
        if self.pending:
            self.send(1 - self.id, "give", 10)
            self.set_timer("again", 5)

    def on_packet(self, content, sender, interface):
        if content == "give":
            self.money += 1
            self.send(sender, "got", 10)
        else:
            self.pending = False


def total(model):
    have = sum(node.money for node in model.nodes)
    return None if have == 20 else f"money: {have}"


class Bank(ModelStudy):
    name, title = "bank", "money is kept"
    versions = {"right": Account}
    model_checks = Checks(
        at_end={"total": total}, calls={"give": Account.give}, budget=Budget(broadcasts=0, calls=1), nodes=2
    )
"""


@pytest.mark.parametrize(
    ("budget", "message"),
    [
        ({"early": 2}, "--early needs --late"),
        ({"recover": False}, "--recover and --no-recover need --crashes"),
        ({"moves": 3}, "--moves needs a network with two stations or more"),
        ({"calls": 1}, "--calls needs calls of the study"),
    ],
)
def test_a_budget_that_nothing_can_use_is_refused(budget, message) -> None:
    with pytest.raises(UserError, match=message):
        Trial(FLOOD, budget=budget).check_effect()
    Trial(FLOOD, budget={"crashes": 1, "recover": False}).check_effect()


def test_bounds_are_refused_with_their_own_option() -> None:
    with pytest.raises(UserError, match="'heard' is not a bound; write --bound NAME=N"):
        parse_bounds(["heard"])


def test_checks_of_a_model_study_that_are_a_method_are_refused(tmp_path: Path, causeway_here: Any) -> None:
    """It was a traceback."""
    (tmp_path / "bank.py").write_text(AGAIN.replace("model_checks = Checks(", "model_checks = lambda self: Checks("))
    done = causeway_here("check", str(tmp_path / "bank.py"))
    assert done.returncode == 2, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert "model_checks of study bank is a method; allowed: Checks(...), as in model_checks =" in done.stderr
