"""Each line of the paper that docs/papers/mobile20.md departs from fails as it is printed."""

from __future__ import annotations

import inspect
from collections.abc import Callable

import pytest

from tests.helpers import mobile_quirks
from tests.helpers.mobile_schedules import joining_schedule, random_schedule
from tests.protocols.mobile.test_mutants import first_complaint

Quirk = Callable[[pytest.MonkeyPatch], None]
QUIRKS = [f for _, f in inspect.getmembers(mobile_quirks, inspect.isfunction) if f.__module__ == mobile_quirks.__name__]
IN_JOINS_ONLY = {mobile_quirks.a_join_waits_for_no_delete}


@pytest.mark.parametrize("quirk", QUIRKS, ids=lambda quirk: quirk.__name__)
def test_the_printed_line_fails(quirk: Quirk, monkeypatch: pytest.MonkeyPatch) -> None:
    quirk(monkeypatch)
    assert first_complaint(200, joining_schedule if quirk in IN_JOINS_ONLY else random_schedule) is not None


def test_the_corrected_lines_pass() -> None:
    assert first_complaint(80) is None
    assert first_complaint(40, joining_schedule) is None
