"""The examples of property tests: the same ones every time, or under `make fuzz` new ones and many more."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

REPEATABLE, FUZZ = "repeatable", "fuzz"
FUZZ_TIMES = 10
"""`make fuzz` draws so many times as many examples."""
USUAL_EXAMPLES = 100
OF_THE_MACHINE = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example)
"""Health checks that go by the clock: a busy machine fails them."""


def register() -> None:
    """Register both profiles, and load the repeatable one; `--hypothesis-profile` loads the other."""
    common = {"deadline": None, "suppress_health_check": [*OF_THE_MACHINE, HealthCheck.function_scoped_fixture]}
    settings.register_profile(REPEATABLE, derandomize=True, database=None, max_examples=USUAL_EXAMPLES, **common)
    settings.register_profile(FUZZ, max_examples=FUZZ_TIMES * USUAL_EXAMPLES, print_blob=True, **common)
    settings.load_profile(REPEATABLE)


def examples(usual: int) -> int:
    """Return the number of examples that a test draws in the loaded profile."""
    return usual * FUZZ_TIMES if settings.get_current_profile_name() == FUZZ else usual
