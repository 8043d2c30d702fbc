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

from causeway.bridge.errors import RunError, UserError
from causeway.bridge.libzmq import LibzmqPair
from causeway.bridge.spin import Spin
from causeway.bridge.zmtp import ZmtpPair

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
        self._pair: ZmtpPair | LibzmqPair | None = None
        self._hung_up: float | None = None
        try:
            self._bind(endpoint)
        except BaseException:
            self.close()
            raise

    def _bind(self, endpoint: str) -> None:
        if endpoint == "ipc":
            self._directory, self._lock = private_directory()
            endpoint = f"ipc://{self._directory}/bridge"
            self.environment["CAUSEWAY_PRIVATE_DIR"] = str(self._directory)
        if endpoint.startswith("ipc://"):
            self._pair = ZmtpPair(endpoint.removeprefix("ipc://"), SLICE_MS, LONGEST_FRAME)
            self.endpoint = endpoint
        elif endpoint == "tcp" or endpoint.startswith("tcp://"):
            self._pair = pair = LibzmqPair(SLICE_MS, HIGH_WATER, LONGEST_FRAME)
            self.endpoint = pair.listen("tcp://127.0.0.1:*" if endpoint == "tcp" else endpoint)
            self.environment.update(pair.environment)
        else:
            raise UserError(f"unknown endpoint '{endpoint}'; use ipc, tcp or tcp://address:port")
        self.environment["CAUSEWAY_ENDPOINT"] = self.endpoint

    def peer_is_connected(self) -> None:
        """From here on nobody else needs the socket's name: remove it and its directory."""
        if self._directory is not None:
            shutil.rmtree(self._directory, ignore_errors=True)
            self._directory = None
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def spin(self, spin_s: float) -> None:
        """From now on `receive` looks so long again and again before it sleeps, if nobody else wants this core."""
        if isinstance(self._pair, ZmtpPair):
            self._pair.spin = Spin(spin_s)

    def receive(self, deadline_s: float, check_peer: Callable[[], str | None]) -> bytes:
        """The next frame. `check_peer` says in words why none can come any more; the deadline bounds the wait."""
        assert self._pair is not None
        if (data := self._pair.receive()) is not None:
            return data
        return self._until(deadline_s, check_peer, self._pair.receive, "said nothing")

    def send(self, data: bytes, deadline_s: float, check_peer: Callable[[], str | None]) -> None:
        """Sends one frame."""
        pair = self._pair
        assert pair is not None
        if not pair.send(data):
            self._until(deadline_s, check_peer, lambda: pair.send(data) or None, "took nothing")

    def _until(
        self, deadline_s: float, check_peer: Callable[[], str | None], attempt: Callable[[], Any], silent: str
    ) -> Any:
        began = time.monotonic() - SLICE_MS / 1000
        while True:
            dead = check_peer()
            if (done := attempt()) is not None:  # also after a death: what it said last may still be on its way
                return done
            if dead is not None:
                raise RunError(dead) from None
            if self._has_hung_up():
                raise RunError(self._told_hung_up) from None
            if time.monotonic() - began >= deadline_s:
                raise RunError(f"the simulator {silent} for {deadline_s:g} s (deadline); it was ended") from None

    def _has_hung_up(self) -> bool:
        """Whether the peer's connection has been gone for a while."""
        now = time.monotonic()
        if self._hung_up is None and self._pair is not None and self._pair.gone:
            self._hung_up = now
        return self._hung_up is not None and now - self._hung_up > HUNG_UP_S

    def close(self, linger_ms: int = 0) -> None:
        """Closes the socket; what was sent gets `linger_ms` to go out."""
        if self._pair is not None:
            self._pair.close(linger_ms)
            self._pair = None
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
