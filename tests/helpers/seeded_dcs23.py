"""dcs23 as printed, or broken: the seeded mistakes of the tests of its models."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from causeway.pycontrol.protocols.dcs.node import Process
from causeway.studies.dcs23 import exploration
from tests.protocols.dcs import test_dcs_models as known


def _of(kind: type[Process]) -> Callable[[pytest.MonkeyPatch], None]:
    def plant(m: pytest.MonkeyPatch) -> None:
        m.setattr(exploration, "KIND", kind)

    return plant


late_decision = _of(known.LateDecision)
no_incarnation = _of(known.NoIncarnation)
counts_of_the_starter_only = _of(known.CountsOfTheStarterOnly)
removes_the_highest = _of(known.RemovesTheHighest)
rule_one_at_delivery = _of(known.RuleOneAtDelivery)
maximum_at_reception = _of(known.MaximumAtReception)
highest_active_not_asked = _of(known.HighestActiveNotAsked)
inactive_does_not_count = _of(known.InactiveDoesNotCount)
never_reactivates = _of(known.NeverReactivates)
never_blocks = _of(known.NeverBlocks)
ignores_waiting = _of(known.IgnoresWaiting)
delivers_twice = _of(known.DeliversTwice)
