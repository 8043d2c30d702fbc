"""Whatever the air, the moves and the failures: causal order, exactly once, nothing owed lost, nothing kept."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from mobile_schedules import Schedule, schedules

LENIENT = {"deadline": None, "suppress_health_check": list(HealthCheck), "database": None, "derandomize": True}


def check(schedule: Schedule) -> None:
    assert schedule.play().complaints() == []


@settings(max_examples=60, **LENIENT)
@given(schedules())
def test_an_adversarial_schedule_loses_and_repeats_nothing(schedule: Schedule) -> None:
    check(schedule)


@pytest.mark.slow
@settings(max_examples=2000, **LENIENT)
@given(schedules())
def test_two_thousand_adversarial_schedules_lose_and_repeat_nothing(schedule: Schedule) -> None:
    check(schedule)
