"""Impossible numbers of a run are refused with a message before they become picoseconds, whatever their type."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import causeway as cw
from causeway.errors import UserError
from causeway.network.networks import AbstractNetwork, constant_delay
from causeway.studies.limits import check_spec
from tests.helpers.bridge_tools import small_spec


def test_a_duration_in_seconds_is_refused_since_times_are_picoseconds() -> None:
    """It used to be a run without events that ended without an error."""
    with pytest.raises(UserError, match=r"duration_ps is 30 ps, less than the reaction time .* as seconds\(30\)"):
        check_spec(small_spec(duration_ps=30))


def test_a_value_of_another_type_is_left_to_the_check_of_the_engine() -> None:
    nothing: Any = None
    check_spec(small_spec(duration_ps=nothing))


@pytest.mark.parametrize(("delay", "message"), [
    (constant_delay(np.inf), r"delay of a packet \(ps\) is inf"),
    (np.array([]), r"the delays' quantiles is float64, \(0,\); allowed: 16385 floats"),
], ids=["infinite", "empty"])  # fmt: skip
def test_a_delay_that_is_infinite_or_empty_is_refused_by_name(delay: Any, message: str) -> None:
    """The first was called nan, and the second was numpy's own ValueError."""
    with pytest.raises(UserError, match=message):
        cw.run(cw.Node, AbstractNetwork(3, delay=delay))
