"""Values that a script changes before `run` or `sweep` are used in every process, and lead to new runs."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import causeway as cw
from tests.helpers.toy_study import ToyStudy
from tests.studies.test_run import FLOOD, NETWORK, Echo, environment

LOAD = cw.poisson(50, messages=20)
LIMIT = 3


class ByGlobal(Echo):
    most = 20

    def on_packet(self, content: int, sender: int, interface: int) -> None:
        if content < min(LIMIT, self.most):
            super().on_packet(content, sender, interface)


class Louder(ToyStudy):
    factor = 1

    def protocol(self, params: Any) -> cw.Protocol:
        return cw.PerNode(type(f"By{self.factor}", (ByGlobal,), {"most": self.factor}))


class Locked(Echo):
    most = 20
    lock = threading.Lock()


@pytest.mark.slow
@pytest.mark.parametrize("protocol", [ByGlobal, lambda id_: ByGlobal()])
def test_the_numbers_of_a_sweep_do_not_depend_on_the_number_of_processes(
    protocol: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def found(jobs: int) -> list[list[Any]]:
        table = cw.sweep(protocol, {}, NETWORK, broadcasts=LOAD, seeds=[1, 2], jobs=jobs)
        return table.frame()[["seed", "digest", "deliveries"]].values.tolist()

    before = found(2)
    monkeypatch.setattr(sys.modules[__name__], "LIMIT", 15)
    monkeypatch.setattr(ByGlobal, "most", 12)
    assert found(2) == found(1) != before


def test_a_changed_value_of_a_study_leads_to_a_new_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def deliveries() -> float:
        return cw.run(Louder, params={"messages": 20}, out=tmp_path).scalars["deliveries"]

    before = deliveries()
    monkeypatch.setattr(Louder, "factor", 3)
    assert deliveries() > before


class Holding(ToyStudy):
    def __init__(self) -> None:
        self.lock = threading.Lock()


CALLS = {
    "run": lambda out: cw.run(Locked, NETWORK, broadcasts=LOAD, out=out),
    "sweep": lambda out: cw.sweep(Locked, {}, NETWORK, broadcasts=LOAD, seeds=[1], jobs=1, out=out),
    "compare": lambda out: cw.compare(Locked, Echo, NETWORK, broadcasts=LOAD, seeds=[1, 2], jobs=1, out=out),
    "a study": lambda out: cw.run(Holding(), params={"messages": 20}, out=out),
    "processes": lambda out: cw.sweep(Locked, {}, NETWORK, broadcasts=LOAD, seeds=[1, 2], jobs=2),
}


@pytest.mark.parametrize("call", CALLS)
def test_a_study_that_cannot_be_pickled_is_not_stored(call: str, tmp_path: Path) -> None:
    with pytest.raises(cw.UserError, match=r"contains an object that cannot be pickled \(an open file, a lock\)"):
        CALLS[call](tmp_path)


@pytest.mark.slow
def test_a_class_below_the_guard_of_a_script_can_be_swept(tmp_path: Path) -> None:
    text = """
    class Quiet(Flooder):
        def on_packet(self, message, sender, interface):
            pass

    print(cw.sweep(Quiet, {}, cw.AbstractNetwork(3), broadcasts=cw.poisson(5, messages=5), jobs=2).frame().shape[0])
"""
    (tmp_path / "quiet.py").write_text(FLOOD + text)
    done = subprocess.run([sys.executable, "quiet.py"], cwd=tmp_path, capture_output=True, text=True, env=environment())
    assert done.stdout == "5\n", done.stderr


@pytest.mark.slow
def test_a_script_finds_the_runs_of_its_study_again(tmp_path: Path) -> None:
    text = """
import causeway as cw


class Beat(cw.Node):
    def on_start(self):
        self.set_timer("beat", cw.seconds(1))

    def on_timer(self, key):
        self.record("beat", 1)


class Beats(cw.Study):
    name = title = "beats"

    class Params(cw.Params):
        nodes: int = 3

    def network(self, params, seed):
        return cw.AbstractNetwork(params.nodes)

    def protocol(self, params):
        return cw.PerNode(Beat)


if __name__ == "__main__":
    run = cw.run(Beats, out="results")
    print(run.run_id, run.wall_s)
"""
    (tmp_path / "beats.py").write_text(text)
    command = [sys.executable, "beats.py"]
    said = [subprocess.run(command, cwd=tmp_path, capture_output=True, env=environment()).stdout for _ in range(2)]
    assert said[0] == said[1] != b""
