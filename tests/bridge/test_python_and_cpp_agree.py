"""The generator and the workload in C++ give the same bits as those in Python."""

from __future__ import annotations

import subprocess

import numpy as np
import pytest

from causeway.bridge import framing
from causeway.network import random
from causeway.network.networks import AbstractNetwork, normal_delay
from causeway.network.workload import NEVER, Script, Segment, Workload, WorkloadTables, next_broadcast
from tests.helpers.bridge_tools import build_cpp, small_spec

BROADCASTS = 3000
WORKLOADS = {
    "constant": Workload(50, segments=(Segment(0, 100.0),), size_bytes=17),
    "ends after its messages": Workload(7, first_node=3, messages=100, segments=(Segment(0, 1000.0),)),
    "hot spells and silence": Workload(
        1000,
        segments=(
            Segment(0, 10.0),
            Segment(10**12, 0.0),
            Segment(2 * 10**12, 5000.0, 0.9, 10),
            Segment(3 * 10**12, 0.3),
        ),
    ),
    "falls silent": Workload(5, segments=(Segment(0, 100.0), Segment(10**12, 0.0))),
    "script": Workload(
        5, script=Script(np.array([5, 5, 9], np.int64), np.array([4, 1, 0], np.int32), np.array([1, 2, 3], np.int32))
    ),
    "none": Workload(5),
}


def cpp_lines(workload: Workload, seed: int) -> list[list[str]]:
    network = AbstractNetwork(1000, delay=normal_delay(100, 20), workload=workload)
    setup = framing.encode_setup(small_spec(seed=seed, network=network))
    program = build_cpp("counterparts")
    reported = subprocess.run([program, str(BROADCASTS)], input=setup, capture_output=True, check=True).stdout.decode()
    return [line.split() for line in reported.splitlines()]


def python_broadcasts(workload: Workload, seed: int) -> list[list[str]]:
    if workload.script is not None:
        rows = zip(workload.script.time_ps, workload.script.node, workload.script.size_bytes, strict=True)
        return [[str(i), *(str(x) for x in row)] for i, row in enumerate(rows)]
    t = WorkloadTables.of(workload)
    result: list[list[str]] = []
    now_ps = 0
    for i in range(min(BROADCASTS, workload.messages or BROADCASTS)):
        now_ps, node = next_broadcast(t, seed, i, now_ps)
        if now_ps == NEVER:
            break
        result.append([str(i), str(now_ps), str(node), str(workload.size_bytes)])
    return result


@pytest.mark.parametrize("seed", [0, 1, 2**40 + 3])
def test_draws_are_the_same_bits_in_both_languages(seed: int) -> None:
    table = normal_delay(100, 20)
    lines = cpp_lines(Workload(5), seed)
    assert len(lines) == 2000
    for a, (bits, unit, below, delay_ps) in enumerate(lines):
        drawn = np.uint64(random.draw(seed, random.STREAM_DELAY, a * a - 7, a % 5))
        assert int(bits) == int(drawn)
        assert float.fromhex(unit) == random.unit(drawn)
        assert int(below) == random.below(drawn, a + 1)
        assert int(delay_ps) == random.round_ns_to_ps(random.from_table(table, drawn))


@pytest.mark.parametrize("name", WORKLOADS)
def test_workloads_are_the_same_in_both_languages(name: str) -> None:
    expected = python_broadcasts(WORKLOADS[name], 11)
    assert cpp_lines(WORKLOADS[name], 11)[2000:] == expected
    assert (len(expected) > 0) == (name != "none")


def test_a_generator_with_another_constant_is_detected() -> None:
    lines = cpp_lines(Workload(5), 5)
    mutant = [random.draw(5, random.STREAM_LOSS, a * a - 7, a % 5) for a in range(2000)]
    assert [int(line[0]) for line in lines] != mutant
