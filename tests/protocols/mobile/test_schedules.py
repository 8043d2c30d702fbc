"""Properties under any losses, moves and failures: causal order, exactly once, no owed message lost, empty buffers."""

from __future__ import annotations

from heapq import heapify
from typing import Any

import pytest
from hypothesis import given, settings

from causeway.bridge.events import Kind
from causeway.network.networks import WIRELESS
from causeway.pycontrol.protocols.mobile import Timing
from tests.helpers.drawn import examples
from tests.helpers.mobile_model import MS_PS, S_PS, Model, WirelessChannel
from tests.helpers.mobile_schedules import Schedule, schedules
from tests.helpers.mobile_small_model import SteadyTiming


class CollidingAir(WirelessChannel):
    """Copies of two hosts that reach a station within 1 ms of each other are both lost."""

    model: Model

    def delay_ps(self, content: Any, sender: int, receiver: int) -> int | None:
        if receiver in self.model.host_ids:
            return MS_PS
        alone = [e for e in self.model._queue if not (e[2] == Kind.ARRIVAL and e[3] == receiver and e[5] == WIRELESS)]
        collides = len(alone) < len(self.model._queue)
        heapify(alone)
        self.model._queue[:] = alone
        return None if collides else MS_PS


def joined_after_two_in_step(timing: Timing) -> list[str]:
    """Let two hosts that do not hear each other join one station at one instant; return their states 30 s later."""
    air = CollidingAir()
    model = Model([(0, 1)], 2, air, timing)
    air.model = model
    for host in model.host_ids:
        model.move(host, 0)
        model.join(host)
    model.run(30 * S_PS)
    return [model.host(host).state.value for host in model.host_ids]


def test_hosts_with_equal_timers_do_not_collide_for_ever() -> None:
    assert joined_after_two_in_step(Timing()) == ["estab", "estab"]


def test_without_jitter_hosts_with_equal_timers_collide_for_ever() -> None:
    assert joined_after_two_in_step(SteadyTiming()) != ["estab", "estab"]


def check(schedule: Schedule, ack_intervals: bool) -> None:
    assert schedule.play(ack_intervals=ack_intervals).complaints() == []


BOTH_ACKS = pytest.mark.parametrize("ack_intervals", [False, True], ids=["cumulative", "intervals"])


@BOTH_ACKS
@settings(max_examples=examples(60))
@given(schedule=schedules())
def test_an_adversarial_schedule_loses_and_repeats_nothing(schedule: Schedule, ack_intervals: bool) -> None:
    check(schedule, ack_intervals)


@pytest.mark.slow
@BOTH_ACKS
@settings(max_examples=examples(2000))
@given(schedule=schedules())
def test_two_thousand_adversarial_schedules_lose_and_repeat_nothing(schedule: Schedule, ack_intervals: bool) -> None:
    check(schedule, ack_intervals)
