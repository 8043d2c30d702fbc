"""Clocks and random numbers come from the simulation, and a leak is found and named."""

from __future__ import annotations

import asyncio
import os
import random
import secrets
import sys
import textwrap
import time
import uuid
from random import randrange
from time import monotonic as imported_by_name

import pytest

from causeway.aio import Programs
from causeway.errors import RunError
from causeway.pycontrol.answers import EPOCH_S
from causeway.studies.runner import Job
from causeway.studies.twice import twice
from tests.helpers.aio_programs import faults, results


def draws() -> list:
    return [
        random.random(),
        randrange(10**9),
        random.Random().random(),
        random.SystemRandom().random(),
        os.urandom(8),
        secrets.token_hex(8),
        str(uuid.uuid4()),
        str(uuid.uuid1()),
        random.sample(range(1000), 5),
    ]


async def _draw(node):
    await asyncio.sleep(1)
    return draws()


def test_random_numbers_come_from_the_seed_and_differ_between_nodes():
    first, again, other = results(_draw, 2), results(_draw, 2), results(_draw, 2, seed=2)
    assert first == again
    kinds = range(len(first[0]))
    assert [k for k in kinds if first[0][k] == first[1][k]] == []
    uuid1 = 7  # time and address, and a few drawn bits
    assert [k for k in kinds if first[0][k] == other[0][k] and k != uuid1] == []


def test_a_node_that_seeds_its_random_generator_affects_no_other_node():
    async def main(node):
        if node.id == 0:
            random.seed(5)
        await asyncio.sleep(1)
        return random.random()

    random.seed(5)
    outside = random.random()
    zero, one = results(main)
    assert zero == outside != one


def test_a_node_draws_other_numbers_after_a_failure():
    seen = []

    async def main(node):
        seen.append(random.random())
        await asyncio.sleep(10)

    results(main, 1, faults=faults((1, 0, 0), (2, 0, 1)))
    assert len(set(seen)) == 2


def test_every_clock_shows_simulated_time_however_it_was_imported():
    async def main(node):
        await asyncio.sleep(2.5)
        assert time.time() == EPOCH_S + 2.5
        assert time.time_ns() == EPOCH_S * 10**9 + 2_500_000_000
        assert time.monotonic() == imported_by_name() == time.perf_counter() == 2.5
        assert time.strftime("%Y-%m-%d %H:%M:%S") == "2026-01-01 00:00:02"
        assert time.localtime().tm_sec == 2
        return True

    before = imported_by_name
    assert results(main) == [True, True]
    assert sys.modules[__name__].imported_by_name is before is time.monotonic


def test_outside_of_nodes_clocks_stay_real_while_a_run_goes_on(monkeypatch):
    seen = []
    real = Programs.on_window

    def on_window(self, window):
        seen.append(time.time())
        return real(self, window)

    monkeypatch.setattr(Programs, "on_window", on_window)
    began = time.time()
    results(_draw)
    assert len(seen) > 1
    assert all(began <= moment <= time.time() for moment in seen)


STUDY = """
import asyncio, random
from causeway.aio import ProgramStudy

class Box(asyncio.DatagramProtocol):
    pass

async def main(node):
    transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(Box, local_addr=("0.0.0.0", 9))
    await asyncio.sleep(random.random())
    for word in {WORDS}:
        await asyncio.sleep(0.01)
        transport.sendto(word.encode(), ("node0", 9))
    node.deliver(node.new_message())
    node.record("words", 3)

class Words(ProgramStudy):
    name, title, main = "words", "words", main
"""


def _file(tmp_path, words: str):
    path = tmp_path / "words.py"
    path.write_text(textwrap.dedent(STUDY).replace("{WORDS}", words))
    return str(path)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_run_with_another_hash_seed(tmp_path):
    comparison = twice(Job(_file(tmp_path, '["alpha", "beta", "gamma"]'), {"nodes": 3}, 1, "inline"))
    assert comparison.same, comparison
    windows = comparison.rows - 2 * 3 - 3 * 3  # what node0 sends to itself crosses no network
    assert 6 <= windows <= 40


@pytest.mark.slow
def test_the_order_of_a_set_is_found_and_named_with_its_task_and_line(tmp_path):
    names = "{" + ", ".join(f'"word{i}"' for i in range(40)) + "}"
    comparison = twice(Job(_file(tmp_path, names), {"nodes": 3}, 1, "inline"))
    assert not comparison.same
    reported = str(comparison)
    assert "the runs differ after 3 events" in reported  # windows
    assert "in task main of node" in reported and "send to node0" in reported
    assert "words.py:13 main: transport.sendto(word.encode()" in reported


def test_a_run_that_fails_while_it_is_compared_says_why(tmp_path):
    with pytest.raises(RunError, match=r"one of two runs of .* failed"):
        twice(Job(_file(tmp_path, "[1, 2]"), {"nodes": 3}, 1, "inline"))
