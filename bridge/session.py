"""One run on a simulator in another process: handshake, windows, deadlines, and cleanup after any end.

An engine builds the command and passes it to `open_session`; everything else is the same for all simulators.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn, Protocol

from causeway.bridge import framing
from causeway.bridge.ahead import Launch
from causeway.bridge.engine import Finish, RunSpec
from causeway.bridge.events import Actions, Window
from causeway.bridge.process import Simulator
from causeway.bridge.recording import Recorder
from causeway.bridge.transport import Transport
from causeway.errors import RunError
from causeway.proto.contract import CONTRACT, schema_sha256

ADAPTER_DEADLINES = 5
"""The simulator waits this number of times longer for the controller than the controller for the simulator. The
simulator notices the controller's death at once, and a controller that is alive may be compiling its kernels."""

NO_DEADLINE_S = 1e9
"""Practically no limit, since a user may pause a simulation for hours, in a debugger or a graphical environment."""

ERROR_SEND_S = 1.0
"""The time to send the error to a simulator that broke the contract and may not read any more."""


def open_session(
    spec: RunSpec,
    engine: str,
    command: Sequence[str],
    environment: Mapping[str, str] | None = None,
    directory: Path | None = None,
) -> PairSession:
    """Start a simulator, or take the one that was started ahead of the run, and do the handshake.

    Args:
        spec: The run.
        engine: The engine's name.
        command: The command that starts the simulator.
        environment: Additional environment variables for it.
        directory: Its working directory.
    """
    launch, ahead = Launch(command, environment or {}, directory), spec.ahead
    ready: PairSession | None = None if ahead is None or ahead.starting else ahead.take(launch)
    session = ready or PairSession(replace(spec, ahead=None), engine)
    try:
        if ready is None:
            session.start(launch)
        if ahead is None or not ahead.starting:
            session.greet(spec)
    except BaseException:
        session.close()
        raise
    return session


class Peer(Protocol):
    """The process at the other end."""

    def death(self) -> str | None:
        """Return how it died; None while it lives."""

    def wait(self, timeout_s: float) -> int | None:
        """Return its exit status after it has ended; None if it is still running."""

    def end(self, grace_s: float = ...) -> None:
        """End it."""


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

    def start(self, launch: Launch) -> None:
        """Listen, and start the simulator."""
        self.launch = launch
        if self._spec.record_to is not None:
            self._recorder = Recorder(self._spec.record_to)
        self._transport = Transport(self._spec.options.get("endpoint", "ipc"))
        deadline_s = NO_DEADLINE_S if self._spec.pauses else ADAPTER_DEADLINES * self._deadline_s
        deadline = {"CAUSEWAY_DEADLINE_S": repr(deadline_s)}
        environment = {**launch.environment, **self._transport.environment, **deadline}
        self._simulator = Simulator(self.engine, launch.command, environment, launch.directory)

    def lives(self) -> bool:
        """Return whether the simulator has not died."""
        return self._simulator is not None and self._simulator.death() is None

    def greet(self, spec: RunSpec) -> None:
        """Do the handshake, with the description of the run."""
        assert self._transport is not None
        self._spec = replace(spec, ahead=None)
        frame = self._receive()
        self._transport.peer_is_connected()
        if frame.WhichOneof("body") != "hello":
            self._refuse(f"the simulator ({self.engine}) did not begin with a Hello; rebuild it")
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
        self._send(framing.encode_setup(self._spec))

    # ---- Session --------------------------------------------------------------------------------------------------
    def next(self) -> Window | Finish:
        """See `causeway.bridge.engine.Session`."""
        frame = self._receive()
        body = frame.WhichOneof("body")
        if body == "window":
            try:
                window = framing.window(frame.window)
            except RunError as error:
                self._refuse(f"the simulator ({self.engine}) broke the contract: {error}")
            if window.number != self._number:
                self._refuse(f"window {window.number} came instead of window {self._number}")
            self._number += 1
            return window
        if body == "finish":
            self._finish()
            return framing.finish(frame.finish)
        self._refuse(f"the simulator ({self.engine}) sent a frame of the wrong kind ({body or 'empty'})")

    def answer(self, actions: Actions) -> None:
        """See `causeway.bridge.engine.Session`."""
        self._send(framing.encode_actions(self._number - 1, actions))

    def close(self) -> None:
        """See `causeway.bridge.engine.Session`."""
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
            frame = framing.decode(data)
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
        """Send the reason to the simulator, wait shortly for its end, and raise RunError."""
        assert self._transport is not None
        assert self._simulator is not None
        with contextlib.suppress(RunError):
            self._transport.send(framing.encode_error(why), min(ERROR_SEND_S, self._deadline_s), self._simulator.death)
            self._simulator.wait(1.0)
        raise RunError(why)

    def _finish(self) -> None:
        """Wait until the simulator exits with status 0 (after its last frame, it may still write its result files)."""
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
