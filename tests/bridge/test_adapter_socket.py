"""The adapter's end of the socket: an ordinary ZeroMQ PAIR, which connects again if there is no answer."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import zmq

from causeway.bridge import framing
from causeway.bridge.events import Act, Actions
from causeway.proto.contract import pb
from tests.helpers.bridge_tools import build_cpp, small_spec, zmq_pair

L_PS = 1_000_000


@pytest.fixture(scope="module")
def ticker() -> Path:
    return build_cpp("ticker")


@contextlib.contextmanager
def adapter(ticker: Path, endpoint: str, deadline_s: float = 30) -> Iterator[subprocess.Popen]:
    environment = {**os.environ, "CAUSEWAY_ENDPOINT": endpoint, "CAUSEWAY_DEADLINE_S": str(deadline_s)}
    with subprocess.Popen([ticker], env=environment, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


@contextlib.contextmanager
def pair(endpoint: str) -> Iterator[zmq.Socket]:
    with zmq_pair() as found:
        found.bind(endpoint)
        yield found


def timers(rows: int) -> bytes:
    zeros = np.zeros(rows, np.int32)
    times = L_PS * (1 + np.arange(rows, dtype=np.int64))
    columns = (np.full(rows, Act.SET_TIMER, np.uint8), times, zeros, np.arange(rows), zeros, zeros)
    return framing.encode_actions(0, Actions(*columns, np.zeros(rows, np.uint8)))


def refs_of_a_run(peer: zmq.Socket, rows: int) -> list[int]:
    """Set so many timers at the start; return what fires, in order."""
    assert pb.Frame.FromString(peer.recv()).HasField("hello")
    peer.send(framing.encode_setup(small_spec(reaction_ps=L_PS)))
    refs: list[int] = []
    while (frame := pb.Frame.FromString(peer.recv())).HasField("window"):
        refs += framing.window(frame.window).ref.tolist()
        number = frame.window.number
        peer.send(timers(rows) if number == 0 else framing.encode_actions(number, framing.actions(pb.Actions())))
    assert frame.HasField("finish")
    return refs


@pytest.mark.parametrize("rows", [0, 1, 8, 60_000])
def test_messages_of_any_length_cross_in_order(ticker: Path, tmp_path: Path, rows: int) -> None:
    """A timer takes 30 bytes: up to two megabytes."""
    endpoint = f"ipc://{tmp_path}/peer"
    with pair(endpoint) as peer, adapter(ticker, endpoint) as process:
        if rows < 100:
            assert refs_of_a_run(peer, rows) == list(range(rows))
            assert process.wait(5) == 0
            return
        peer.recv()
        peer.send(framing.encode_setup(small_spec(reaction_ps=L_PS, cap=rows, passive_kinds=1 << 4)))
        peer.recv()
        peer.send(timers(rows))
        assert framing.window(pb.Frame.FromString(peer.recv()).window).ref.tolist() == list(range(rows))


def test_a_controller_that_begins_to_listen_a_moment_later_is_found(ticker: Path, tmp_path: Path) -> None:
    endpoint = f"ipc://{tmp_path}/peer"
    with adapter(ticker, endpoint) as process:
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.5)
        with pair(endpoint) as peer:
            assert refs_of_a_run(peer, 3) == [0, 1, 2]
            assert process.wait(5) == 0


def test_a_connection_that_ends_without_an_answer_is_made_again(ticker: Path, tmp_path: Path) -> None:
    """This happens between two runs, if the socket of the first run still listens when the simulation connects."""
    endpoint = f"ipc://{tmp_path}/peer"
    with adapter(ticker, endpoint) as process:
        with pair(endpoint) as peer:
            assert pb.Frame.FromString(peer.recv()).HasField("hello")
        with pair(endpoint) as next_peer:
            assert refs_of_a_run(next_peer, 3) == [0, 1, 2]
            assert process.wait(5) == 0


@pytest.mark.slow
def test_nobody_at_the_endpoint_is_reported_in_one_line(ticker: Path, tmp_path: Path) -> None:
    endpoint = f"ipc://{tmp_path}/nobody"
    with adapter(ticker, endpoint) as process:
        assert (
            process.communicate(timeout=30)[1] == f"causeway: cannot connect to {endpoint}: no process answers there\n"
        )
        assert process.returncode == 3


@pytest.mark.parametrize(
    ("parts", "reported"),
    [
        ([b"x", b"y"], "the controller sent a message in parts"),
        ([b"hello"], "the controller sent a message that is not a frame of this contract"),
    ],
)
def test_another_peer_is_refused_in_one_line(ticker: Path, tmp_path: Path, parts: list[bytes], reported: str) -> None:
    endpoint = f"ipc://{tmp_path}/peer"
    with pair(endpoint) as peer, adapter(ticker, endpoint) as process:
        peer.recv()
        peer.send_multipart(parts)
        assert process.communicate(timeout=10)[1] == f"causeway: {reported}\n"
        assert process.returncode == 3


def test_a_controller_that_closes_its_end_in_mid_run_is_reported_in_one_line(ticker: Path, tmp_path: Path) -> None:
    endpoint = f"ipc://{tmp_path}/peer"
    with pair(endpoint) as peer, adapter(ticker, endpoint) as process:
        peer.recv()
        peer.send(framing.encode_setup(small_spec(reaction_ps=L_PS)))
        peer.recv()
        peer.close()
        assert process.communicate(timeout=10)[1] == (
            "causeway: the controller closed the connection; the simulation ends here\n"
        )
