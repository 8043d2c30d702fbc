"""The controller's end of the socket: where it listens, and who may connect.

By default a PAIR socket over ipc:// in a private directory (0700) that is gone as soon as the simulator has
connected. tcp:// only on request; it always uses CURVE with keys made for this one run, which the simulator gets in
its environment.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import zmq

from causeway.bridge.errors import RunError, UserError

SLICE_MS = 100
"""How often a waiting controller looks whether the simulator still lives."""
HIGH_WATER = 64
"""Frames in flight. Edges stay below it (they want a reply now and then): beyond it libzmq stops reading, and what it
has not read is lost when the simulator ends."""
LONGEST_FRAME = 1 << 27
"""Bytes. Of more, the connection is closed: memory stays bounded whatever the peer sends."""
HUNG_UP_S = 2.0
"""So long after its connection is gone, a simulator that still runs will not say anything any more."""
HUNG_UP = "the simulator closed its connection but did not end; it was ended"
PREFIX = "causeway-run-"
LONGEST_SOCKET_PATH = 100


class Transport:
    """One listening PAIR socket for one peer."""

    def __init__(self, endpoint: str = "ipc", hung_up: str = HUNG_UP) -> None:
        """`endpoint`: "ipc", "ipc://path" (in a folder of the caller's), "tcp" (loopback, any free port) or
        "tcp://address:port". `hung_up` is what is told when the peer closes its end."""
        self._told_hung_up = hung_up
        self.environment: dict[str, str] = {}
        self._directory: Path | None = None
        self._lock: int | None = None
        self._context = zmq.Context()
        self._context.set(zmq.IO_THREADS, 1)
        socket = self._socket = self._context.socket(zmq.PAIR)
        for option in (zmq.RCVTIMEO, zmq.SNDTIMEO):
            socket.setsockopt(option, SLICE_MS)
        for option in (zmq.RCVHWM, zmq.SNDHWM):
            socket.setsockopt(option, HIGH_WATER)
        socket.setsockopt(zmq.LINGER, 0)
        socket.setsockopt(zmq.MAXMSGSIZE, LONGEST_FRAME)
        self._monitor: Any = None
        self._hung_up: float | None = None
        try:
            self._bind(endpoint)
        except BaseException:
            self.close()
            raise

    def _bind(self, endpoint: str) -> None:
        if endpoint == "ipc":
            self._directory, self._lock = private_directory()
            self.endpoint = f"ipc://{self._directory}/bridge"
            self._socket.bind(self.endpoint)
            self._monitor = self._socket.get_monitor_socket(zmq.EVENT_DISCONNECTED)  # over tcp, strangers come and go
            self.environment["CAUSEWAY_PRIVATE_DIR"] = str(self._directory)
        elif endpoint.startswith("ipc://"):
            self.endpoint = endpoint
            self._socket.bind(endpoint)
            self._monitor = self._socket.get_monitor_socket(zmq.EVENT_DISCONNECTED)
        elif endpoint == "tcp" or endpoint.startswith("tcp://"):
            self._use_curve()
            try:
                self._socket.bind("tcp://127.0.0.1:*" if endpoint == "tcp" else endpoint)
            except zmq.ZMQError as error:
                raise UserError(f"cannot listen on {endpoint}: {error}; use 'tcp' for any free port") from None
            self.endpoint = self._socket.getsockopt_string(zmq.LAST_ENDPOINT)
        else:
            raise UserError(f"unknown endpoint '{endpoint}'; use ipc, tcp or tcp://address:port")
        self.environment["CAUSEWAY_ENDPOINT"] = self.endpoint

    def _use_curve(self) -> None:
        server_public, server_secret = zmq.curve_keypair()
        client_public, client_secret = zmq.curve_keypair()
        self._socket.curve_server = True
        self._socket.curve_publickey, self._socket.curve_secretkey = server_public, server_secret
        self.environment.update(
            CAUSEWAY_CURVE_SERVER_KEY=server_public.decode(),
            CAUSEWAY_CURVE_PUBLIC_KEY=client_public.decode(),
            CAUSEWAY_CURVE_SECRET_KEY=client_secret.decode(),
        )

    def peer_is_connected(self) -> None:
        """From here on nobody else needs the socket's name: remove it and its directory."""
        if self._directory is not None:
            shutil.rmtree(self._directory, ignore_errors=True)
            self._directory = None
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def receive(self, deadline_s: float, check_peer: Callable[[], str | None]) -> bytes:
        """The next frame. `check_peer` says in words why none can come any more; the deadline bounds the wait."""
        try:
            return self._socket.recv()
        except zmq.Again:
            return self._until(deadline_s, check_peer, self._socket.recv, "said nothing")

    def send(self, data: bytes, deadline_s: float, check_peer: Callable[[], str | None]) -> None:
        """Sends one frame."""
        try:
            self._socket.send(data)
        except zmq.Again:
            self._until(deadline_s, check_peer, lambda: self._socket.send(data), "took nothing")

    def _until(
        self, deadline_s: float, check_peer: Callable[[], str | None], attempt: Callable[..., Any], silent: str
    ) -> bytes:
        began = time.monotonic() - SLICE_MS / 1000
        while True:
            dead = check_peer()
            with contextlib.suppress(zmq.Again):
                return attempt()  # also after a death: what it said last may still be on its way
            if dead is not None:
                raise RunError(dead) from None
            if self._has_hung_up():
                raise RunError(self._told_hung_up) from None
            if time.monotonic() - began >= deadline_s:
                raise RunError(f"the simulator {silent} for {deadline_s:g} s (deadline); it was ended") from None

    def _has_hung_up(self) -> bool:
        """Whether the peer's connection has been gone for a while."""
        now = time.monotonic()
        if self._hung_up is None and self._monitor is not None and self._monitor.poll(0):
            self._hung_up = now
        return self._hung_up is not None and now - self._hung_up > HUNG_UP_S

    def close(self, linger_ms: int = 0) -> None:
        """Closes the socket; what was sent gets `linger_ms` to go out."""
        if not self._context.closed:
            if self._monitor is not None:
                self._socket.disable_monitor()
                self._monitor.close(0)
                self._monitor = None
            self._socket.close(linger_ms)
            self._context.term()
        self.peer_is_connected()


def private_directory() -> tuple[Path, int]:
    """A new directory only we can enter, locked while this process lives; sweeps those of killed processes."""
    parent = Path(tempfile.gettempdir())
    if len(str(parent)) > LONGEST_SOCKET_PATH - 30:
        parent = Path("/tmp")  # a socket's name has room for about 100 bytes
    for old in parent.glob(f"{PREFIX}*"):
        _sweep(old)
    directory = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
    lock = os.open(directory, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    return directory, lock


def _sweep(directory: Path) -> None:
    """Removes a private directory whose owner died.

    A living owner holds the lock; a young directory may not be locked yet.
    """
    with contextlib.suppress(OSError):
        if directory.stat().st_uid != os.getuid() or time.time() - directory.stat().st_mtime < 60:
            return
        lock = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(directory, ignore_errors=True)
        finally:
            os.close(lock)
