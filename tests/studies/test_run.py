"""`causeway.run`: a protocol on a network from Python, with the results of the command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

import causeway as cw
from tests.helpers import toy_study
from tests.helpers.toy_study import ToyStudy

TOP = Path(__file__).parents[2]
S = 10**12
NETWORK = cw.AbstractNetwork(5, loss=0.2)
FLOOD = """
import causeway as cw


class Flooder(cw.Node):
    def on_start(self):
        self.heard = set()

    def on_broadcast(self, number, size_bytes):
        self.take(self.new_message())

    def on_packet(self, message, sender, interface):
        if message not in self.heard:
            self.take(message)

    def take(self, message):
        self.heard.add(message)
        self.deliver(message)
        self.send(cw.EVERYONE, message, 100)


if __name__ == "__main__":
"""


class Echo(cw.Node):
    """Sends each message once.

    More of it.
    """

    def on_start(self) -> None:
        self.heard: list[int] = []

    def on_broadcast(self, number: int, size_bytes: int) -> None:
        message = self.new_message()
        self.deliver(message)
        self.send(cw.EVERYONE, message, size_bytes)

    def on_packet(self, content: int, sender: int, interface: int) -> None:
        self.heard.append(content)
        self.deliver(content)
        self.record("heard", len(self.heard))


class Ticker(cw.Node):
    def on_start(self) -> None:
        self.set_timer("tick", S)

    def on_timer(self, key: object) -> None:
        self.set_timer("tick", S)


@dataclass
class Sized(Echo):
    bytes: int = 10

    def on_broadcast(self, number: int, size_bytes: int) -> None:
        self.deliver(message := self.new_message())
        self.send(cw.EVERYONE, message, self.bytes)


def run(**changes: Any) -> cw.Run[Echo]:
    return cw.run(Echo, changes.pop("network", NETWORK), **{"broadcasts": cw.poisson(50, messages=20), **changes})


def test_a_run_has_scalars_tables_and_the_final_state_of_its_nodes() -> None:
    found = run()
    assert found.scalars["messages"] == 20 and found.engine == "inline" and len(found.digest) == 32
    assert sum(len(node.heard) for node in found.nodes) + 20 == found.scalars["deliveries"]
    samples = found.frame("samples")
    assert list(samples.columns) == ["module", "name", "time_s", "value"]
    assert len(samples) == sum(len(node.heard) for node in found.nodes)
    assert found.frame("runs")["digest"].tolist() == [found.digest]
    with pytest.raises(cw.UserError, match="unknown table of a run 'sample'; did you mean 'samples'"):
        found.frame("sample")
    assert "deliveries" in repr(found) and "seed 1" in repr(found) and "<table>" in found._repr_html_()


def test_equal_runs_are_equal_and_another_seed_or_network_is_not() -> None:
    assert run() == run()
    assert run(seed=2).digest != run().digest != run(network=replace(NETWORK, loss=0.5)).digest


def test_a_study_gives_the_digest_of_the_command(tmp_path: Path) -> None:
    digests = {
        cw.run(source, params={"messages": 20}).digest
        for source in (ToyStudy, ToyStudy(), toy_study.__file__, Path(str(toy_study.__file__)))
    }
    command = [sys.executable, "-m", "causeway.cli.main", "run", toy_study.__file__, "--set", "messages=20", "--json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True, env=environment())
    assert digests == {json.loads(done.stdout)["digest"]}


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(TOP)}


def test_a_folder_stores_the_run_and_returns_it_again(tmp_path: Path) -> None:
    first, again = run(out=tmp_path), run(out=tmp_path)
    assert first == again and len(first.nodes) == 5 and len(again.nodes) == 0
    assert again.frame("samples").equals(first.frame("samples"))
    assert again.wall_s == first.wall_s, "it was not made again"


def test_a_run_of_a_folder_is_recorded_when_a_recording_is_asked_for(tmp_path: Path) -> None:
    first = run(out=tmp_path)
    assert run(out=tmp_path, record=tmp_path / "late.frames") == first
    assert (tmp_path / "late.frames").stat().st_size > 0


def test_a_file_is_no_result_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for out in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(cw.UserError, match=r"file.* cannot be a result folder: .*; choose another out="):
            run(out=out)


@pytest.mark.parametrize("nodes", [6.5, "6", True])
def test_a_network_has_a_whole_number_of_nodes(nodes: Any) -> None:
    with pytest.raises(cw.UserError, match=r"AbstractNetwork: nodes is .*; allowed: "):
        cw.AbstractNetwork(nodes)


def limited(most: int) -> type[cw.Node]:
    class Limited(Echo):
        def on_packet(self, content: int, sender: int, interface: int) -> None:
            if content < most:
                super().on_packet(content, sender, interface)

    return Limited


LIMIT = 3


class ByGlobal(Echo):
    def on_packet(self, content: int, sender: int, interface: int) -> None:
        if content < LIMIT:
            super().on_packet(content, sender, interface)


def test_a_run_with_other_values_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run depends on values in a function's closure, global variables, the network, the load and the end."""

    def deliveries(protocol: Any, **changes: Any) -> float:
        given = {"network": NETWORK, "broadcasts": cw.poisson(50, messages=20), "out": tmp_path, **changes}
        return cw.run(protocol, given.pop("network"), **given).scalars["deliveries"]

    assert deliveries(limited(3)) < deliveries(limited(10)) < deliveries(limited(20))
    before = deliveries(ByGlobal)
    monkeypatch.setattr(sys.modules[__name__], "LIMIT", 15)
    assert deliveries(ByGlobal) > before
    assert len({deliveries(Echo, network=replace(NETWORK, loss=loss)) for loss in (0.0, 0.5)}) == 2
    assert len({deliveries(Echo, broadcasts=cw.poisson(50, messages=n)) for n in (10, 30)}) == 2
    assert deliveries(Echo, until=S // 10) < deliveries(Echo)


def test_parameters_go_to_the_class_and_to_the_function_of_the_network() -> None:
    def network(count: int, loss: float, seed: int) -> cw.AbstractNetwork:
        assert seed == 7
        return cw.AbstractNetwork(count, loss=loss)

    found = cw.run(
        Sized, network, broadcasts=cw.poisson(50, messages=5), params={"count": 4, "loss": 0.0, "bytes": 33}, seed=7
    )
    assert len(found.nodes) == 4 and {node.bytes for node in found.nodes} == {33}
    assert found.frame("parameters").set_index("name").loc["count", "number"] == 4


def test_a_function_of_an_id_and_a_function_that_makes_a_protocol_are_taken() -> None:
    whole = run().digest
    assert cw.run(lambda id_: Echo(), NETWORK, broadcasts=cw.poisson(50, messages=20)).digest == whole
    assert cw.run(lambda: cw.PerNode(Echo), NETWORK, broadcasts=cw.poisson(50, messages=20)).digest == whole


def test_a_script_defines_the_nodes_and_times_of_broadcasts() -> None:
    import numpy as np

    script = cw.Script(np.array([S]), np.array([3]), np.array([100]))
    assert cw.run(Echo, NETWORK, broadcasts=script).scalars["messages"] == 1


def test_a_run_explains_its_first_violation_and_draws_it(tmp_path: Path) -> None:
    found = cw.run(toy_study.ToyStudy, params={"messages": 50})
    assert found.scalars["violations"] > 0
    text = found.explain(tmp_path / "why.html")
    assert "delivers message" in text.splitlines()[0] and "<svg" in (tmp_path / "why.html").read_text()
    assert cw.run(Echo, cw.AbstractNetwork(3)).explain() == "the run has no violation"


def test_a_recording_replays(tmp_path: Path) -> None:
    file = tmp_path / "run.frames"
    cw.run("hash", params={"processes": 10, "messages": 20, "entries": 4}, record=file, engine="inline")
    command = [sys.executable, "-m", "causeway.cli.main", "replay", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment())
    assert "the same answers" in done.stdout, done.stderr


def test_the_observers_are_those_given() -> None:
    assert "violations" not in run(observers=lambda nodes: []).scalars


def test_a_handlers_error_is_one_of_the_run_and_leaves_the_clock_real() -> None:
    import time

    class Broken(Echo):
        def on_packet(self, content: int, sender: int, interface: int) -> None:
            raise ValueError("no")

    with pytest.raises(cw.RunError, match="ValueError: no"):
        cw.run(Broken, NETWORK, broadcasts=cw.poisson(50, messages=5))
    assert time.time() > 1.6e9


MOBILE = cw.MobileNetwork.hexagons(cells=1, hosts=2)
MISTAKES: dict[str, tuple[Callable[[], object], str]] = {
    "no end": (lambda: cw.run(Echo, NETWORK, broadcasts=cw.poisson(5)), r"add until=causeway.seconds\(10\)"),
    "timers for ever": (
        lambda: cw.run(Ticker, NETWORK),
        r"timers are set again and again, or packets wait for .*; add until=causeway",
    ),
    "no builder": (lambda: cw.run(Echo, MOBILE, engine="inline"), "does not run on engine inline; it runs on"),
    "engine": (lambda: cw.run(Echo, NETWORK, engine="inlin"), "unknown engine 'inlin'; did you mean 'inline'"),
    "no node": (lambda: cw.run(dict, NETWORK), r"dict is not a class of nodes; write class dict\(causeway.Node\)"),  # type: ignore[arg-type]
    "an instance": (lambda: cw.run(Echo(), NETWORK), "the protocol is an Echo; .* pass the class, Echo"),  # type: ignore[call-overload]
    "a protocol": (lambda: cw.run(cw.PerNode(Echo), NETWORK), r"each run needs a new one, as in lambda: PerNode"),  # type: ignore[call-overload]
    "no network": (lambda: cw.run(Echo), "Echo needs a network, as in causeway.run"),
    "a number as network": (lambda: cw.run(Echo, 5), "the network is an int; allowed: AbstractNetwork"),  # type: ignore[call-overload]
    "two workloads": (
        lambda: run(network=cw.AbstractNetwork(3, workload=cw.Workload(rate=5))),
        "the network has a workload, and broadcasts=... is another one; remove one of them",
    ),
    "no workload": (lambda: run(broadcasts=50), r"broadcasts is an int; allowed: causeway.poisson\(rate\)"),
    "float": (lambda: run(until=1.5), r"until is 1.5; allowed: a time above 0, as in until=causeway.seconds\(10\)"),
    "seconds": (lambda: run(until=10), "until is 10 ps; allowed: 1 ns and up; times are picoseconds, as seconds"),
    "parameter": (lambda: run(params={"los": 0.1}), "unknown parameter of Echo and its network 'los'.* 'loss'"),
    "a strange one": (lambda: run(params={"loss": object()}), "parameter loss is an object; allowed: numbers, text"),
    "a study's": (lambda: cw.run(ToyStudy, until=5), "until cannot be combined with a study, which has its own"),
    "observers": (lambda: run(observers=[1]), "observers is a list; allowed: a function from the number of nodes"),
    "seed": (lambda: run(seed=-1), "a seed must be at least 0"),
    "a text as seed": (lambda: run(seed="x"), "a seed is 'x'; allowed: whole numbers"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_an_error_of_one_line_with_the_remedy(mistake: str) -> None:
    call, words = MISTAKES[mistake]
    with pytest.raises(cw.UserError, match=words) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_a_study_that_cannot_be_pickled_runs_in_memory_and_is_refused_for_a_folder(tmp_path: Path) -> None:
    import threading

    lock = threading.Lock()
    assert cw.run(lambda id_: (lock, Echo())[1], NETWORK).scalars["messages"] == 0
    with pytest.raises(cw.UserError, match="cannot be pickled"):
        cw.run(lambda id_: (lock, Echo())[1], NETWORK, out=tmp_path)


@pytest.mark.slow
def test_a_script_runs_by_python_file(tmp_path: Path) -> None:
    call = "cw.AbstractNetwork(20, loss=0.3), broadcasts=cw.poisson(50), until=2 * 10**12, seed=1"
    (tmp_path / "flood.py").write_text(FLOOD + f"    print(cw.run(Flooder, {call}))\n")
    done = subprocess.run([sys.executable, "flood.py"], cwd=tmp_path, capture_output=True, text=True, env=environment())
    assert done.returncode == 0 and "violations" in done.stdout, done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["flood.py"]


@pytest.mark.ns3
def test_the_same_nodes_run_on_ns3() -> None:
    network = cw.MobileNetwork.hexagons(cells=1, hosts=5, places_every_ps=S)
    found = cw.run(Echo, network, broadcasts=cw.poisson(5), until=3 * S, engine="ns3")
    assert found.engine_version.startswith("ns-3") and found.scalars["deliveries"] > 0


@pytest.mark.parametrize("table", ["runs", "parameters", "scalars", "samples", "nodes"])
def test_every_table_of_a_run_is_a_frame_with_or_without_rows(table: str) -> None:
    run = cw.run(cw.Node, cw.AbstractNetwork(2))
    assert "run_id" not in run.frame(table).columns


def test_the_workload_of_a_network_follows_its_number_of_nodes() -> None:
    """In a sweep over `nodes`, only the nodes of the first point used to broadcast."""
    network = cw.AbstractNetwork(5, workload=cw.poisson(100, messages=300))
    for changed in (replace(network, nodes=10), replace(replace(network, loss=0.1), nodes=10)):
        assert changed.workload == cw.AbstractNetwork(10, workload=cw.poisson(100, messages=300)).workload
    fixed = cw.AbstractNetwork(5, workload=cw.poisson(100, messages=300, nodes=5))
    assert replace(fixed, nodes=10).workload.nodes == 5
    mobile = cw.MobileNetwork.hexagons(cells=7, hosts=10, workload=cw.poisson(5))
    grown = replace(mobile, hosts=20).workload
    assert (grown.nodes, grown.first_node) == (20, 7)
