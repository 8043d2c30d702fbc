"""One run on a simulator in another process: handshake, windows, deadlines, and a clean end whatever happens.

An engine builds the command and hands it to `open_session`; everything else is the same for all simulators.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, Protocol

from causeway.bridge import wire
from causeway.bridge.engine import Finish, RunSpec
from causeway.bridge.errors import RunError
from causeway.bridge.events import Actions, Window
from causeway.bridge.process import Simulator
from causeway.bridge.recording import Recorder
from causeway.bridge.schema import CONTRACT, schema_sha256
from causeway.bridge.transport import Transport

EDGE_PATIENCE = 5
"""The simulator waits this many times as long for the controller as the controller for it. It sees at once when the
controller dies, and one that lives may be compiling its kernels."""

TELLING_S = 1.0
"""A simulator that broke the contract may not listen either: it is told why it is ended, if that takes no longer."""


def open_session(
    spec: RunSpec,
    engine: str,
    command: Sequence[str],
    environment: Mapping[str, str] | None = None,
    directory: Path | None = None,
) -> PairSession:
    """Starts a simulator and shakes hands with it."""
    session = PairSession(spec, engine)
    try:
        session.start(command, environment or {}, directory)
    except BaseException:
        session.close()
        raise
    return session


class Peer(Protocol):
    """The process at the other end."""

    def death(self) -> str | None: ...
    def wait(self, timeout_s: float) -> int | None: ...
    def end(self, grace_s: float = ...) -> None: ...


class PairSession:
    """A run in progress; see `causeway.bridge.engine.Session`."""

    def __init__(self, spec: RunSpec, engine: str) -> None:
        self.engine = engine
        self.engine_version = ""
        self._spec = spec
        self._simulator: Peer | None = None
        self._transport: Transport | None = None
        self._recorder: Recorder | None = None
        self._number = 0
        self._deadline_s = spec.deadline_s

    def start(self, command: Sequence[str], environment: Mapping[str, str], directory: Path | None) -> None:
        """Listens, starts the simulator, shakes hands."""
        if self._spec.record_to is not None:
            self._recorder = Recorder(self._spec.record_to)
        self._transport = Transport(self._spec.options.get("endpoint", "ipc"))
        deadline = {"CAUSEWAY_DEADLINE_S": repr(EDGE_PATIENCE * self._deadline_s)}
        self._simulator = Simulator(
            self.engine, command, {**environment, **self._transport.environment, **deadline}, directory
        )
        self._handshake()

    def _handshake(self) -> None:
        assert self._transport is not None
        frame = self._receive()
        self._transport.peer_is_connected()
        if frame.WhichOneof("body") != "hello":
            self._refuse(f"the simulator ({self.engine}) did not introduce itself")
        hello = frame.hello
        if hello.contract != CONTRACT:
            self._refuse(
                f"the simulator ({self.engine}) speaks contract {hello.contract}, this controller speaks {CONTRACT}; "
                f"rebuild it (causeway build {self.engine})"
            )
        if hello.schema_sha256 != schema_sha256():
            self._refuse(
                f"the simulator ({self.engine}) was built from another proto/causeway.proto (schema "
                f"{hello.schema_sha256[:12] or 'none'}, here {schema_sha256()[:12]}); "
                f"rebuild it (causeway build {self.engine})"
            )
        self.engine_version = hello.engine_version
        self._send(wire.encode_setup(self._spec))

    # ---- Session --------------------------------------------------------------------------------------------------
    def next(self) -> Window | Finish:
        frame = self._receive()
        body = frame.WhichOneof("body")
        if body == "window":
            try:
                window = wire.window(frame.window)
            except RunError as error:
                self._refuse(f"the simulator ({self.engine}) broke the contract: {error}")
            if window.number != self._number:
                self._refuse(f"window {window.number} came instead of window {self._number}")
            self._number += 1
            return window
        if body == "finish":
            self._finish()
            return wire.finish(frame.finish)
        self._refuse(f"the simulator ({self.engine}) sent a frame that has no place here ({body or 'empty'})")

    def answer(self, actions: Actions) -> None:
        self._send(wire.encode_actions(self._number - 1, actions))

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()
            self._transport = None
        if self._simulator is not None:
            self._simulator.end(grace_s=0)
            self._simulator = None
        if self._recorder is not None:
            self._recorder.discard()
            self._recorder = None

    # ---- inside ---------------------------------------------------------------------------------------------------
    def _receive(self) -> Any:
        assert self._transport is not None
        assert self._simulator is not None
        data = self._transport.receive(self._deadline_s, self._simulator.death)
        if self._recorder is not None:
            self._recorder.from_engine(data)
        try:
            frame = wire.decode(data)
        except RunError as error:
            self._refuse(f"the simulator ({self.engine}) broke the contract: {error}")
        if frame.WhichOneof("body") == "error":
            raise RunError(f"the simulator ({self.engine}) cannot go on: {frame.error.what}")
        return frame

    def _send(self, data: bytes) -> None:
        assert self._transport is not None
        assert self._simulator is not None
        if self._recorder is not None:
            self._recorder.from_controller(data)
        self._transport.send(data, self._deadline_s, self._simulator.death)

    def _refuse(self, why: str) -> NoReturn:
        """Tells the simulator why, lets it end by itself for a moment, and raises."""
        assert self._transport is not None
        assert self._simulator is not None
        with contextlib.suppress(RunError):
            self._transport.send(wire.encode_error(why), min(TELLING_S, self._deadline_s), self._simulator.death)
            self._simulator.wait(1.0)
        raise RunError(why)

    def _finish(self) -> None:
        """The last frame is here: the simulator must still end well (it may be writing its result files)."""
        assert self._simulator is not None
        began = time.monotonic()
        while (status := self._simulator.wait(0.2)) is None:
            if time.monotonic() - began > self._deadline_s:
                raise RunError(
                    f"the simulator ({self.engine}) did not end within {self._deadline_s:g} s of its last frame"
                )
        if status != 0:
            raise RunError(self._simulator.death() or "")
        if self._recorder is not None:
            self._recorder.land()
            self._recorder = None
