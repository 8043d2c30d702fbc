"""Mistakes in the arguments of `cw.run` and `cw.sweep`: one line that says what to do, and no plausible number."""

from __future__ import annotations

import subprocess
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import causeway as cw
from tests.helpers.toy_study import ToyStudy
from tests.studies.test_run import FLOOD, NETWORK, Echo, environment

LOAD = cw.poisson(50, messages=10)


@dataclass
class Lossy(Echo):
    loss: float = 0.0


class Seeded(Echo):
    def __init__(self, seed: int = 0) -> None:
        self.seed = seed


class Mover(Echo):
    def on_start(self) -> None:
        super().on_start()
        self.move(1, 2, 3)


class Renamed(Echo):
    """Gives itself another id, in the handler whose name is `when`."""

    when = "on_start"

    def on_start(self) -> None:
        super().on_start()
        self.id = 7 if self.when == "on_start" else self.id

    def on_timer(self, key: object) -> None: ...

    def on_packet(self, content: int, sender: int, interface: int) -> None:
        self.heard.append(content)
        self.id = 7


class RenamedLater(Renamed):
    when = "on_packet"


class Backwards(Echo):
    def on_start(self) -> None:
        super().on_start()
        self.declare_lookahead(1, -1)


def run(protocol: Any = Echo, network: Any = NETWORK, **changes: Any) -> cw.Run[Any]:
    return cw.run(protocol, network, **{"broadcasts": LOAD, **changes})


def swept(points: Any, protocol: Any = Echo, **changes: Any) -> cw.Sweep:
    return cw.sweep(protocol, points, NETWORK, **{"seeds": [1, 2], "broadcasts": LOAD, "jobs": 1, **changes})


def any_network(seed: int, lost: float = 0.0) -> cw.AbstractNetwork:
    return cw.AbstractNetwork(5, loss=lost)


MISTAKES: dict[str, tuple[Callable[[], Any], str]] = {
    "a parameter that both take": (
        lambda: run(Lossy, params={"loss": 0.3}),
        "both Lossy and AbstractNetwork have a parameter loss, .* rename the parameter of Lossy",
    ),
    "a parameter that both take, swept": (lambda: swept({"loss": [0.3]}, Lossy), "both Lossy and AbstractNetwork"),
    "a seed that both take": (
        lambda: run(Seeded, any_network, params={"seed": 3}),
        "both Seeded and any_network have a parameter seed",
    ),
    "a delay of another type": (
        lambda: cw.AbstractNetwork(5, delay="x"),  # type: ignore[arg-type]
        "AbstractNetwork: delay is 'x'; allowed: .*constant_delay",
    ),
    "a delay in picoseconds": (
        lambda: cw.AbstractNetwork(5, delay=cw.ms(5)),  # type: ignore[arg-type]
        "AbstractNetwork: delay is 5000000000; allowed: .*constant_delay",
    ),
    "points with different parameters": (
        lambda: swept([{"loss": 0.1}, {"recv_ps": 5}]),
        "point 0 of the sweep has no recv_ps, but other points have it; give every point the same parameters",
    ),
    "no folder": (lambda: run(out=""), "out is ''; name a folder, as in out='results', or omit it"),
    "no folder of a sweep": (lambda: swept({"loss": [0.1]}, out=""), "out is ''; name a folder"),
    "a folder with a line break": (lambda: run(out="new\nline"), r"'new\\nline' has a control character in its name"),
    "a folder of another type": (lambda: run(out=b"x"), "out is b'x'; name a folder"),
    "parameters of another type": (lambda: run(params="loss=1"), "params is a str; allowed: a dict, as in params="),
    "a class of networks": (
        lambda: run(network=cw.AbstractNetwork),
        r"AbstractNetwork needs nodes; give it in params, or write a network, as in AbstractNetwork\(20\)",
    ),
    "a rate of another type": (
        lambda: cw.poisson("5"),  # type: ignore[arg-type]
        "a segment was given rate_per_s='5'; allowed: broadcasts per second, a number",
    ),
    "a hot share of no node": (lambda: cw.Segment(0, 5.0, 0.5), "hot_share=0.5, but hot_nodes is 0; set both"),
    "no messages": (lambda: cw.poisson(5, messages=0), "poisson was given messages=0; allowed: 1 and up, or None"),
    "points that are no dicts": (lambda: swept([("loss", 0.1)]), r"a point of the sweep is \('loss', 0.1\); allowed:"),
    "no points": (lambda: swept(None), "a point of the sweep is None; allowed: a dict of lists"),
    "processes of another type": (lambda: swept({"loss": [0.1]}, jobs="2"), "--jobs is '2'; allowed: a whole number"),
    "fractions in a script": (
        lambda: run(broadcasts=cw.Script([0.5], [0], [1])),  # type: ignore[arg-type]
        "the script's time_ps is float64; allowed: whole numbers",
    ),
    "a fraction as a seed": (lambda: run(seed=np.float64(1)), "a seed is .*1.0.*; allowed: whole numbers"),
    "a truth as a number": (
        lambda: run(ToyStudy, None, broadcasts=None, params={"messages": True}),
        "bad value 'True' for parameter messages of study toy.*: it must be a number",
    ),
    "text as seeds": (lambda: swept({"loss": [0.1]}, seeds="12"), "a seed is '1'; allowed: whole numbers"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_gets_one_line_with_the_remedy(mistake: str) -> None:
    call, words = MISTAKES[mistake]
    with pytest.raises(cw.UserError, match=words) as caught:
        call()
    assert "\n" not in str(caught.value)


FAILURES = {
    "move": (Mover, "node 0, at 0 s, in on_start.*: move: only hosts of a MobileNetwork can move"),
    "an id, at once": (Renamed, "node 0, at 0 s, in on_start.*: self.id was changed from 0 to 7"),
    "an id, later": (RenamedLater, r"node \d.*: self.id was changed from \d to 7; give the attribute another name"),
    "a lookahead": (Backwards, "declare_lookahead was given lookahead_ps=-1; allowed: a whole number, 0 to "),
}


@pytest.mark.parametrize("failure", FAILURES)
def test_a_mistake_of_a_node_is_named(failure: str) -> None:
    protocol, words = FAILURES[failure]
    with pytest.raises(cw.RunError, match=words):
        run(protocol)


def test_a_script_may_be_of_lists() -> None:
    lists = cw.Script([10**12, 2 * 10**12], [0, 1], [1, 1])  # type: ignore[arg-type]
    arrays = cw.Script(np.array([10**12, 2 * 10**12]), np.array([0, 1], np.int32), np.array([1, 1], np.int32))
    assert run(broadcasts=lists).digest == run(broadcasts=arrays).digest


INJECTIONS: dict[str, tuple[Callable[[cw.Simulation[Any]], None], str]] = {
    "no function": (lambda sim: sim.inject(0, "on_start"), "'on_start'; allowed: a function of the node, or None"),  # type: ignore[arg-type]
    "a node as a float": (lambda sim: sim.inject(1.0), "node=1.0; allowed: a whole number, 0 to 4"),  # type: ignore[arg-type]
    "an unknown node": (lambda sim: sim.inject(5), "node=5; allowed: a whole number, 0 to 4"),
    "a negative size": (lambda sim: sim.inject(0, size_bytes=-1), "size_bytes=-1; allowed: a whole number, 0 to"),
    "a truth as a size": (lambda sim: sim.inject(0, size_bytes=True), "size_bytes=True; allowed: a whole number"),
}


@pytest.mark.parametrize("mistake", INJECTIONS)
def test_a_wrong_injection_is_refused(mistake: str) -> None:
    call, words = INJECTIONS[mistake]
    with cw.simulation(Echo, NETWORK, broadcasts=LOAD) as sim:
        sim.step()
        with pytest.raises(cw.UserError, match=f"inject was given {words}"):
            call(sim)


def test_whole_numbers_of_numpy_are_seeds() -> None:
    assert swept({"loss": [0.1]}, seeds=np.arange(3)).frame()["seed"].tolist() == [0, 1, 2]
    assert run(seed=np.int64(2)).digest == run(seed=2).digest


def test_points_of_a_study_may_leave_parameters_to_their_defaults() -> None:
    assert len(cw.sweep(ToyStudy, [{"rate": 20.0}, {"messages": 30}], seeds=[4], jobs=1).frame()) == 2


class Failing(Echo):
    def __init__(self, bad: bool = False) -> None:
        self.bad = bad

    def on_packet(self, content: int, sender: int, interface: int) -> None:
        if self.bad:
            raise ValueError("out of order")
        super().on_packet(content, sender, interface)


def test_a_sweep_with_failed_runs_raises_an_error_that_has_the_finished_ones(tmp_path: Path) -> None:
    words = "2 of 4 runs failed; may_fail=True returns the finished ones; the first, Failing-.*: out of order"
    with pytest.raises(cw.SweepError, match=words) as caught:
        swept({"bad": [False, True]}, Failing, out=tmp_path)
    assert caught.value.sweep.frame()["bad"].tolist() == [False, False]
    assert len(caught.value.sweep.failed) == 2
    kept = swept({"bad": [False, True]}, Failing, out=tmp_path, may_fail=True)
    assert kept.frame()["wall_s"].tolist() == caught.value.sweep.frame()["wall_s"].tolist(), "not made again"
    assert "2 failed" in repr(kept)


CELLS = """
import causeway as cw

TIMES = 3


class Echo(cw.Node):
    def on_broadcast(self, number, size_bytes):
        for _ in range(TIMES):
            self.send(cw.EVERYONE, number)


def packets(out):
    return cw.run(Echo, cw.AbstractNetwork(4), broadcasts=cw.poisson(50, messages=5), out=out).scalars["packets"]
"""


@pytest.mark.parametrize("known", [True, False])
def test_a_changed_value_of_code_without_a_file_leads_to_a_new_run(
    known: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cell = types.ModuleType("some_cell")
    if known:
        monkeypatch.setitem(sys.modules, "some_cell", cell)
    exec(compile(CELLS, "<cell>", "exec"), vars(cell))
    assert cell.packets(tmp_path) == 15
    cell.TIMES = 2  # type: ignore[attr-defined]
    assert cell.packets(tmp_path) == 10


def test_a_run_in_memory_is_repeated_on_request() -> None:
    assert run(twice=True).digest == run().digest


sent: list[int] = []


class Remembering(Echo):
    """Sends no more than 30 messages in all runs of this process."""

    def on_packet(self, content: int, sender: int, interface: int) -> None:
        sent.append(content)
        if len(sent) < 30:
            super().on_packet(content, sender, interface)


class Mutable(cw.Node):
    """Changes a list that it has sent."""

    def on_start(self) -> None:
        self.clock = [0] * self.node_count

    def on_broadcast(self, number: int, size_bytes: int) -> None:
        self.clock[self.id] += 1
        self.send(cw.EVERYONE, self.clock)


@pytest.mark.parametrize(
    ("protocol", "words"), [(Remembering, "variables of a module or class"), (Mutable, "changed the content that node")]
)
def test_a_run_that_would_not_be_the_same_twice_is_an_error(protocol: Any, words: str) -> None:
    sent.clear()
    with pytest.raises(cw.RunError, match=words):
        run(protocol, twice=True)


BY_HASH = """
    class ByHash(Flooder):
        def take(self, message):
            for _ in range(1 + hash("ab") % 7):
                super().take(message)

    cw.run(ByHash, cw.AbstractNetwork(4), broadcasts=cw.poisson(50, messages=5), twice=True)
"""


@pytest.mark.slow
def test_a_run_that_depends_on_the_hash_seed_is_an_error(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(FLOOD + BY_HASH)
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, env=environment(), check=False, cwd=tmp_path
    )
    assert done.returncode == 1 and "the runs differ after" in done.stderr, done.stderr


@dataclass
class Patient(Echo):
    patience: Any = 0.0


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -np.inf, np.float64("nan"), [1.0, float("inf")]])
def test_a_parameter_that_is_no_finite_number_is_refused(value: Any, tmp_path: Path) -> None:
    """All of them, and None, were one point: a run with inf was answered from the folder by that with nan."""
    with pytest.raises(cw.UserError, match=r"parameter patience is -?(nan|inf); allowed: finite numbers"):
        cw.run(Patient, NETWORK, params={"patience": value}, out=tmp_path)
