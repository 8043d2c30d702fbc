"""Measure the bridge: lockstep windows and a bare ZeroMQ echo of the same bytes, and events in full frames."""

from __future__ import annotations

import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import zmq

from causeway.bridge import engines, framing
from causeway.bridge.engine import RunSpec, Session
from causeway.bridge.events import NO_ACTIONS, ActionRows, Actions, Window
from causeway.bridge.session import open_session
from causeway.bridge.validation_frames import FrameValidator
from causeway.errors import UserError
from causeway.network.networks import AbstractNetwork, constant_delay
from causeway.network.workload import Script, Workload

TOP = Path(__file__).resolve().parent.parent
ROUNDS = 60
ROUND_TRIPS = 400
FRAMES = 6000
BLOCK = 50
MS = 10**9
CHECKED = "lockstep windows, checked over unchecked"
CHECKED_FRAME = "frames of 1,000, checked over unchecked"

COMPARED = {"lockstep share of bare echo": "higher", CHECKED: "lower", CHECKED_FRAME: "lower"}


def run() -> dict[str, object]:
    """Measure all figures."""
    return lockstep() | frames_of_a_thousand()


def lockstep() -> dict[str, object]:
    """Measure two nodes that send one packet to and fro: each window has one event, and each answer one action.

    Rounds over OMNeT++ and rounds of the bare echo take turns, so that both have the same disturbances. The fastest
    round of each counts, since other work on the machine disturbed it least.
    """
    omnet = engines.get("omnet")
    if why := omnet.missing():
        raise UserError(why)
    script = Script(np.zeros(1, np.int64), np.zeros(1, np.int32), np.zeros(1, np.int32))
    network = AbstractNetwork(2, delay=constant_delay(1), workload=Workload(2, script=script))
    spec = RunSpec("bench", {}, 1, network, MS)
    session, validator = omnet.open(spec), FrameValidator(spec)
    try:
        window, answer_size = _bounce(session, 100, validator)
        with BareEcho(b"x" * answer_size, len(framing.encode_window(window))) as echo:
            bridge_s, checked_s, echo_s = [], [], []
            for _ in range(ROUNDS):
                began = time.perf_counter()
                last, _ = _bounce(session, ROUND_TRIPS)
                bridge_s.append(time.perf_counter() - began)
                _passed(validator, ROUND_TRIPS, last)
                echo_s.append(_seconds(lambda: echo.bounce(ROUND_TRIPS)))
                checked_s.append(_seconds(lambda: _bounce(session, ROUND_TRIPS, validator)))
    finally:
        session.close()
    quick, quick_echo = min(bridge_s), min(echo_s)
    return {
        "lockstep windows/s over omnet": ROUND_TRIPS / quick,
        "bare echo round trips/s": ROUND_TRIPS / quick_echo,
        "lockstep share of bare echo": quick_echo / quick,
        "lockstep share, by medians": statistics.median(echo_s) / statistics.median(bridge_s),
        CHECKED: min(checked_s) / quick,
    }


def _passed(validator: FrameValidator, windows: int, last: Window) -> None:
    """Pass this number of windows without validation."""
    validator._s["number"] += windows
    validator.follow(last)


def _bounce(session: Session, times: int, validator: FrameValidator | None = None) -> tuple[Window, int]:
    """Exchange this number of windows and answers, with or without validation.

    Returns:
        The last window, and the bytes of the answer.
    """
    kind, interface, size_bytes = np.zeros(1, np.uint8), np.zeros(1, np.uint8), np.zeros(1, np.int32)
    nodes = np.array([[0], [1]], np.int32)
    window = actions = None
    for _ in range(times):
        window = session.next()
        assert isinstance(window, Window)
        actions = NO_ACTIONS
        if validator is not None:
            validator.check_window(window)
        if len(window):
            node = int(window.node[0])
            columns = (kind, window.time_ps + MS, window.node, window.ref, nodes[1 - node], size_bytes, interface)
            actions = Actions(*columns)
        if validator is not None:
            validator.check_actions(actions, window)
        session.answer(actions)
    assert isinstance(window, Window)
    assert actions is not None
    return window, len(framing.encode_actions(window.number, actions))


class BareEcho:
    """A ZeroMQ PAIR peer in another process that answers with a fixed number of bytes."""

    def __init__(self, question: bytes, answer_size: int) -> None:
        self._question = question
        self._directory = tempfile.TemporaryDirectory(prefix="causeway-bench-")
        endpoint = f"ipc://{self._directory.name}/echo"
        self._context = zmq.Context()
        self._socket = self._context.socket(zmq.PAIR)
        self._socket.bind(endpoint)
        self._process = subprocess.Popen([build("bench/cpp/echo.cc"), endpoint, str(answer_size)])

    def __enter__(self) -> BareEcho:
        self.bounce(100)
        return self

    def bounce(self, times: int) -> None:
        """Make this number of round trips."""
        socket, question = self._socket, self._question
        for _ in range(times):
            socket.send(question)
            socket.recv()

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        self._context.destroy(0)
        self._directory.cleanup()


def frames_of_a_thousand() -> dict[str, object]:
    """Measure frames of 1,000 events between an adapter that only sends and a controller that only reads columns.

    Blocks of frames with and without validation take turns.
    """
    spec = RunSpec("bench", {}, 1, AbstractNetwork(1000, delay=constant_delay(1), workload=Workload(1000)), MS)
    session, validator = (
        open_session(spec, "blast", [str(build("bench/cpp/blast.cc")), str(FRAMES)]),
        FrameValidator(spec),
    )
    try:
        first = _take(session, 1, validator)
        validator.check_actions(ActionRows([(0,) * 8], made=(1000 * FRAMES, 0)), first)  # the packets that will arrive
        free_s, checked_s = [], []
        for _ in range(FRAMES // BLOCK // 2):
            began = time.perf_counter()
            last = _take(session, BLOCK)
            free_s.append(time.perf_counter() - began)
            _passed(validator, BLOCK, last)
            checked_s.append(_seconds(lambda: _take(session, BLOCK, validator)))
    finally:
        session.close()
    return {"events/s through frames of 1,000": 1000 * BLOCK / min(free_s), CHECKED_FRAME: min(checked_s) / min(free_s)}


def _take(session: Session, frames: int, validator: FrameValidator | None = None) -> Window:
    """Read this number of frames, with or without validation; return the last one."""
    for _ in range(frames):
        window = session.next()
        assert isinstance(window, Window)
        if validator is not None:
            validator.check_window(window)
        for column in (window.kind, window.time_ps, window.node, window.ref, window.arg):
            column.sum()
        session.answer(NO_ACTIONS)
    return window


def build(source: str) -> Path:
    """Build a C++ program that is linked with the client library."""
    made = subprocess.run(
        ["make", "-s", "-C", str(TOP / "bridge" / "cpp"), "program", f"SOURCE={source}"], capture_output=True, text=True
    )
    if made.returncode != 0:
        raise UserError(f"cannot build {source}: {made.stderr.strip().splitlines()[-1]}")
    return TOP / "build" / "programs" / Path(source).stem


def _seconds(what: Callable[[], object]) -> float:
    began = time.perf_counter()
    what()
    return time.perf_counter() - began
