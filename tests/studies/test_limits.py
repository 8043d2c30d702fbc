"""Impossible numbers of a run are refused with a message before they become picoseconds, whatever their type."""

from __future__ import annotations

from typing import Any

import pytest

from causeway.errors import UserError
from causeway.studies.limits import check_spec
from tests.helpers.bridge_tools import small_spec


def test_a_duration_in_seconds_is_refused_since_times_are_picoseconds() -> None:
    """It used to be a run without events that ended without an error."""
    with pytest.raises(UserError, match=r"duration_ps is 30 ps, less than the reaction time .* as seconds\(30\)"):
        check_spec(small_spec(duration_ps=30))


def test_a_value_of_another_type_is_left_to_the_check_of_the_engine() -> None:
    nothing: Any = None
    check_spec(small_spec(duration_ps=nothing))
