"""The controller's end of the socket: its address, and the access to it.

The default is a PAIR socket over ipc:// in a private directory (0700), which is removed as soon as the simulator has
connected. tcp:// is used only on request, and always with CURVE; the keys are made for this run and passed to the
simulator in its environment.
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
from typing import TypeVar

import zmq
from zmq.utils.monitor import recv_monitor_message

from causeway.errors import RunError, UserError

SLICE_MS = 100
"""The interval at which a waiting controller checks that the simulator is alive."""
HIGH_WATER = 64
"""The maximum number of frames in flight. Adapters stay below it, since they regularly wait for a reply. Beyond it,
libzmq stops reading, and unread frames are lost when the simulator ends."""
LONGEST_FRAME = 1 << 27
"""The maximum size of a frame in bytes. libzmq closes the connection at a longer one, which bounds the memory."""
HUNG_UP_S = 2.0
"""A simulator that still runs this long after the end of its connection counts as stuck."""
HUNG_UP = "the simulator closed its connection but did not end; it was ended"
LINGER_MS = 200
"""The time to send the last frame (for example an error) when the socket is closed."""
PREFIX = "causeway-run-"
LONGEST_SOCKET_PATH = 100

T = TypeVar("T")


class Transport:
    """One listening PAIR socket for one peer."""

    def __init__(self, endpoint: str = "ipc", hung_up: str = HUNG_UP) -> None:
        """Listen at an endpoint.

        Args:
            endpoint: "ipc", "ipc://path" (in a folder of the caller's), "tcp" (loopback, any free port) or
                "tcp://address:port".
            hung_up: The error message for a peer that closes its end.
        """
        self.environment: dict[str, str] = {}
        self._hung_up_words = hung_up
        self._directory: Path | None = None
        self._lock: int | None = None
        self._context = zmq.Context()
        self._socket = self._context.socket(zmq.PAIR)
        for option in (zmq.RCVTIMEO, zmq.SNDTIMEO):
            self._socket.setsockopt(option, SLICE_MS)
        for option in (zmq.RCVHWM, zmq.SNDHWM):
            self._socket.setsockopt(option, HIGH_WATER)
        self._socket.setsockopt(zmq.MAXMSGSIZE, LONGEST_FRAME)
        self._connection: _Connection | None = None
        try:
            self._bind(endpoint)
        except BaseException:
            self.close()
            raise

    def _bind(self, endpoint: str) -> None:
        if endpoint == "ipc":
            self._directory, self._lock = private_directory()
            endpoint = f"ipc://{self._directory}/bridge"
        if endpoint.startswith("ipc://"):
            self._connection = _Connection(self._socket)
        elif endpoint == "tcp" or endpoint.startswith("tcp://"):
            endpoint = "tcp://127.0.0.1:*" if endpoint == "tcp" else endpoint
            self.environment.update(_require_keys(self._socket))
        else:
            raise UserError(f"unknown endpoint '{endpoint}'; use ipc, tcp or tcp://address:port")
        try:
            self._socket.bind(endpoint)
        except zmq.ZMQError as error:
            raise UserError(f"cannot listen on {endpoint}: {error}; use 'tcp' for any free port") from None
        self.endpoint = self._socket.getsockopt_string(zmq.LAST_ENDPOINT)
        self.environment["CAUSEWAY_ENDPOINT"] = self.endpoint

    def peer_is_connected(self) -> None:
        """Remove the socket's name and its directory, which are not needed after the connection."""
        if self._directory is not None:
            shutil.rmtree(self._directory, ignore_errors=True)
            self._directory = None
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def receive(self, deadline_s: float, check_peer: Callable[[], str | None]) -> bytes:
        """Return the next frame.

        Args:
            deadline_s: The longest wait for the whole frame.
            check_peer: Returns the reason why no frame can come any more, or None.
        """
        began = time.monotonic()
        try:
            return self._socket.recv()
        except zmq.Again:
            return self._until(began + deadline_s, deadline_s, check_peer, self._socket.recv, "said nothing")

    def send(self, data: bytes, deadline_s: float, check_peer: Callable[[], str | None]) -> None:
        """Send one frame. For the arguments see `receive`."""
        began = time.monotonic()
        try:
            self._socket.send(data)
        except zmq.Again:
            self._until(began + deadline_s, deadline_s, check_peer, lambda: self._socket.send(data), "took nothing")

    def _until(
        self, end: float, deadline_s: float, check_peer: Callable[[], str | None], attempt: Callable[[], T], silent: str
    ) -> T:
        """Repeat an attempt, which takes up to a slice, until it succeeds. Return its result."""
        while True:
            dead = check_peer()
            with contextlib.suppress(zmq.Again):  # also after a death, since its last frame may still be on its way
                return attempt()
            if dead is not None:
                raise RunError(dead) from None
            if self._connection is not None and self._connection.gone_for_s() > HUNG_UP_S:
                raise RunError(self._hung_up_words) from None
            if time.monotonic() >= end:
                raise RunError(f"the simulator {silent} for {deadline_s:g} s (deadline); it was ended") from None

    def close(self) -> None:
        """Close the socket."""
        if not self._context.closed:
            if self._connection is not None:
                self._connection.close()
            self._socket.close(LINGER_MS)
            self._context.term()
        self.peer_is_connected()


class _Connection:
    """The state of the connection to the first peer.

    Others may connect (for example a second simulation), but PAIR ignores them. Over tcp any program can connect, so
    the first peer cannot be identified, and only the deadline shows that it has gone.
    """

    def __init__(self, socket: zmq.Socket[bytes]) -> None:
        self._events = socket.get_monitor_socket(zmq.EVENT_ACCEPTED | zmq.EVENT_DISCONNECTED)
        self._peer: int | None = None
        self._gone_at: float | None = None

    def gone_for_s(self) -> float:
        """Return how long the peer has been gone; 0 if it is connected, or never was."""
        while self._events.poll(0):
            event = recv_monitor_message(self._events)
            if event["event"] == zmq.EVENT_ACCEPTED and self._peer is None:
                self._peer = event["value"]
            elif event["event"] == zmq.EVENT_DISCONNECTED and event["value"] == self._peer and self._gone_at is None:
                self._gone_at = time.monotonic()
        return 0.0 if self._gone_at is None else time.monotonic() - self._gone_at

    def close(self) -> None:
        """Close the socket that reports connections and disconnections."""
        self._events.close(0)


def _require_keys(socket: zmq.Socket[bytes]) -> dict[str, str]:
    """Restrict a socket to a peer with this run's keys; return them as its environment."""
    server_public, server_secret = zmq.curve_keypair()
    client_public, client_secret = zmq.curve_keypair()
    socket.curve_server = True
    socket.curve_publickey, socket.curve_secretkey = server_public, server_secret
    return {
        "CAUSEWAY_CURVE_SERVER_KEY": server_public.decode(),
        "CAUSEWAY_CURVE_PUBLIC_KEY": client_public.decode(),
        "CAUSEWAY_CURVE_SECRET_KEY": client_secret.decode(),
    }


def private_directory() -> tuple[Path, int]:
    """Make a directory that only this user can enter, locked while this process lives.

    Directories of killed processes are removed.
    """
    parent = Path(tempfile.gettempdir())
    if len(str(parent)) > LONGEST_SOCKET_PATH - 30:
        parent = Path("/tmp")  # a socket's name may have about 100 bytes
    for old in parent.glob(f"{PREFIX}*"):
        _sweep(old)
    directory = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
    lock = os.open(directory, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    return directory, lock


def _sweep(directory: Path) -> None:
    """Remove a private directory whose owner died.

    An owner that is alive holds the lock. A new directory may not be locked yet.
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
