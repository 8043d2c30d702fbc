"""Handlers get clocks and random numbers of the simulation; threads and other calls out of it are refused."""

from __future__ import annotations

import os
import random
import secrets
import signal
import subprocess
import sys
import threading
import time
import uuid
from random import randrange
from time import monotonic as imported_by_name
from typing import Any

import numpy as np
import pytest

from causeway.bridge.engine import RunSpec
from causeway.bridge.engines.inline import InlineEngine
from causeway.errors import RunError
from causeway.network.networks import AbstractNetwork, constant_delay
from causeway.network.workload import Workload
from causeway.pycontrol.answers import EPOCH_S
from causeway.pycontrol.frozen import frozen
from causeway.pycontrol.loop import run_protocol
from causeway.pycontrol.node import Node, PerNode
from causeway.pycontrol.protocol_errors import ProtocolError

MS_PS, S_PS = 10**9, 10**12
REAL: dict[str, Any] = {"raise_signal": signal.raise_signal}


def run(does: Any, nodes: int = 2, seed: int = 1, cap: int = 0, made: Any = None) -> dict[int, Any]:
    """Return the results of `does(node)` on every node, called at 1 s and at 2 s."""
    found: dict[int, Any] = {}

    class Doing(Node):
        def __init__(self) -> None:
            super().__init__()
            self.drawn = made() if made else None

        def on_start(self) -> None:
            self.set_timer("one", S_PS - MS_PS)
            self.set_timer("two", 2 * S_PS - MS_PS)

        def on_timer(self, key: str) -> None:
            found.setdefault(self.id, [self.drawn] if made else []).append(does(self))

    network = AbstractNetwork(nodes, delay=constant_delay(1), workload=Workload(0))
    run_protocol(InlineEngine(), RunSpec("test", {}, seed, network, MS_PS, cap=cap), PerNode(Doing), [])
    return found


def draws(node: Any = None) -> list[Any]:
    return [
        random.random(),
        randrange(10**9),
        random.Random().random(),
        random.SystemRandom().random(),
        os.urandom(8),
        secrets.token_hex(8),
        str(uuid.uuid4()),
        random.sample(range(1000), 5),
        float(np.random.random()),
        float(np.random.default_rng().random()),
    ]


def test_random_numbers_come_from_the_seed_and_differ_between_nodes() -> None:
    first, again, other = run(draws, made=draws), run(draws, made=draws), run(draws, seed=2, made=draws)
    assert first == again
    kinds = range(len(first[0][0]))
    for time_ in range(3):
        assert [k for k in kinds if first[0][time_][k] == first[1][time_][k]] == []
        assert [k for k in kinds if first[0][time_][k] == other[0][time_][k]] == []
    assert [k for k in kinds if first[0][1][k] == first[0][2][k]] == []


def test_a_nodes_random_numbers_depend_on_neither_other_nodes_nor_windows() -> None:
    def sometimes(node: Node) -> list[Any]:
        return draws() if node.id == 0 else []

    assert run(draws)[0] == run(draws, cap=1)[0] == run(sometimes)[0] == run(draws, nodes=5)[0]


def test_a_node_that_seeds_its_random_generator_affects_no_other() -> None:
    def seeds(node: Node) -> float:
        if node.id == 0:
            random.seed(5)
            np.random.seed(5)
        return random.random()

    random.seed(7)
    np.random.seed(7)
    expected = random.Random(7).random(), np.random.RandomState(7).random()
    assert run(seeds)[1] == run(lambda node: random.random())[1]
    assert (random.random(), np.random.random()) == expected


def test_a_node_has_a_generator_of_its_own() -> None:
    drawn = run(lambda node: node.rng.random())
    assert drawn == run(lambda node: node.rng.random(), cap=1)
    assert len({value for values in drawn.values() for value in values}) == 4

    class Early(Node):
        def __init__(self) -> None:
            super().__init__()  # it does not say its number
            self.early = self.rng.random()

    protocol = PerNode(Early)
    network = AbstractNetwork(2, delay=constant_delay(1), workload=Workload(0))
    run_protocol(InlineEngine(), RunSpec("test", {}, 1, network, MS_PS), protocol, [])
    assert [node.early for node in protocol.nodes] == [drawn[0][0], drawn[1][0]]  # type: ignore[attr-defined]


def test_a_node_may_have_a_generator_that_it_calls_rng() -> None:
    def own(node: Any) -> float:
        node.rng = random.Random(3)
        return float(node.rng.random())

    assert run(own)[0] == [random.Random(3).random()] * 2


def test_clocks_show_simulated_time_however_they_were_imported() -> None:
    def look(node: Node) -> list[Any]:
        return [time.time() - EPOCH_S, time.monotonic(), imported_by_name(), time.perf_counter_ns()]

    before = imported_by_name
    assert run(look)[1] == [[1, 1, 1, 10**9], [2, 2, 2, 2 * 10**9]]
    assert imported_by_name is before is time.monotonic


def test_outside_of_handlers_the_clock_is_real() -> None:
    seen = []

    class Watching(PerNode):
        def on_window(self, window: Any) -> Any:
            seen.append(time.time())
            return super().on_window(window)

    class Waiting(Node):
        def on_start(self) -> None:
            self.set_timer("t", S_PS)

        def on_timer(self, key: str) -> None:
            pass

    began = time.time()
    network = AbstractNetwork(2, delay=constant_delay(1), workload=Workload(0))
    run_protocol(InlineEngine(), RunSpec("test", {}, 1, network, MS_PS), Watching(Waiting), [])
    assert seen and all(began <= moment <= time.time() for moment in seen)


LEAVING: dict[str, Any] = {
    r"time\.sleep\(1\) in node 0 at 1 s \(.*test_confined.py:\d+\) .*self\.set_timer": lambda: time.sleep(1),
    r"a thread .*self\.set_timer": lambda: threading.Thread(target=print).start(),
    "a subprocess .*compute in the handler": lambda: subprocess.run(["true"], check=False),
    r"os\._exit .*self\.stop\(\), or raise an error": lambda: os._exit(0),
    r"os\.chdir .*absolute paths": lambda: os.chdir("/"),
    r"os\.kill ": lambda: os.kill(os.getpid(), signal.SIGTERM),
    r"sys\.exit\(0\) would end the command; end the run with self\.stop\(\), or raise": lambda: sys.exit(0),
    "KeyboardInterrupt": lambda: exec("raise KeyboardInterrupt"),
    "GeneratorExit": lambda: exec("raise GeneratorExit"),
    "read the clock 1,000,000 times at 1 s": lambda: [time.time() for _ in range(1_000_001)],
}


@pytest.mark.parametrize("reported", LEAVING)
def test_calls_that_leave_the_simulation_are_errors_of_the_run(reported: str) -> None:
    folder = os.getcwd()
    with pytest.raises(ProtocolError, match=rf"node 0.*{reported}"):
        run(lambda node: LEAVING[reported]())
    assert os.getcwd() == folder


def test_an_interrupt_of_the_user_is_no_error_of_the_handler() -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # where it is ignored, nothing would be raised
    with pytest.raises(KeyboardInterrupt):
        run(lambda node: REAL["raise_signal"](signal.SIGINT))
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, before)


def test_generators_of_numpy_are_part_of_a_nodes_state() -> None:
    for make in (np.random.RandomState, np.random.default_rng):
        one, same, other = make(5), make(5), make(6)
        assert frozen(one) == frozen(same) != frozen(other)
        one.random()
        assert frozen(one) != frozen(same)


def test_an_error_leaves_the_functions_as_they_were() -> None:
    def functions() -> list[Any]:
        return [time.time, time.sleep, random.random, os.urandom, np.random.random, imported_by_name]

    before = functions()
    with pytest.raises(RunError):
        run(lambda node: 1 // 0)
    assert functions() == before
