"""A test that draws examples draws the same ones every time; `make fuzz` draws others."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from hypothesis import settings

from tests.helpers import drawn

PROFILE = frozenset({"deadline", "derandomize", "database"})
"""The settings of the profiles for all tests."""


@pytest.mark.skipif(settings.get_current_profile_name() == drawn.FUZZ, reason="make fuzz draws anew")
def test_examples_are_the_same_every_time_and_none_has_a_deadline() -> None:
    assert settings.default is not None
    assert settings.default.derandomize and settings.default.deadline is None


def test_no_test_has_a_deadline_or_a_number_of_examples_that_make_fuzz_cannot_raise() -> None:
    wrong = []
    for path in Path(__file__).parent.rglob("*.py"):
        calls = (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call))
        for call in calls if path.name != "drawn.py" else ():
            if isinstance(call.func, ast.Name) and call.func.id == "settings":
                wrong += [
                    f"{path.name}:{call.lineno} {one.arg}"
                    for one in call.keywords
                    if one.arg in PROFILE or (one.arg == "max_examples" and isinstance(one.value, ast.Constant))
                ]
    assert wrong == []
