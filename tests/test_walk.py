"""The walk of one number in CONTRIBUTING.md."""

from __future__ import annotations

from functools import cache

import pytest

from causeway.bridge import engines
from tests.helpers import walk

pytestmark = pytest.mark.slow
steps = cache(walk.steps)


def test_the_page_shows_the_modules_that_a_campaign_enters() -> None:
    page = walk.page({"inline": steps("inline")})
    assert page == walk.PAGE.read_text(), "run `python -m tests.helpers.walk`"


def test_a_walk_has_at_most_forty_steps_with_a_sentence_each() -> None:
    modules = steps("inline")
    assert len(modules) <= 40
    assert {"cli/run.py", "pycontrol/loop.py", "bridge/engines/inline.py", "analysis/kinds/line.py"} <= set(modules)
    assert [module for module in modules if not walk.summary(module).endswith(".")] == []


@pytest.mark.ns3
@pytest.mark.skipif(bool(engines.get("ns3").missing()), reason="ns-3 is not installed")
def test_the_page_shows_the_further_modules_of_a_campaign_on_ns3() -> None:
    page = walk.page({"inline": steps("inline"), "ns3": steps("ns3")})
    assert page == walk.PAGE.read_text(), "run `python -m tests.helpers.walk`"
