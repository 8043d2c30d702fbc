"""A run that changes values of a user's own module says so: the next run in the process begins with them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import causeway as cw
from causeway.studies.runner import Job, run_job
from tests.studies.test_run import environment

STUDY = """
from collections import Counter
from itertools import count
import causeway as cw
import beside

SEEN, KEPT, NUMBERS, CONSTANT, TOTAL, COUNTED = [], {{"deep": [1]}}, count(), {{"a": [1]}}, 0, Counter()


class Flood(cw.Node):
    not_state = frozenset({{"COUNTED"}})

    def on_start(self):
        self.heard = set()

    def on_broadcast(self, number, size_bytes):
        self.on_packet(self.new_message(), self.id, 0)

    def on_packet(self, message, sender, interface):
        global TOTAL
        COUNTED["packets"] += 1
        if message not in self.heard:
            {change}
            self.heard.add(message)
            self.deliver(message)
            self.send(cw.EVERYONE, message)


class Floods(cw.Study):
    name = title = "floods"

    def network(self, params, seed):
        return cw.AbstractNetwork(3, workload=cw.poisson(5, messages=4))

    def protocol(self, params):
        return cw.PerNode(Flood)
"""
CHANGES = {
    "SEEN.append(message)": "study.py: SEEN (list) was",
    "KEPT['deep'].append(message)": "study.py: KEPT (dict) was",
    "next(NUMBERS)": "study.py: NUMBERS (count) was",
    "TOTAL += 1": "study.py: TOTAL (int) was",
    "beside.ALL.add(len(beside.ALL))": "beside.py: ALL (set) was",
    "pass": "",
}


def study(folder: Path, change: str) -> Path:
    (folder / "beside.py").write_text("ALL = set()\n")
    file = folder / "study.py"
    file.write_text(STUDY.format(change=change))
    return file


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_value_of_a_module_is_named(change: str, tmp_path: Path) -> None:
    job = Job(str(study(tmp_path, change)), {}, 1, "inline")
    for _ in range(2):
        warnings = run_job(job).warnings
        assert [warning.partition(" changed")[0] for warning in warnings] == [CHANGES[change]] * bool(CHANGES[change])


class Quiet(cw.Node):
    def on_broadcast(self, number, size_bytes):
        pass


LIST: list[int] = []
LARGE = list(range(100_000))


class Listing(cw.Node):
    def on_start(self) -> None:
        LIST.append(self.id)


class ListingLarge(cw.Node):
    def on_start(self) -> None:
        LARGE.append(self.id)


def test_python_says_it_once(capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):
        cw.run(Listing, cw.AbstractNetwork(3))
        cw.run(ListingLarge, cw.AbstractNetwork(3))
        cw.run(Quiet, cw.AbstractNetwork(3))
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(" was ")[0] for line in lines] == [
        "causeway: warning: test_module_values.py: LIST (list)",
        "causeway: warning: test_module_values.py: LARGE (list)",
    ]


def test_what_the_caller_changes_between_steps_is_not_the_runs_doing(capsys: pytest.CaptureFixture[str]) -> None:
    with cw.simulation(Quiet, cw.AbstractNetwork(3), broadcasts=cw.poisson(5, messages=5)) as simulation:
        while simulation.step():
            LIST.append(simulation.now_ps)
        simulation.result()
    assert capsys.readouterr().err == ""


@pytest.mark.slow
def test_the_command_shows_it_with_the_results(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "causeway.cli.main", "run", str(study(tmp_path, "SEEN.append(1)")), "--reps", "3"]
    for jobs in ("1", "2"):
        out = ["--out", str(tmp_path / jobs), "--jobs", jobs]
        done = subprocess.run([*command, *out], cwd=tmp_path, capture_output=True, text=True, env=environment())
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stdout.count("warning: study.py: SEEN (list) was changed during the run") == 1
