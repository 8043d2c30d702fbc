"""The controller's socket over ipc: it listens on a Unix domain socket and speaks ZMTP 3.0 (rfc.zeromq.org/spec/23), as
`bridge/cpp/zmtp.cc` does at the other end. The peer may as well be an ordinary ZeroMQ PAIR.

libzmq moves every message through a thread of its own, which must wake up twice for each window. A controller has one
peer and one thread, and nothing to do while it waits: blocking calls are all it needs (docs/lab/bridge.md).
"""

from __future__ import annotations

import contextlib
import select
import socket
import struct
import time
from collections.abc import Callable
from pathlib import Path

from causeway.bridge.spin import Spin

MORE, LONG, COMMAND = 1, 2, 4
"""Flags of a frame."""
GREETING = b"\xff" + bytes(8) + b"\x7f\x03\x00NULL" + bytes(48)
READY = b"\x04\x1a\x05READY\x0bSocket-Type\x00\x00\x00\x04PAIR"
HANDSHAKE_S = 20.0
"""So long has somebody who connects to say who it is."""
AT_ONCE = 1 << 16
GONE_S = 0.01
"""How long a call takes when the peer is gone: nothing will come."""
SLICE = struct.Struct("@ll")
"""A struct timeval."""


class ZmtpPair:
    """Listens for one peer. `receive` and `send` take no longer than a slice."""

    def __init__(self, path: str, slice_ms: int, longest: int) -> None:
        """A message that is longer than `longest` closes the connection: memory stays bounded."""
        self._path, self._longest = Path(path), longest
        self._slice = SLICE.pack(slice_ms // 1000, slice_ms % 1000 * 1000)
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.settimeout(slice_ms / 1000)
        self._peer: socket.socket | None = None
        self._held = b""
        """What came and was not taken yet."""
        self._left: memoryview | None = None
        """Of the message on its way."""
        self.gone = False
        self._look: Callable[[int], list[tuple[int, int]]] = lambda _: []
        """Whether something has come: without an exception, which takes longer than the look."""
        self.spin: Spin | None = None
        """Where `receive` looks again and again before it sleeps: for a controller with a core of its own."""
        with contextlib.suppress(FileNotFoundError):
            self._path.unlink()
        self._listener.bind(path)
        self._listener.listen(4)

    def receive(self) -> bytes | None:
        """The next message; None if none came within a slice."""
        if self._peer is None and not self._accept():
            return None
        if self._held and (message := self._take()) is not None:
            return message
        spin_s = self.spin.next_s() if self.spin is not None else 0.0
        data = self._spin(spin_s) if spin_s else self._read()
        if not data:
            return None
        if not self._held:  # nearly always it is one whole message
            if data[0] == 0 and len(data) > 1 and len(data) == data[1] + 2:
                return data[2:]
            if data[0] == LONG and len(data) > 8 and len(data) == int.from_bytes(data[1:9], "big") + 9:
                return data[9:]
        self._held += data
        return self._take()

    def send(self, message: bytes) -> bool:
        """False if it did not all go out within a slice: call again with the same one."""
        if self._peer is None or self.gone:
            time.sleep(GONE_S)
            return False
        if self._left is None:
            size = len(message)
            head = bytes((0, size)) if size < 256 else b"\x02" + size.to_bytes(8, "big")
            self._left = memoryview(head + message)
        try:
            while len(self._left):
                self._left = self._left[self._peer.send(self._left) :]
        except BlockingIOError:
            return False
        except OSError:
            self.gone = True  # what it said last can still be received
            return False
        self._left = None
        return True

    def close(self, linger_ms: int = 0) -> None:
        """What was sent stays readable for the peer."""
        if self._peer is not None:
            self._peer.close()
            self._peer = None
        self._listener.close()
        with contextlib.suppress(OSError):
            self._path.unlink()

    # ---- inside ---------------------------------------------------------------------------------------------------
    def _spin(self, spin_s: float) -> bytes:
        look, now = self._look, time.perf_counter
        end = now() + spin_s
        while now() < end:
            if look(0):
                break
        return self._read()

    def _read(self) -> bytes:
        """What has come; nothing after a slice, or if the peer is gone."""
        assert self._peer is not None
        try:
            data = self._peer.recv(AT_ONCE)
        except BlockingIOError:
            return b""
        except OSError:
            data = b""
        if not data:
            self._hang_up()
        return data

    def _take(self) -> bytes | None:
        """The next message of what is held, and of what is there already."""
        while True:
            held = self._held
            head = 9 if held and held[0] & LONG else 2
            if len(held) < head:
                return None
            end = head + int.from_bytes(held[1:head], "big")
            if end - head > self._longest:
                self._hang_up()
                return None
            if len(held) < end:
                return self._take_long(end) if len(held) >= AT_ONCE else None
            self._held = held[end:]
            if not held[0] & COMMAND:
                return held[head:end]

    def _take_long(self, end: int) -> bytes | None:
        """The rest of a long message, without moving what is there already for each piece."""
        whole = bytearray(self._held)
        while len(whole) < end and (data := self._read()):
            whole += data
        self._held = bytes(whole)
        return self._take() if len(whole) >= end else None

    def _hang_up(self) -> None:
        self.gone = True
        if self._peer is not None:
            self._peer.close()
            self._peer = None

    def _accept(self) -> bool:
        """Whether a peer is here; whoever does not speak as one is not."""
        if self.gone:
            time.sleep(GONE_S)
            return False
        try:
            peer, _ = self._listener.accept()
        except TimeoutError:
            return False
        peer.settimeout(HANDSHAKE_S)
        try:
            peer.sendall(GREETING)
            self._held = _exactly(peer, len(GREETING))
            if self._held[0] != 0xFF or self._held[10] < 3 or self._held[12:17] != b"NULL\0":
                raise ValueError("no ZMTP 3 without encryption")
            peer.sendall(READY)
            head = _exactly(peer, 2)
            if head[0] != COMMAND or not _exactly(peer, head[1]).startswith(b"\x05READY"):
                raise ValueError("not ready")
        except (OSError, ValueError):
            peer.close()
            return False
        finally:
            self._held = b""
        peer.settimeout(None)
        for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
            peer.setsockopt(socket.SOL_SOCKET, option, self._slice)
        self._peer = peer
        looking = select.poll()
        looking.register(peer, select.POLLIN)
        self._look = looking.poll
        return True


def _exactly(peer: socket.socket, size: int) -> bytes:
    """So many bytes."""
    found = b""
    while len(found) < size:
        data = peer.recv(size - len(found))
        if not data:
            raise ValueError("it hung up")
        found += data
    return found
