"""Whatever the air, the moves and the failures: causal order, exactly once, nothing owed lost, nothing kept."""

from __future__ import annotations

from heapq import heapify
from typing import Any

import pytest
from hypothesis import given, settings

from causeway.bridge.events import Kind
from causeway.bridge.network import WIRELESS
from causeway.pycontrol.protocols.mobile import Timing
from tests.worlds.drawn import examples
from tests.worlds.mobile_schedules import Schedule, schedules
from tests.worlds.mobile_small_world import SteadyTiming
from tests.worlds.mobile_world import MS_PS, S_PS, Air, World


class CollidingAir(Air):
    """Copies of two hosts that reach a station within 1 ms of each other are both lost."""

    world: World

    def delay_ps(self, content: Any, sender: int, receiver: int) -> int | None:
        if receiver in self.world.host_ids:
            return MS_PS
        alone = [e for e in self.world._queue if not (e[2] == Kind.ARRIVAL and e[3] == receiver and e[5] == WIRELESS)]
        collides = len(alone) < len(self.world._queue)
        heapify(alone)
        self.world._queue[:] = alone
        return None if collides else MS_PS


def joined_after_two_in_step(timing: Timing) -> list[str]:
    """Two hosts that do not hear each other join one station at the same instant; their states half a minute later."""
    air = CollidingAir()
    world = World([(0, 1)], 2, air, timing)
    air.world = world
    for host in world.host_ids:
        world.move(host, 0)
        world.join(host)
    world.run(30 * S_PS)
    return [world.host(host).state.value for host in world.host_ids]


def test_hosts_in_step_do_not_collide_for_ever() -> None:
    assert joined_after_two_in_step(Timing()) == ["estab", "estab"]


def test_without_jitter_they_would() -> None:
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
