"""The controller's own ZMTP over ipc: an ordinary ZeroMQ PAIR at the other end cannot tell, however the bytes come."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
import zmq

from causeway.bridge.zmtp import GREETING, READY, ZmtpPair
from tests.worlds.bridge_tools import zmq_pair

LONGEST = 1 << 20


@pytest.fixture
def listener(tmp_path: Path) -> Iterator[ZmtpPair]:
    made = ZmtpPair(str(tmp_path / "bridge"), 20, LONGEST)
    yield made
    made.close()
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def peer(tmp_path: Path, listener: ZmtpPair) -> Iterator[zmq.Socket]:
    with zmq_pair() as found:
        found.connect(f"ipc://{tmp_path}/bridge")
        yield found


def received(listener: ZmtpPair, within_s: float = 10.0) -> bytes:
    end = time.monotonic() + within_s
    while time.monotonic() < end:
        if (message := listener.receive()) is not None:
            return message
    raise AssertionError("nothing came")


def raw(tmp_path: Path) -> socket.socket:
    found = socket.socket(socket.AF_UNIX)
    found.connect(str(tmp_path / "bridge"))
    return found


@pytest.mark.parametrize("size", [0, 1, 255, 256, 65_534, 65_536, 300_000, LONGEST])
def test_messages_of_any_length_cross_both_ways(listener: ZmtpPair, peer: zmq.Socket, size: int) -> None:
    message = Random(size).randbytes(size)
    peer.send(message)
    assert received(listener) == message
    echo = threading.Thread(target=lambda: [None for _ in iter(lambda: listener.send(message), True)])
    echo.start()
    assert peer.recv() == message
    echo.join(10)


def test_messages_that_come_together_are_taken_one_by_one(listener: ZmtpPair, peer: zmq.Socket) -> None:
    messages = [Random(i).randbytes(i * 37 % 900) for i in range(200)]
    for message in messages:
        peer.send(message)
    assert [received(listener) for _ in messages] == messages


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("spin_s", [0.0, 0.001])
def test_bytes_may_come_in_pieces_of_any_size(listener: ZmtpPair, tmp_path: Path, seed: int, spin_s: float) -> None:
    draw = Random(seed)
    messages = [draw.randbytes(draw.choice((0, 3, 200, 255, 256, 900))) for _ in range(20)]
    told = GREETING + READY
    for m in messages:
        told += (b"\0" + bytes([len(m)]) if len(m) < 256 else b"\2" + len(m).to_bytes(8, "big")) + m
    told += b"\x04\x05\x04PING"  # a command is no message
    listener.spin_s = spin_s

    def dribble() -> None:
        with raw(tmp_path) as peer:
            at = 0
            while at < len(told):
                at += peer.send(told[at : at + draw.randint(1, 60)])
                time.sleep(draw.choice((0, 0, 0, 0.002)))
            time.sleep(0.2)

    thread = threading.Thread(target=dribble)
    thread.start()
    assert [received(listener) for _ in messages] == messages
    assert listener.receive() is None
    thread.join(10)


@pytest.mark.parametrize(
    "says",
    [b"", b"\xff", b"HTTP/1.1 400 Bad Request\r\n" * 3, GREETING.replace(b"NULL", b"PLAI"), GREETING + b"\x00\x01x"],
)
def test_who_does_not_speak_zmtp_is_no_peer_and_the_next_one_may_be(
    listener: ZmtpPair, tmp_path: Path, says: bytes
) -> None:
    with raw(tmp_path) as stranger:
        stranger.sendall(says)
        stranger.shutdown(socket.SHUT_WR)
        assert listener.receive() is None
    with zmq_pair() as peer:
        peer.connect(f"ipc://{tmp_path}/bridge")
        peer.send(b"hello")
        assert received(listener) == b"hello"
    assert not listener.gone or listener.receive() is None


def test_a_message_that_is_too_long_closes_the_connection(listener: ZmtpPair, tmp_path: Path) -> None:
    with raw(tmp_path) as peer:
        peer.sendall(GREETING + READY + b"\2" + (LONGEST + 1).to_bytes(8, "big") + bytes(100))
        assert listener.receive() is None
        assert listener.gone


def test_what_the_peer_said_last_is_heard_after_it_has_gone(listener: ZmtpPair, tmp_path: Path) -> None:
    with raw(tmp_path) as peer:
        peer.sendall(GREETING + READY + b"\0\x03one\0\x03two")
        assert received(listener) == b"one"
        peer.recv(200)  # what is left unread when it closes would say more than that it is gone
    assert not listener.send(b"x" * 10) or not listener.send(b"x" * 10)
    assert received(listener) == b"two"
    assert listener.receive() is None
    assert listener.gone


def test_a_peer_that_does_not_read_holds_up_who_sends_for_a_slice_only(listener: ZmtpPair, tmp_path: Path) -> None:
    with raw(tmp_path) as peer:
        peer.sendall(GREETING + READY + b"\0\x01x")
        assert received(listener) == b"x"
        message = bytes(LONGEST)
        began = time.monotonic()
        assert not listener.send(message)
        assert time.monotonic() - began < 5
        rest = threading.Thread(target=lambda: [None for _ in iter(lambda: listener.send(message), True)])
        rest.start()
        left = len(GREETING) + len(READY) + 9 + LONGEST
        while left:
            left -= len(peer.recv(1 << 16))
        rest.join(10)
        assert not rest.is_alive()
