"""A run whose protocol makes a mistake fails alone: the others of its campaign go on."""

from __future__ import annotations

import re
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from causeway.pycontrol.protocols.icpp18.columns import CausalAggregation
from causeway.studies import campaign

TOP = Path(__file__).parents[2]

STUDY = """
from causeway.bridge.network import AbstractNetwork, constant_delay
from causeway.bridge.workload import Segment, Workload
from causeway.pycontrol.node import Node, PerNode
from causeway.studies.study import MS_PS, Params, Study


class Fragile(Node):
    def on_broadcast(self, number, size_bytes):
        self.host.fragile[number]


class FragileParams(Params):
    holds: int = 5


class FragileStudy(Study):
    name = "fragile"
    title = "raises where it does not hold"
    Params = FragileParams

    def network(self, params, seed):
        if params.holds < 0:
            raise ZeroDivisionError("a mistake of the study, not of the protocol")
        return AbstractNetwork(2, constant_delay(1), Workload(2, messages=5, segments=(Segment(0, 100.0),)))

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
    assert "fragile.py:10, in on_broadcast: self.host.fragile[number]" in first
    assert "pycontrol/node.py" not in first
    assert second.startswith("ZeroDivisionError: a mistake of the study, not of the protocol\n")
    assert "fragile.py:24, in network: raise" in second and "Traceback" not in second


def test_the_others_of_a_campaign_go_on(jobs: list, tmp_path: Path) -> None:
    check(campaign.run_here(jobs, tmp_path / "out", lambda _: None), jobs)


@pytest.mark.spark
def test_the_others_of_a_campaign_on_spark_go_on(jobs: list, tmp_path: Path) -> None:
    check(campaign.run_on_spark(jobs, tmp_path / "out", "local[1]", lambda _: None), jobs)


def test_a_run_for_which_there_is_no_memory_is_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def start(self, context):
        raise MemoryError("Unable to allocate 3 TiB")

    monkeypatch.setattr(CausalAggregation, "start", start)
    tally = campaign.run_here(campaign.plan("icpp18", "inline", [{"nodes": 4}], 1, 1), tmp_path, lambda tally: None)
    assert list(tally.failed.values()) == ["this machine has not the memory for it; choose smaller parameters"]


def test_a_full_disk_is_told_with_the_file(tmp_path: Path) -> None:
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
    assert re.search(rf"causeway: File too large: {tmp_path}/\S+; free some space and say it again", ran.stderr)
