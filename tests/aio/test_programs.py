"""Programs as a study: observers, samples, workload, logs, and the same file as real processes."""

from __future__ import annotations

import asyncio
import logging
import re
import subprocess
import sys
from pathlib import Path

import pytest

from causeway.aio import ProgramStudy
from causeway.errors import UserError
from causeway.network.workload import Segment, Workload
from causeway.studies.runner import Job, run_job
from tests.helpers.aio_programs import results, run

EXAMPLE = Path(__file__).parents[2] / "examples" / "chatter.py"
FLOOD = '''
"""Broadcasts when the workload asks; delivers at once, or in the order of a sender's numbers."""
import asyncio
from causeway.aio import ProgramStudy
from causeway.pycontrol.checker import CausalityChecker

class Receiver(asyncio.DatagramProtocol):
    def __init__(self, node):
        self.node = node
    def connection_made(self, transport):
        self.transport = transport
    def datagram_received(self, data, addr):
        if addr[0] != self.node.address:
            self.node.deliver(int(data))

async def main(node):
    _, receiver = await asyncio.get_running_loop().create_datagram_endpoint(
        lambda: Receiver(node), local_addr=("0.0.0.0", 9), allow_broadcast=True)
    for _ in range(10_000):
        number, size_bytes = await node.asked()
        message = node.new_message()
        node.deliver(message)
        receiver.transport.sendto(b"%d" % message, ("255.255.255.255", 9))

class Flood(ProgramStudy):
    name, title, main = "flood", "flooding", main
    def observers(self, params, nodes):
        return [CausalityChecker(nodes)]
'''


def test_the_checker_sees_what_programs_broadcast_and_deliver(tmp_path):
    (tmp_path / "flood.py").write_text(FLOOD)
    parameters = {"nodes": 5, "rate": 40, "duration_s": 20, "jitter_ms": 8}
    scalars = run_job(Job(str(tmp_path / "flood.py"), parameters, 1, "inline")).scalars
    assert 600 < scalars["messages"] < 1000
    assert scalars["deliveries"] > 4.9 * scalars["messages"]
    assert scalars["violations"] > 0  # flooding keeps no causal order: the checker must notice


def test_the_workload_asks_a_node_to_broadcast():
    async def main(node):
        return [await node.asked() for _ in range(3)]

    asked = results(main, 1, workload=Workload(1, messages=3, size_bytes=77, segments=(Segment(0, 10.0),)))
    assert asked == [[(0, 77), (1, 77), (2, 77)]]


def test_samples_have_the_node_and_the_simulated_time():
    async def main(node):
        await asyncio.sleep(1.5)
        node.record("height", 3 + node.id)

    _, outcome = run(main)
    assert outcome.samples[("node[1]", "height")] == ([1_500_000_000_000], [4])


def test_log_lines_have_node_and_simulated_time(caplog):
    async def main(node):
        await asyncio.sleep(1.5)
        logging.getLogger("mine").warning("hello %s", "there")

    results(main, 2)
    logging.getLogger("mine").warning("outside")
    mine = [record for record in caplog.records if record.name == "mine"]
    assert [record.getMessage() for record in mine] == [
        "[node0 1.500000 s] hello there",
        "[node1 1.500000 s] hello there",
        "outside",
    ]
    assert (mine[0].node, mine[0].sim_s) == ("node0", 1.5)


def test_sys_exit_in_a_program_says_what_to_do():
    from causeway.errors import RunError

    async def main(node):
        async def leaves():
            sys.exit(3)

        await asyncio.gather(asyncio.create_task(leaves()), asyncio.sleep(5))

    with pytest.raises(RunError, match=r"a program called sys.exit\(3\)"):
        run(main)


def test_a_study_without_a_program_is_refused_with_a_remedy():
    class Empty(ProgramStudy):
        name, title = "empty", "nothing"

    with pytest.raises(UserError, match="study empty has no program: set main ="):
        Empty().protocol(Empty.Params())


def test_a_walking_network_is_not_for_the_engine_without_a_radio():
    with pytest.raises(UserError, match="inline"):
        run_job(Job(str(EXAMPLE), {"network": "walking"}, 1, "inline"))


def _command(*args: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "causeway.aio", str(EXAMPLE), *args]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


def test_the_example_prints_its_committed_output():
    assert _command("--engine", "inline").stdout == EXAMPLE.with_suffix(".out").read_text()


@pytest.mark.slow
def test_the_same_file_runs_as_real_processes_over_loopback():
    done = _command("--real", "3", "--seconds", "120")
    assert done.returncode == 0, done.stderr
    assert re.findall(r"main returned (\d)", done.stdout) == ["2", "2", "2"]


@pytest.mark.slow
def test_processes_are_stopped_when_their_time_is_over():
    done = _command("--real", "2", "--seconds", "1")
    assert "time is over; still running: node0, node1" in done.stderr


def test_too_many_processes_are_refused():
    done = _command("--real", "1000")
    assert done.returncode == 2
    assert re.fullmatch(r"causeway: --real is 1000; .* 1 to 64 .*\n", done.stderr)
