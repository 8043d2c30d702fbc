"""A run whose protocol has a mistake fails alone; the others of its campaign go on."""

from __future__ import annotations

import re
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from causeway.analysis import store
from causeway.pycontrol.protocols.icpp18.vectorized import CausalAggregation
from causeway.studies import campaign

TOP = Path(__file__).parents[2]

STUDY = """
from causeway.network.networks import AbstractNetwork, constant_delay
from causeway.network.workload import Segment, Workload
from causeway.pycontrol.node import Node, PerNode
from causeway.studies.study import MS_PS, Params, Study


class Fragile(Node):
    def on_broadcast(self, number, size_bytes):
        self.runtime.fragile[number]


class FragileParams(Params):
    holds: int = 5


class FragileStudy(Study):
    name = "fragile"
    title = "raises where it does not hold"
    Params = FragileParams

    def network(self, params, seed):
        if params.holds < 0:
            raise ZeroDivisionError("a mistake of the study, not of the protocol")
        workload = Workload(2, messages=5, segments=(Segment(0, 100.0),))
        return AbstractNetwork(2, delay=constant_delay(1), workload=workload)

    def protocol(self, params):
        protocol = PerNode(lambda _: Fragile(), 1)
        protocol.fragile = list(range(params.holds))
        return protocol
"""


@pytest.fixture
def jobs(tmp_path: Path) -> list:
    path = tmp_path / "fragile.py"
    path.write_text(STUDY)
    return campaign.plan(str(path), "inline", [{"holds": 3}, {"holds": -1}, {"holds": 5}], 1, 1)


def check(tally: campaign.Tally, jobs: list) -> None:
    assert (tally.done, list(tally.failed)) == (1, [jobs[0].run_id, jobs[1].run_id])
    first, second = tally.failed.values()
    assert (
        first.startswith("node ") and "in on_broadcast(number=3, size_bytes=0): IndexError: list index out of" in first
    )
    assert "fragile.py:10, in on_broadcast: self.runtime.fragile[number]" in first
    assert "pycontrol/node.py" not in first
    assert second.startswith("ZeroDivisionError: a mistake of the study, not of the protocol\n")
    assert "fragile.py:24, in network: raise" in second and "Traceback" not in second


def test_the_others_of_a_campaign_go_on(jobs: list, tmp_path: Path) -> None:
    check(campaign.run_here(jobs, tmp_path / "out", lambda _: None), jobs)


@pytest.mark.spark
def test_the_others_of_a_campaign_on_spark_go_on(jobs: list, tmp_path: Path) -> None:
    check(campaign.run_on_spark(jobs, tmp_path / "out", "local[1]", lambda _: None), jobs)


def test_a_run_for_which_there_is_no_memory_is_reported_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def start(self, context):
        raise MemoryError("Unable to allocate 3 TiB")

    monkeypatch.setattr(CausalAggregation, "start", start)
    tally = campaign.run_here(campaign.plan("icpp18", "inline", [{"nodes": 4}], 1, 1), tmp_path, lambda tally: None)
    (reported,) = tally.failed.values()
    assert reported.startswith("at 0 s: there is not enough memory (Unable to allocate 3 TiB); ")
    assert reported.endswith("choose smaller parameters")


@pytest.mark.slow
def test_a_full_disk_is_reported_with_the_file(tmp_path: Path) -> None:
    jobs = campaign.plan("icpp18", "inline", [{"nodes": 4}], 1, 1)
    campaign.run_here(jobs, tmp_path / "first", lambda tally: None)  # compiles: what is compiled is kept in a file, too
    ran = subprocess.run(
        [sys.executable, "-m", "causeway.cli.main", "run", "icpp18", "--set", "nodes=4", "--out", str(tmp_path)],
        preexec_fn=lambda: (
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN),
            resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)),
        ),
        capture_output=True, text=True, cwd=TOP, check=False,
    )  # fmt: skip
    assert ran.returncode == 1
    assert re.search(rf"causeway: File too large: {tmp_path}/\S+; free some space", ran.stderr)


CHANGING = STUDY.replace(
    "    def protocol(self, params):",
    """    @classmethod
    def published_file(cls):
        from pathlib import Path
        Path(__file__).with_name("described").touch()
        if Path(__file__).with_name("changed").exists():
            import a_module_that_is_gone
        return None

    def protocol(self, params):
        from pathlib import Path
        Path(__file__).with_name("changed").touch()  # somebody edits the code while the run goes on""",
).replace('"fragile"', '"changing"')


def test_a_run_is_committed_even_if_its_study_was_changed_meanwhile(tmp_path: Path) -> None:
    path, out = tmp_path / "changing.py", tmp_path / "out"
    path.write_text(CHANGING)
    jobs = campaign.plan(str(path), "inline", [{}], 1, 1)
    tally = campaign.run_here(jobs, out, lambda _: None)
    assert (tmp_path / "described").exists() and (tmp_path / "changed").exists()
    assert (tally.done, tally.failed) == (1, {})
    assert store.finished_runs(out) == {jobs[0].run_id}


def test_a_study_that_cannot_be_described_fails_before_it_runs_and_alone(tmp_path: Path) -> None:
    path, out = tmp_path / "changing.py", tmp_path / "out"
    path.write_text(CHANGING)
    (tmp_path / "changed").touch()
    (tmp_path / "fragile.py").write_text(STUDY)
    jobs = campaign.plan(str(path), "inline", [{}], 1, 1)
    jobs += campaign.plan(str(tmp_path / "fragile.py"), "inline", [{"holds": 5}], 1, 1)
    tally = campaign.run_here(jobs, out, lambda _: None)
    assert (tally.done, list(tally.failed)) == (1, [jobs[0].run_id])
    assert tally.failed[jobs[0].run_id].startswith("ModuleNotFoundError: No module named 'a_module_that_is_gone'")
