"""A protocol that floods its network is ended before it takes all memory, and the error names the senders."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from causeway.bridge import memory
from causeway.bridge.engine import RunSpec
from causeway.bridge.engines.inline import InlineEngine
from causeway.errors import RunError
from causeway.network.networks import AbstractNetwork, constant_delay
from causeway.network.workload import Script, Workload
from causeway.pycontrol import overload
from causeway.pycontrol.loop import run_protocol
from causeway.pycontrol.node import EVERYONE, Node, PerNode
from causeway.pycontrol.overload import WHAT_TO_DO
from causeway.pycontrol.protocol import Protocol

MS = 10**9
GB = 10**9


class Flood(Node):
    """Sends on whatever it hears, again and again. Node 1 sends it twice."""

    def on_broadcast(self, number, size_bytes):
        self.send(EVERYONE, ("news", number), size_bytes)

    def on_packet(self, content, sender, interface):
        for _ in range(1 + (self.id == 1)):
            self.send(EVERYONE, content, 100)


class Alarm(Node):
    """Node 2 sets two timers for each of its timers."""

    def on_broadcast(self, number, size_bytes):
        self.set_timer((), MS)

    def on_timer(self, key):
        self.set_timer((*key, 0), MS)
        self.set_timer((*key, 1), MS)


def run(protocol: Protocol) -> Any:
    """Run one broadcast of node 2 at 1 ms, among five."""
    script = Script(np.array([MS]), np.array([2]), np.array([100]))
    network = AbstractNetwork(5, delay=constant_delay(1), workload=Workload(5, script=script))
    return run_protocol(InlineEngine(), RunSpec("test", {}, 1, network, MS), protocol, [])


def reported(protocol: Protocol) -> str:
    with pytest.raises(RunError) as error:
        run(protocol)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_more_packets_than_any_protocol_needs_are_an_error_that_says_who_sent_them(monkeypatch) -> None:
    monkeypatch.setattr(overload, "MOST_ON_THEIR_WAY", 2000)
    found = re.fullmatch(
        r"at (0\.\d+) s: node 1 sent ([\d,]+) of the ([\d,]+) packets on their way, the last one \('news', 0\); "
        rf"allowed: 2,000 of either; {WHAT_TO_DO}",
        reported(PerNode(Flood)),
    )
    assert found is not None
    most, all_ = (int(found[i].replace(",", "")) for i in (2, 3))
    assert all_ > 2000
    assert most > all_ / 4


def test_more_timers_than_any_protocol_needs_are_an_error(monkeypatch) -> None:
    monkeypatch.setattr(overload, "MOST_ON_THEIR_WAY", 2000)
    assert ": node 2 set 2,048 of the 2,048 timers; allowed: 2,000 of either; " in reported(PerNode(Alarm))


def test_copies_for_which_there_is_no_memory_are_reported_before_they_are_made(monkeypatch) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: 10 << 20)
    found = reported(PerNode(Flood))
    assert re.match(
        r"at 0\.\d+ s: the run takes 0\.\d GB; allowed: 0\.0 GB, 80% of the memory that was free before; node 1 ", found
    )
    assert re.search(r"; [\d,]+ copies and timers are in flight; let a node store", found)


@pytest.mark.slow
def test_state_that_grows_with_every_event_ends_the_run(monkeypatch) -> None:
    """No handler takes long and no packet is in flight, but the state of a node grows with every event.

    How much it has by then depends on how much comes between two looks at the memory.
    """
    monkeypatch.setattr(memory, "available_bytes", lambda: 400 << 20)
    kept = []

    class Keeps(Node):
        def on_start(self):
            self.set_timer("again", MS)

        def on_timer(self, key):
            kept.append(bytearray(100_000))
            self.set_timer("again", MS)

    assert re.match(
        r"at \d+\.\d+ s: the run takes \d+\.\d GB; allowed: 0\.3 GB, 80% of the memory that was free before; "
        r"node \d set 1 of the [1-5] timers; ",
        reported(PerNode(Keeps)),
    )
    kept.clear()


def test_an_allowance_counts_the_memory_used_since_its_beginning(monkeypatch) -> None:
    has = {"run": 5 * GB, "left": 10 * GB}
    monkeypatch.setattr(memory, "run_bytes", lambda: has["run"])
    monkeypatch.setattr(memory, "available_bytes", lambda: has["left"])
    allowance = memory.Allowance()
    assert allowance.refusal() is None
    assert allowance.refusal(8 * GB) is None
    assert allowance.refusal(9 * GB) == "the run takes 9.0 GB; allowed: 8.0 GB, 80% of the memory that was free before"
    has.update(run=12 * GB, left=3 * GB)
    assert allowance.refusal() is None
    assert allowance.refusal(2 * GB) == "the run takes 9.0 GB; allowed: 8.0 GB, 80% of the memory that was free before"


def test_runs_side_by_side_that_leave_nothing_end_before_each_has_its_whole_allowance(monkeypatch) -> None:
    has = {"run": 0, "left": 10 * GB}
    monkeypatch.setattr(memory, "run_bytes", lambda: has["run"])
    monkeypatch.setattr(memory, "available_bytes", lambda: has["left"])
    allowance = memory.Allowance()
    has["left"] = GB // 2
    assert allowance.refusal() is None, "the others take it"
    has["run"] = 2 * GB
    assert allowance.refusal() == "the run takes 2.0 GB, and only 0.5 GB are free beside other processes"


def test_without_information_about_memory_nothing_is_refused(monkeypatch) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: None)
    assert memory.Allowance().refusal(10**15) is None


def test_the_memory_of_children_counts_for_a_run(tmp_path: Path) -> None:
    code = "held = b'x' * (200 << 20); print(len(held), flush=True); input()"
    before = memory.run_bytes()
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=tmp_path
    ) as child:
        assert child.stdout is not None
        child.stdout.readline()
        assert memory.run_bytes() - before > 200 << 20
        child.communicate(b"\n")
