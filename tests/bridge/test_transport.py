"""The controller's end of the socket: deadlines hold, whatever peers connect and send."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
import zmq

from causeway.bridge import transport as transports
from causeway.bridge.transport import Transport
from causeway.errors import RunError
from tests.helpers.bridge_tools import wait_until, zmq_pair

GREETING = b"\xff" + bytes(8) + b"\x7f\x03\x00NULL" + bytes(48)
READY = b"\x04\x1a\x05READY\x0bSocket-Type\x00\x00\x00\x04PAIR"
"""The greeting of a ZeroMQ PAIR (rfc.zeromq.org/spec/23)."""


@pytest.fixture
def transport() -> Iterator[Transport]:
    made = Transport()
    yield made
    made.close()


@pytest.fixture
def peer(transport: Transport) -> Iterator[zmq.Socket]:
    with zmq_pair() as found:
        found.connect(transport.endpoint)
        yield found


def received(transport: Transport, deadline_s: float = 30.0) -> bytes:
    return transport.receive(deadline_s, lambda: None)


@pytest.mark.parametrize("size", [0, 1, 255, 256, 65_536, 3_000_000])
def test_messages_of_any_length_cross_both_ways(transport: Transport, peer: zmq.Socket, size: int) -> None:
    message = Random(size).randbytes(size)
    peer.send(message)
    assert received(transport) == message
    transport.send(message, 30, lambda: None)
    assert peer.recv() == message


def test_messages_that_come_together_are_taken_one_by_one(transport: Transport, peer: zmq.Socket) -> None:
    messages = [Random(i).randbytes(i * 37 % 900) for i in range(200)]
    sender = threading.Thread(target=lambda: [peer.send(message) for message in messages])
    sender.start()
    assert [received(transport) for _ in messages] == messages
    sender.join(10)


@pytest.mark.parametrize("before", [b"", GREETING[:10], GREETING + READY])
def test_a_peer_that_sends_single_bytes_does_not_extend_the_deadline(transport: Transport, before: bytes) -> None:
    """A message of 1,000 bytes, ten bytes a second: the whole of it would take 100 s."""
    over = threading.Event()

    def drip() -> None:
        with socket.socket(socket.AF_UNIX) as peer:
            peer.connect(transport.endpoint.removeprefix("ipc://"))
            peer.sendall(before)
            whole = (GREETING + READY)[len(before) :] + b"\2" + (1000).to_bytes(8, "big") + bytes(1000)
            for byte in whole:
                if over.wait(0.1):
                    return
                peer.send(bytes([byte]))

    thread = threading.Thread(target=drip)
    thread.start()
    try:
        with pytest.raises(RunError, match=r"the simulator said nothing for 0.5 s \(deadline\)"):
            received(transport, 0.5)
        assert thread.is_alive(), "it still drips"
    finally:
        over.set()
        thread.join(10)


def test_a_second_peer_is_ignored_and_does_not_disturb_the_first(transport: Transport, peer: zmq.Socket) -> None:
    peer.send(b"first")
    assert received(transport) == b"first"
    with zmq_pair() as second:
        connected = second.get_monitor_socket(zmq.EVENT_HANDSHAKE_SUCCEEDED)
        second.connect(transport.endpoint)
        assert connected.poll(10_000)
        connected.close(0)
        second.send(b"second")
    assert transport._connection is not None and transport._connection.gone_for_s() == 0.0
    peer.send(b"again")
    assert received(transport) == b"again"


def test_a_peer_that_closes_its_end_is_gone_after_its_last_words(
    transport: Transport, peer: zmq.Socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transports, "HUNG_UP_S", 0.0)
    peer.send(b"one")
    peer.send(b"two")
    peer.close(5000)
    connection = transport._connection
    assert connection is not None and wait_until(lambda: connection.gone_for_s() > 0, 10)
    assert [received(transport), received(transport)] == [b"one", b"two"]
    with pytest.raises(RunError, match="the simulator closed its connection but did not end"):
        received(transport)


def test_a_message_that_is_too_long_closes_the_connection(transport: Transport) -> None:
    connection = transport._connection
    assert connection is not None
    with socket.socket(socket.AF_UNIX) as peer:
        peer.connect(transport.endpoint.removeprefix("ipc://"))
        peer.sendall(GREETING + READY + b"\2" + (transports.LONGEST_FRAME + 1).to_bytes(8, "big") + bytes(100))
        assert wait_until(lambda: connection.gone_for_s() > 0, 10)


def test_a_controller_that_ends_leaves_no_name_behind(transport: Transport) -> None:
    directory = Path(transport.endpoint.removeprefix("ipc://")).parent
    assert directory.exists()
    transport.close()
    transport.close()
    assert not directory.exists()
