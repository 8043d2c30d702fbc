"""Two stations and two hosts in every order of events: nothing is delivered twice, too early or never."""

from __future__ import annotations

import pytest

from causeway.pycontrol.protocols.mobile.handoff import Handoff
from tests.helpers.mobile_small_model import Action, SmallModel, explore

MOVER, OTHER = 2, 3
ONE_HANDOFF: list[Action] = [("broadcast", MOVER, 0), ("move", MOVER, 1), ("broadcast", OTHER, 0)]
THERE_AND_BACK: list[Action] = [("move", MOVER, 1), ("move", MOVER, 0), ("broadcast", OTHER, 0)]
A_FAILURE: list[Action] = [("broadcast", MOVER, 0), ("fail", MOVER, 0), ("recover", MOVER, 0), ("broadcast", OTHER, 0)]


BOTH_ACKS = pytest.mark.parametrize("ack_intervals", [False, True], ids=["cumulative", "intervals"])


def model(actions: list[Action], losses: int, early_timers: int = 0, ack_intervals: bool = False) -> SmallModel:
    return SmallModel.begin({MOVER: 0, OTHER: 1}, actions, losses, early_timers, ack_intervals)


@BOTH_ACKS
def test_one_message_and_one_handoff_with_a_loss_anywhere(ack_intervals: bool) -> None:
    seen = explore(model(ONE_HANDOFF[1:], losses=1, ack_intervals=ack_intervals))
    assert seen.problems == []
    assert seen.ends > 1, "a loss must lead to more than one end"


def test_the_exploration_finds_a_wrong_handoff(monkeypatch: pytest.MonkeyPatch) -> None:
    real = Handoff._on_rsp1
    monkeypatch.setattr(Handoff, "_on_rsp1", lambda self, m, h: None if self.s.SBuffer.seq_C else real(self, m, h))
    assert explore(model(ONE_HANDOFF[1:], losses=0)).problems != []


@pytest.mark.slow
@BOTH_ACKS
@pytest.mark.parametrize(
    ("actions", "losses", "early_timers"),
    [
        (ONE_HANDOFF, 1, 0),
        (ONE_HANDOFF, 0, 1),
        (THERE_AND_BACK, 1, 1),
        (A_FAILURE, 1, 0),
    ],
    ids=["one handoff, one loss", "a timer at any time", "there and back, one loss", "a failure, one loss"],
)
@pytest.mark.slow
def test_two_messages_in_every_schedule(
    actions: list[Action], losses: int, early_timers: int, ack_intervals: bool
) -> None:
    assert explore(model(actions, losses, early_timers, ack_intervals)).problems == []
