"""`causeway.sweep` and `causeway.compare`: many runs from Python."""

from __future__ import annotations

import math
import os
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import causeway as cw
from tests.helpers.toy_study import ToyStudy
from tests.studies.test_run import FLOOD, NETWORK, Echo, Sized, environment

LOAD = cw.poisson(50, messages=10)


def swept(points: Any = None, **changes: Any) -> cw.Sweep:
    given = {"network": NETWORK, "seeds": range(3), "broadcasts": LOAD, "jobs": 1, **changes}
    return cw.sweep(given.pop("protocol", Echo), points or {"loss": [0.0, 0.5]}, given.pop("network"), **given)


def test_a_sweep_has_a_row_for_each_point_and_seed_which_are_those_of_single_runs() -> None:
    frame = swept({"loss": [0.0, 0.5], "send_ps": [0, 10**6]}).frame()
    assert len(frame) == 12 and set(frame["seed"]) == {0, 1, 2}
    row = frame[(frame["loss"] == 0.5) & (frame["send_ps"] == 10**6) & (frame["seed"] == 2)].iloc[0]
    alone = cw.run(Echo, NETWORK, broadcasts=LOAD, params={"loss": 0.5, "send_ps": 10**6}, seed=2)
    assert (row["digest"], row["deliveries"]) == (alone.digest, alone.scalars["deliveries"])


def test_a_summary_has_means_and_students_intervals() -> None:
    table = swept(seeds=range(5))
    summary = table.summary("deliveries").set_index("loss")
    values = table.frame().query("loss == 0.5")["deliveries"].tolist()
    mean, half = statistics.mean(values), 2.776445 * statistics.stdev(values) / math.sqrt(5)
    found = summary.loc[0.5]
    assert found["runs"] == 5
    assert found["deliveries"] == pytest.approx(mean)
    assert (found["deliveries_low"], found["deliveries_high"]) == pytest.approx((mean - half, mean + half))
    assert summary.loc[0.0, "deliveries_low"] == summary.loc[0.0, "deliveries_high"] == 50
    with pytest.raises(cw.UserError, match="no run has a scalar 'delays'"):
        table.summary("delays")


def test_a_study_sweeps_its_parameters() -> None:
    frame = cw.sweep(ToyStudy, [{"rate": 20.0}, {"messages": 30}], seeds=[4], jobs=1).frame()
    assert frame["messages"].tolist() == [200, 30]


def test_a_folder_keeps_the_runs(tmp_path: Path) -> None:
    first = swept(out=tmp_path).frame()
    assert swept(out=tmp_path).frame()["wall_s"].tolist() == first["wall_s"].tolist()


def test_a_comparison_pairs_runs_of_one_seed() -> None:
    table = cw.compare(Echo, Sized, NETWORK, seeds=range(6), broadcasts=LOAD, jobs=1)
    assert list(table.columns) == ["Echo", "Sized", "difference", "low", "high"]
    assert table.loc["deliveries", ["difference", "low", "high"]].tolist() == [0, 0, 0], "the same, seed by seed"
    same = cw.compare(Echo, Echo, NETWORK, seeds=range(2), broadcasts=LOAD, jobs=1)
    assert list(same.columns)[:2] == ["Echo (first)", "Echo (second)"]


class Lazy(Echo):
    def on_packet(self, content: int, sender: int, interface: int) -> None:
        if self.id % 2:
            super().on_packet(content, sender, interface)


def test_the_interval_of_a_comparison_is_that_of_the_differences() -> None:
    table = cw.compare(Echo, Lazy, NETWORK, seeds=range(6), broadcasts=LOAD, jobs=1)
    one = [cw.run(Echo, NETWORK, broadcasts=LOAD, seed=s).scalars["deliveries"] for s in range(6)]
    two = [cw.run(Lazy, NETWORK, broadcasts=LOAD, seed=s).scalars["deliveries"] for s in range(6)]
    differences = [b - a for a, b in zip(one, two, strict=True)]
    half = 2.570582 * statistics.stdev(differences) / math.sqrt(6)
    found = table.loc["deliveries"]
    assert found["difference"] == pytest.approx(statistics.mean(differences)) and found["high"] < 0
    assert (found["low"], found["high"]) == pytest.approx(
        (statistics.mean(differences) - half, statistics.mean(differences) + half)
    )


MISTAKES = {
    "no seeds": (lambda: swept(seeds=[]), "seeds is empty; give at least one, as in seeds=range"),
    "unknown": (lambda: swept({"los": [0.1]}), "unknown parameter of Echo and its network 'los'; did you mean 'loss'"),
    "of a study": (
        lambda: cw.sweep(ToyStudy, {"rat": [1]}),
        "unknown parameter of study toy 'rat'; did you mean 'rate'",
    ),
    "no list": (
        lambda: swept({"loss": 0.1}),
        r"parameter loss of the sweep is 0.1; allowed: a list of values, \[0.1\]",
    ),
    "no value": (lambda: swept({"loss": []}), "the sweep has no point"),
    "one seed": (lambda: cw.compare(Echo, Sized, NETWORK, seeds=[1]), "compare needs at least two seeds"),
    "jobs": (lambda: swept(jobs=0), "allowed: a whole number, at least 1"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_an_error_of_one_line_with_the_remedy(mistake: str) -> None:
    call, words = MISTAKES[mistake]
    with pytest.raises(cw.UserError, match=words) as caught:
        call()
    assert "\n" not in str(caught.value)


SWEEP = """
    def network(count):
        return cw.AbstractNetwork(count, loss=0.3)

    table = cw.sweep(
        Flooder, {"count": [3, 4, 5, 6]}, network, broadcasts=cw.poisson(50, messages=MESSAGES), seeds=range(3), jobs=2
    )
    print(table.interrupted, len(table.frame()), flush=True)
    print(table.summary("deliveries"))
"""


@pytest.mark.slow
def test_a_script_sweeps_in_worker_processes_that_import_it_again(tmp_path: Path) -> None:
    (tmp_path / "flood.py").write_text(FLOOD + SWEEP.replace("MESSAGES", "20"))
    done = subprocess.run([sys.executable, "flood.py"], cwd=tmp_path, capture_output=True, text=True, env=environment())
    assert done.stdout.startswith("False 12\n"), done.stderr
    assert [path.name for path in tmp_path.iterdir() if path.name != "__pycache__"] == ["flood.py"]


@pytest.mark.slow
def test_a_script_without_a_guard_is_an_error_with_the_remedy(tmp_path: Path) -> None:
    text = (FLOOD + SWEEP.replace("MESSAGES", "20")).replace('if __name__ == "__main__":', "if True:")
    (tmp_path / "flood.py").write_text(text)
    done = subprocess.run([sys.executable, "flood.py"], cwd=tmp_path, capture_output=True, text=True, env=environment())
    assert 'move the call below if __name__ == "__main__":' in done.stderr


@pytest.mark.slow
def test_an_interrupted_sweep_keeps_what_is_finished(tmp_path: Path) -> None:
    """Interrupt it once the first run is in the folder, long before the last one can be."""
    long = SWEEP.replace("MESSAGES", "20_000").replace("jobs=2", 'jobs=2, out="out"')
    (tmp_path / "flood.py").write_text(FLOOD + long)
    running = subprocess.Popen(
        [sys.executable, "flood.py"], cwd=tmp_path, stdout=subprocess.PIPE, text=True, env=environment(),
        start_new_session=True,
    )  # fmt: skip
    while running.poll() is None and not list((tmp_path / "out").rglob("*.parquet")):
        time.sleep(0.1)
    os.kill(running.pid, signal.SIGINT)
    said, _ = running.communicate(timeout=60)
    assert said.startswith("True "), said


@pytest.mark.parametrize(
    ("points", "seeds", "words"),
    [
        ({"loss": [0.1, 0.1]}, [1], "2 points of the sweep are only 1 different ones, such as loss=0.1; give each"),
        ([{"loss": 0.1}, {"loss": 0.2}, {"loss": 0.1}], [1, 2], "3 points of the sweep are only 2 different ones"),
        ({"loss": [0.1]}, [1, 2, 1], "seed 1 is given twice, but its runs are equal; give each seed once"),
    ],
)
def test_equal_points_and_seeds_are_refused(points: Any, seeds: list[int], words: str) -> None:
    with pytest.raises(cw.UserError, match=words):
        cw.sweep(Echo, points, cw.AbstractNetwork(3), seeds=seeds, broadcasts=cw.poisson(5, messages=2))
