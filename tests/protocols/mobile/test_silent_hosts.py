"""Hosts that are silent: one that failed is forgotten after T, and one that recovers may acknowledge late."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from causeway.pycontrol.protocols.mobile import Timing
from causeway.pycontrol.protocols.mobile.messages import AckH, AppSH
from tests.helpers.mobile_model import MS_PS, S_PS, Model, WirelessChannel

SPEAKER, LISTENER, SECOND = 2, 3, 4
T_PS = 10 * S_PS


@dataclass
class Watched(WirelessChannel):
    """Notes when the listener acknowledges, and loses copies that are addressed to it while `deaf` is set."""

    deaf: bool = False
    model: Model | None = None
    acknowledged_ps: list[int] = field(default_factory=list)

    def delay_ps(self, content: Any, sender: int, receiver: int) -> int | None:
        if isinstance(content, AckH) and sender == LISTENER and self.model is not None:
            self.acknowledged_ps.append(self.model.now_ps)
        if self.deaf and isinstance(content, AppSH) and receiver == LISTENER:
            return None
        return MS_PS


def a_cell(timing: Timing) -> tuple[Model, Watched]:
    """A speaker and two listeners at station 0, connected."""
    air = Watched()
    model = Model([(0, 1)], 3, air, timing)
    air.model = model
    for host in (SPEAKER, LISTENER, SECOND):
        model.move(host, 0)
        model.join(host)
    model.run(3 * S_PS)
    return model, air


def speak(model: Model, seconds: int) -> None:
    """Let the speaker broadcast once a second."""
    for _ in range(seconds):
        model.broadcast(SPEAKER)
        model.run(S_PS)


@pytest.mark.parametrize(("forget_ps", "kept"), [(0, True), (T_PS, False)])
def test_a_host_that_fails_for_ever_is_forgotten_after_t(forget_ps: int, kept: bool) -> None:
    model, _ = a_cell(Timing(forget_ps=forget_ps))
    speak(model, 3)
    model.fail(LISTENER)
    speak(model, 8)
    assert LISTENER in model.station(0).h, "8 s are less than T"
    assert len(model.station(0).SBuffer) >= 8
    model.fail(SECOND)
    speak(model, 5)
    assert (LISTENER in model.station(0).h) is kept
    assert SECOND in model.station(0).h, "5 s are less than T"
    speak(model, 8)
    model.run(3 * S_PS)
    assert (SECOND in model.station(0).h) is kept
    assert SPEAKER in model.station(0).h
    assert bool(model.station(0).SBuffer) is kept


def test_a_host_that_owed_no_acknowledgement_was_not_silent() -> None:
    """Nobody broadcasts for longer than T. Then the listener, which is alive, misses the copies of 3 s."""
    model, air = a_cell(Timing(forget_ps=T_PS))
    speak(model, 1)
    model.run(2 * T_PS)
    air.deaf = True
    speak(model, 3)
    air.deaf = False
    model.run(10 * S_PS)
    assert model.complaints() == []


@pytest.mark.parametrize(("late", "least_ps", "most_ps"), [(False, 0, 700 * MS_PS), (True, 2 * S_PS, 3100 * MS_PS)])
def test_the_first_acknowledgement_after_a_failure_may_come_2_to_3_s_later(
    late: bool, least_ps: int, most_ps: int
) -> None:
    model, air = a_cell(Timing(late_first_ack=late))
    speak(model, 2)
    model.fail(LISTENER)
    speak(model, 3)
    air.acknowledged_ps.clear()
    recovered_ps = model.now_ps
    model.recover(LISTENER)
    speak(model, 10)
    first_ps, *later_ps = air.acknowledged_ps
    assert least_ps <= first_ps - recovered_ps <= most_ps
    gaps = [b - a for a, b in zip([first_ps, *later_ps], later_ps, strict=False)]
    assert max(gaps) < 2 * S_PS, "only the first one is late"
    model.run(5 * S_PS)
    assert model.complaints() == []
