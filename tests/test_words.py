"""Former names are not used any more. The list stays for one release; then this test is removed.

Formats that are written and read (the contract, result folders, recordings) keep their names, and so do former public
names, which warn.
"""

from __future__ import annotations

import ast
import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[1]
SUFFIXES = (".py", ".md", ".cc", ".h", ".toml", "Makefile")
ABOUT_NAMES = ("tests/test_words.py", "tests/test_deprecated.py", "causeway/deprecated.py", "CHANGELOG.md")
"""Files that say what was renamed."""

GIVEN_UP = {
    "adapter": r"\bEdgeBase\b|\bbuild_edges\b|\bedge_of\b|\b(?:ns-3|C\+\+|OMNeT\+\+) edges?\b|\bmake edges\b",
    "validation": r"\bborder_(?:kernel|words)\b|\bBorder\b|\bchecked_scalars\b|\bpycontrol[./]given\b",
    "lookahead": r"\bPatience\w*|\b_?patience_s\b|\bpatient\(|\.ignore\([A-Z]|\btake_promises\b|\bcheck_promise\b",
    "modules": r"\bROOMS\b",
    "model": r"\b(?:Mobile|Make|Small|Fifo)World\b|\bSmall(?:Study|Params)\b|\btests[./]worlds\b",
    "random schedule": r"\bmade_up_orders?\b",
    "exhaustive search": r"\bevery_order\(|check[./]orders\b",
    "fault": r"\b\w*mischief\w*\b|\bTroubleMap\b|\bTroubleRows\b|\btrouble=|\brandom_cuts\b|\bis_cut\b|\bWireTrouble\b",
    "link failure": r"\bCut\(",
    "quiescent, symmetric": r"\bat_rest\b|\bAT_REST\b|\bAlike\b|\bmake_alike\b|\bMOST_ALIKE\b|\balike=",
    "FaultBudget": r"\bPurse\b|\bone_purse\b|\bpurses\b",
    "ScheduleProfile": r"\bTemper\b",
    "NodeStub": r"\bDesk\b",
    "CallFilter": r"\b[Mm]uted\b",
    "ReplayMachine": r"\bRetoldMachine\b",
    "ExternalProject": r"\bTheirs\(|\bplan_theirs\b|\bjob\.theirs\b|studies[./]theirs\b",
    "ExternalProcess": r"\bStranger\b",
    "committed": r"\b_?landing(?:_in)?\(|\b_Landed\b|\b_landed\w*\b",
    "reported": r"\b_?told\s*(?:\(|=(?!=))|\bdef _?tell\(|\btell_observers\b|\btell_many\b|\btold_of_compiling\b",
    "collect_scalars": r"\bnumbers_of\(|\b_asked\(",
    "wireless channel": r"\bAirPhy\b|class Air\b",
}
"""The current term -> the former ones."""

KEPT = {
    "pycontrol/services.py": r"def patient\(",
    "network/networks.py": "former_names",
    "explore/checks.py": "former_names",
    "tests/aio/test_as_asyncio.py": r"def tell\(",
    "proto/causeway.proto": r".*",
}
"""Uses that stay: former public names, and words of another sense."""


@cache
def lines() -> list[tuple[str, int, str]]:
    """Return path, number and text of every line of code and docs."""
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=TOP, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    found = []
    for name in tracked:
        path = TOP / name
        if name.endswith(SUFFIXES) and name not in ABOUT_NAMES and path.is_file() and not path.is_symlink():
            found += [(name, number, line) for number, line in enumerate(path.read_text().splitlines(), 1)]
    return found


@pytest.mark.parametrize("now", GIVEN_UP)
def test_a_name_that_was_given_up_is_nowhere(now: str) -> None:
    before = re.compile(GIVEN_UP[now])
    left = [
        f"{name}:{number}: {line.strip()}"
        for name, number, line in lines()
        if before.search(line) and not (name in KEPT and re.search(KEPT[name], line))
    ]
    assert left == [], f"say {now}"


RIDDLES = ("What ", "Whatever ", "Whether ", "Who ", "Whom ", "Whose ", "Where ", "Which ", "So long", "So many")
"""Openings of docstrings that name nothing."""


def docstrings() -> list[tuple[str, int, str]]:
    """Return path, line and text of the docstrings of modules, classes, functions and attributes."""
    found = []
    for path in sorted({name for name, _, _ in lines() if name.endswith(".py")}):
        for node in ast.walk(ast.parse((TOP / path).read_text())):
            if (
                isinstance(node, ast.Expr)
                and isinstance(node.value, ast.Constant)
                and isinstance(node.value.value, str)
            ):
                found.append((path, node.lineno, node.value.value))
    return found


def test_a_docstring_names_the_thing_or_begins_with_a_verb() -> None:
    assert [f"{path}:{line}: {text[:80]}" for path, line, text in docstrings() if text.startswith(RIDDLES)] == []
