"""The examples of learning: their tables are computed from their runs, and runs by fixed rules are repeated."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("gymnasium")
pytest.importorskip("pettingzoo")

TOP = Path(__file__).resolve().parents[2]
PAGE = TOP / "docs" / "guide" / "14-learning.md"
NAMES = ["learn_retry", "learn_flooding"]


def example(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, TOP / "examples" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def stored(name: str) -> pd.DataFrame:
    return pd.read_csv(TOP / "docs" / "guide" / "numbers" / f"{name}.csv")


def lines_of(table: pd.DataFrame, digits: int) -> list[str]:
    """Return the rows of the page's table."""
    found = []
    for (network, rule), row in table.iterrows():
        means = " | ".join(f"{value:.{digits}f}" for value in row.iloc[:3])
        more = f"{row.learned_more:+.{digits}f} ± {row.interval:.{digits}f}"
        found.append(f"| {network} | {rule} | {means} | {'' if rule == 'learned' else more} |")
    return found


@pytest.mark.parametrize("name", NAMES)
def test_the_tables_of_the_page_are_those_of_the_stored_runs(name):
    runs = stored(name)
    assert set(runs.network) == {"inline", "ns3", "omnet"}
    assert (runs.groupby(["network", "rule"]).seed.nunique() == 10).all()
    wanted = lines_of(example(name).compared(runs), 3 if name == "learn_retry" else 2)
    assert "\n".join(wanted) in PAGE.read_text()


@pytest.mark.parametrize("name, rule, choose", [
    ("learn_retry", "mobile20", lambda seen: [0] * 10),
    ("learn_flooding", "p = 0.6", lambda seen, chances: chances.random() < 0.6),
])  # fmt: skip
def test_a_run_by_a_fixed_rule_is_the_stored_one(name, rule, choose):
    module, runs = example(name), stored(name)
    module.UNSEEN = [1001]
    (row,) = module.evaluate("inline", rule, choose)
    kept = runs[(runs.network == "inline") & (runs.rule == rule) & (runs.seed == 1001)].iloc[0]
    for column, value in row.items():
        assert kept[column] == (pytest.approx(value, abs=2e-6) if isinstance(value, float | np.floating) else value)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_an_example_trains_a_policy_and_prints_the_table_of_its_evaluation(name, tmp_path):
    for library in ("torch", "stable_baselines3", "supersuit"):
        pytest.importorskip(library)
    command = [sys.executable, str(TOP / "examples" / f"{name}.py"), "inline", "--updates", "1", "--seeds", "2"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TOP), *sys.path])}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / f"{name}.zip").stat().st_size > 0 and "<svg" in (tmp_path / f"{name}.svg").read_text()
    runs = pd.read_csv(tmp_path / f"{name}.csv")
    assert set(runs.rule) == set(stored(name).rule) and (runs.groupby("rule").size() == 2).all()
    assert "learned_more" in done.stdout and "nan" not in done.stdout.lower()
