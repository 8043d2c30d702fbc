"""The edge's own ZMTP over ipc: an ordinary ZeroMQ PAIR at the other end cannot tell, however the bytes come."""

from __future__ import annotations

import contextlib
import os
import select
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

import numpy as np
import pytest
import zmq

from causeway.bridge import wire
from causeway.bridge.events import Act, Actions
from causeway.bridge.schema import pb
from tests.worlds.bridge_tools import build_cpp, small_spec, zmq_pair

L_PS = 1_000_000


@pytest.fixture(scope="module")
def ticker() -> Path:
    return build_cpp("ticker")


@contextlib.contextmanager
def edge(ticker: Path, endpoint: Path, deadline_s: float = 5) -> Iterator[subprocess.Popen]:
    environment = {**os.environ, "CAUSEWAY_ENDPOINT": f"ipc://{endpoint}", "CAUSEWAY_DEADLINE_S": str(deadline_s)}
    with subprocess.Popen([ticker], env=environment, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


@contextlib.contextmanager
def pair(endpoint: Path) -> Iterator[zmq.Socket]:
    with zmq_pair() as found:
        found.bind(f"ipc://{endpoint}")
        yield found


def timers(rows: int) -> bytes:
    zeros = np.zeros(rows, np.int32)
    times = L_PS * (1 + np.arange(rows, dtype=np.int64))
    columns = (np.full(rows, Act.SET_TIMER, np.uint8), times, zeros, np.arange(rows), zeros, zeros)
    return wire.encode_actions(0, Actions(*columns, np.zeros(rows, np.uint8)))


def refs_of_a_run(peer: zmq.Socket, rows: int) -> list[int]:
    """Sets so many timers at the start; what fires, in order."""
    assert pb.Frame.FromString(peer.recv()).HasField("hello")
    peer.send(wire.encode_setup(small_spec(reaction_ps=L_PS)))
    refs: list[int] = []
    while (frame := pb.Frame.FromString(peer.recv())).HasField("window"):
        refs += wire.window(frame.window).ref.tolist()
        number = frame.window.number
        peer.send(timers(rows) if number == 0 else wire.encode_actions(number, wire.actions(pb.Actions())))
    assert frame.HasField("finish")
    return refs


@pytest.mark.parametrize("rows", [0, 1, 7, 8, 9, 3000, 60_000])
def test_messages_of_any_length_cross_in_order(ticker: Path, tmp_path: Path, rows: int) -> None:
    """A timer takes 30 bytes: from one byte of length to two megabytes, and the turn from short to long frames."""
    with pair(tmp_path / "peer") as peer, edge(ticker, tmp_path / "peer") as process:
        rows_to_fire = rows if rows < 100 else 0  # of many, only the way to the edge is looked at
        if rows_to_fire == rows:
            assert refs_of_a_run(peer, rows) == list(range(rows))
            assert process.wait(5) == 0
            return
        peer.recv()
        peer.send(wire.encode_setup(small_spec(reaction_ps=L_PS, cap=rows, passive_kinds=1 << 4)))
        peer.recv()
        peer.send(timers(rows))
        assert wire.window(pb.Frame.FromString(peer.recv()).window).ref.tolist() == list(range(rows))


@pytest.mark.parametrize("seed", range(4))
def test_bytes_may_come_in_pieces_of_any_size(ticker: Path, tmp_path: Path, seed: int) -> None:
    with (
        pair(tmp_path / "peer") as peer,
        dribble(tmp_path / "between", tmp_path / "peer", Random(seed)),
        edge(ticker, tmp_path / "between") as process,
    ):
        assert refs_of_a_run(peer, 40) == list(range(40))
        assert process.wait(5) == 0


@contextlib.contextmanager
def dribble(front: Path, back: Path, random: Random) -> Iterator[None]:
    """Passes on what comes, in pieces of 1 to 40 bytes."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(front))
        server.listen()

        def run() -> None:
            one, _ = server.accept()
            with one, socket.socket(socket.AF_UNIX) as two:
                two.connect(str(back))
                while True:
                    for ready in select.select([one, two], [], [], 5)[0]:
                        data = ready.recv(random.randint(1, 40))
                        if not data:
                            return
                        (two if ready is one else one).sendall(data)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        yield
        thread.join(10)


def answer_with(endpoint: Path, *parts: bytes, then_close: bool) -> None:
    """Listens for one peer, says this, and closes or stays."""
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(endpoint))
    server.listen()

    def run() -> None:
        with server:
            one, _ = server.accept()
            with one:
                for part in parts:
                    one.sendall(part)
                if not then_close:
                    time.sleep(30)

    threading.Thread(target=run, daemon=True).start()


GREETING = b"\xff" + bytes(8) + b"\x7f\x03\x00NULL" + bytes(48)
READY = b"\x04\x1a\x05READY\x0bSocket-Type\x00\x00\x00\x04PAIR"
CLOSED = "the controller closed the connection; the simulation ends here"


@pytest.mark.parametrize(
    ("parts", "told"),
    [
        ([], CLOSED),
        ([GREETING], CLOSED),
        ([GREETING, READY], CLOSED),
        ([b"HTTP/1.1 400 Bad Request\r\n" * 3], "what listens at the endpoint is no ZeroMQ socket without encryption"),
        ([GREETING.replace(b"NULL", b"PLAI")], "what listens at the endpoint is no ZeroMQ socket without encryption"),
        ([GREETING, b"\x04\x06\x05ERROR"], "the controller's socket refused this one"),
        ([GREETING, READY, b"\x01\x01x"], "the controller sent a message in parts"),
        ([GREETING, READY, b"\x00\x05hello"], "the controller sent what is no frame of this contract"),
    ],
)
def test_another_peer_is_refused_in_one_line(ticker: Path, tmp_path: Path, parts: list[bytes], told: str) -> None:
    answer_with(tmp_path / "peer", *parts, then_close=told == CLOSED)
    with edge(ticker, tmp_path / "peer") as process:
        assert process.communicate(timeout=10)[1] == f"causeway: {told}\n"
        assert process.returncode == 3


@pytest.mark.slow
def test_a_peer_that_never_shakes_hands_is_given_up(ticker: Path, tmp_path: Path) -> None:
    answer_with(tmp_path / "peer", GREETING[:10], then_close=False)
    with edge(ticker, tmp_path / "peer") as process:
        assert process.communicate(timeout=20)[1] == "causeway: the controller's socket does not answer\n"


def test_nobody_at_the_endpoint_is_told_in_one_line(ticker: Path, tmp_path: Path) -> None:
    with edge(ticker, tmp_path / "nobody") as process:
        told = process.communicate(timeout=10)[1]
    assert told == f"causeway: cannot connect to ipc://{tmp_path}/nobody: No such file or directory\n"
