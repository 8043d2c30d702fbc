"""OMNeT++'s and INET's own instruments on runs of ours: captures, the event log, the fingerprint."""

from __future__ import annotations

import math
import shutil
import subprocess
from pathlib import Path

import pytest

from causeway.bridge.engine import RunSpec
from causeway.bridge.engines.omnet import instruments
from causeway.errors import RunError, UserError
from causeway.network.networks import AbstractNetwork, constant_delay
from causeway.network.workload import Workload
from causeway.studies.fingerprint import compare_fingerprint
from causeway.toolchain.omnet_find import find_omnetpp
from tests.helpers.inet_probe import needs_inet, run
from tests.helpers.wireless_probe import BUSY, MS, Flood, network, one_after_the_other

pytestmark = needs_inet


def on_air(captured_bytes: int) -> int:
    """Of an 802.11 frame at 6 Mb/s: SIGNAL (3 bytes), then SERVICE (16 bits), the frame and its tail (6 bits) in whole
    symbols of 24 bits."""
    return 3 + 3 * math.ceil((16 + 8 * captured_bytes + 6) / 24)


@pytest.mark.skipif(shutil.which("tshark") is None, reason="no tshark here: apt install tshark")
def test_captured_frames_and_their_lengths_are_those_that_the_run_counted(tmp_path: Path) -> None:
    """Every file has what its node sent and heard; a frame is known by its sender and its sequence number."""
    net = network(10, radio="wifi", workload=one_after_the_other(13), wires=())
    _, outcome = run(net, 3, pcap=str(tmp_path))
    files = sorted(tmp_path.glob("*.pcap"))
    assert len(files) == 13
    frames: dict[tuple[str, str], int] = {}
    for file in files:
        fields = ("wlan.sa", "wlan.seq", "frame.len", "udp.length")
        command = ["tshark", "-r", str(file), "-Y", "udp", "-T", "fields", *(w for f in fields for w in ("-e", f))]
        reported = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
        for line in reported.splitlines():
            sender, number, length, payload = line.split("\t")
            assert int(payload) == 108
            assert frames.setdefault((sender, number), int(length)) == int(length)
    scalars = {name: value for (_, name), value in outcome.finish.scalars.items()}
    assert len(frames) == scalars["station_frames"] + scalars["host_frames"] == 13
    assert sum(map(on_air, frames.values())) == scalars["station_bytes"] + scalars["host_bytes"]


def test_the_event_log_has_every_event_and_omnetpps_tool_reads_it(tmp_path: Path) -> None:
    file = tmp_path / "run.elog"
    _, outcome = run(network(3, workload=one_after_the_other(6)), 1, eventlog=str(file))
    found = find_omnetpp()
    assert found is not None
    tool = found.root / "bin" / "opp_eventlogtool"
    reported = subprocess.run([tool, "echo", file], capture_output=True, text=True, timeout=60, check=True).stdout
    events = [line for line in reported.splitlines() if line.startswith("E # ")]
    ours = 6 + 6  # broadcasts and sends of the bridge are no messages: they are counted and not logged
    assert (
        len(events) + ours == outcome.finish.events + 1
    )  # the engine reports the number of the last event; the first is 0


class OneMoreTimer(Flood):
    """Does what `Flood` does, and thinks longer."""

    def on_start(self) -> None:
        self.set_timer("idle", 123 * MS)

    def on_timer(self, key: object) -> None:
        self.record("idle", 1.0)


class OneMorePacket(Flood):
    def on_start(self) -> None:
        if self.id == 5:
            self.send(0, "hello", 40)


def fingerprint_of(node: type[Flood], seed: int = 1) -> float:
    _, outcome = run(BUSY, 2, node, seed, fingerprint="yes")
    return outcome.finish.scalars["network", "fingerprint"]


def test_the_fingerprint_covers_packets_between_nodes_and_nothing_else() -> None:
    plain = fingerprint_of(Flood)
    assert 0 < plain < 1 << 32
    assert fingerprint_of(OneMoreTimer) == plain
    assert len({plain, fingerprint_of(OneMorePacket), fingerprint_of(Flood, 2)}) == 3


def test_a_fingerprint_is_kept_the_first_time_and_compared_the_next(tmp_path: Path) -> None:
    compare_fingerprint(tmp_path, "run", {("network", "fingerprint"): 0xAB12CD34})
    assert (tmp_path / "run.txt").read_text() == "ab12-cd34\n"
    compare_fingerprint(tmp_path, "run", {("network", "fingerprint"): 0xAB12CD34})
    with pytest.raises(RunError, match="the fingerprint is 0000-0001, but it was ab12-cd34"):
        compare_fingerprint(tmp_path, "run", {("network", "fingerprint"): 1})


def test_the_abstract_network_has_nothing_to_capture() -> None:
    spec = RunSpec(
        "test", {}, 1, AbstractNetwork(2, delay=constant_delay(1), workload=Workload(2)), MS, options={"pcap": "here"}
    )
    with pytest.raises(UserError, match="the abstract network has no frames: pcap is for networks of INET"):
        instruments(spec)
