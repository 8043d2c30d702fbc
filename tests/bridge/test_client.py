"""The C++ client: windows follow the contract, and a run has a clear end whatever the controller does."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from causeway.bridge import framing
from causeway.bridge.engine import Finish
from causeway.bridge.events import PAD, Act, ActionRows, Actions, Kind, Window, no_actions
from causeway.bridge.session import open_session
from causeway.bridge.transport import Transport
from causeway.proto.contract import CONTRACT, pb
from tests.helpers.bridge_tools import TOP, build_cpp, build_sanitized, small_spec
from tests.helpers.drawn import examples

L_PS = 1_000_000
TIMERS = 40


@pytest.fixture(scope="module", params=["plain", pytest.param("sanitized", marks=pytest.mark.slow)])
def ticker(request: pytest.FixtureRequest) -> Path:
    """Build the program, also with AddressSanitizer and UBSan, whose findings end it with a report."""
    return build_cpp("ticker") if request.param == "plain" else build_sanitized("ticker")


def timers(time_ps: list[int]) -> Actions:
    rows = len(time_ps)
    zeros = np.zeros(rows, np.int32)
    return Actions(
        np.full(rows, Act.SET_TIMER, np.uint8), np.array(time_ps, np.int64), zeros + 2,
        np.arange(rows, dtype=np.int64)[::-1], zeros, zeros, np.zeros(rows, np.uint8),
    )  # fmt: skip


def windows_of_a_run(
    ticker: Path, time_ps: list[int], answer: Callable[[Window], Actions] = lambda _: timers([]), **changes: Any
) -> tuple[list[Window], Finish]:
    """Return the windows of a run in which the controller sets these timers at the start, and then answers so."""
    session = open_session(small_spec(**{"reaction_ps": L_PS, **changes}), "ticker", [str(ticker)])
    try:
        windows: list[Window] = []
        while not isinstance(event := session.next(), Finish):
            windows.append(event)
            if event.reply:
                session.answer(timers(time_ps) if event.number == 0 else answer(event))
        return windows, event
    finally:
        session.close()


def rows(windows: list[Window]) -> list[tuple[int, int, int]]:
    return [row for w in windows for row in zip(w.time_ps.tolist(), w.kind.tolist(), w.ref.tolist(), strict=True)]


SPREAD = [L_PS + L_PS // 4 * (i // 2) for i in range(TIMERS)]  # two at every instant, eight in every window


def test_the_first_window_is_empty_ends_at_zero_and_needs_a_reply(ticker: Path) -> None:
    windows, _ = windows_of_a_run(ticker, SPREAD)
    assert (windows[0].number, windows[0].end_ps, windows[0].reply, len(windows[0])) == (0, 0, True, 0)


def test_a_window_ends_one_reaction_time_after_its_first_active_event(ticker: Path) -> None:
    windows, finish = windows_of_a_run(ticker, SPREAD)
    assert [(len(w), w.end_ps, w.reply) for w in windows[1:]] == [(8, L_PS * (2 + i), True) for i in range(TIMERS // 8)]
    assert finish == Finish("done", SPREAD[-1], TIMERS, {("ticker", "events"): TIMERS})


def test_ties_are_in_canonical_order_however_the_adapter_reported_them(ticker: Path) -> None:
    windows, _ = windows_of_a_run(ticker, SPREAD)
    assert rows(windows) == sorted(rows(windows))
    assert [ref for _, _, ref in rows(windows)][:4] == [TIMERS - 2, TIMERS - 1, TIMERS - 4, TIMERS - 3]


@pytest.mark.parametrize("cap", [1, 3, 7, 16])
def test_a_cap_closes_windows_at_full_instants_and_loses_nothing(ticker: Path, cap: int) -> None:
    whole, _ = windows_of_a_run(ticker, SPREAD)
    capped, _ = windows_of_a_run(ticker, SPREAD, cap=cap)
    assert rows(capped) == rows(whole)
    assert max(len(w) for w in capped) == min(8, cap + cap % 2)
    instants = [set(w.time_ps.tolist()) for w in capped]
    assert all(a.isdisjoint(b) for a, b in itertools.pairwise(instants))


def test_passive_events_close_no_window_and_want_no_reply(ticker: Path) -> None:
    windows, _ = windows_of_a_run(ticker, SPREAD, passive_kinds=1 << Kind.TIMER)
    assert [(len(w), w.reply) for w in windows] == [(0, True), (TIMERS, False)]


def test_passive_windows_are_sent_to_a_slow_controller_and_none_is_lost(ticker: Path) -> None:
    """The last frames of the adapter are still in flight when it ends."""
    spec = small_spec(reaction_ps=L_PS, passive_kinds=1 << Kind.TIMER, cap=1)
    session = open_session(spec, "ticker", [str(ticker)])
    try:
        seen = 0
        while not isinstance(event := session.next(), Finish):
            seen += len(event)
            if event.reply:
                session.answer(timers([L_PS + i for i in range(500)] if event.number == 0 else []))
            if event.number in (1, 490):
                time.sleep(0.3)
    finally:
        session.close()
    assert seen == 500


def spawning(seed: int, stop_at: int) -> Callable[[Window], Actions]:
    """Return a controller in which each timer may set others that meet those of others; it ends the run once so many
    came."""
    made, seen = [10**6], [0]

    def answer(window: Window) -> Actions:
        found: list[tuple[int, ...]] = []
        for time_ps, ref in zip(window.time_ps.tolist(), window.ref.tolist(), strict=True):
            seen[0] += 1
            draw = (ref * 2654435761 + seed) % 97
            for child in range(draw % 3 if seen[0] < 60 and seen[0] <= stop_at else 0):
                due_ps = time_ps + L_PS + L_PS // 4 * (draw % 7 + child)
                found.append((int(Act.SET_TIMER), due_ps, made[0] % 3, made[0], *PAD[4]))
                made[0] += 1
        return ActionRows(found, stop=seen[0] >= stop_at)

    return answer


@settings(max_examples=examples(25))
@given(
    first=st.lists(st.integers(0, 40).map(lambda i: L_PS + L_PS // 8 * i), min_size=1, max_size=25),
    seed=st.integers(0, 10**6),
    cap=st.sampled_from([1, 2, 5]),
    duration_ps=st.sampled_from([0, 2 * L_PS, 5 * L_PS // 2, 7 * L_PS + 1]),
    stop_at=st.sampled_from([10**9, 10**9, 7]),
)
def test_the_events_of_a_run_are_the_same_with_any_cap(
    ticker: Path, first: list[int], seed: int, cap: int, duration_ps: int, stop_at: int
) -> None:
    def events(cap: int) -> list[tuple[int, int, int]]:
        answer = spawning(seed, stop_at)
        return rows(windows_of_a_run(ticker, first, answer, duration_ps=duration_ps, cap=cap)[0])[:stop_at]

    assert events(cap) == events(0)


def test_an_answer_may_be_empty_and_stop_the_run(ticker: Path) -> None:
    windows, finish = windows_of_a_run(ticker, [L_PS, L_PS + L_PS // 2, 3 * L_PS], lambda _: no_actions(stop=True))
    assert (len(rows(windows)), finish.reason) == (2, "stopped")


def test_the_run_ends_at_its_duration(ticker: Path) -> None:
    windows, _ = windows_of_a_run(ticker, SPREAD, duration_ps=3 * L_PS)
    assert rows(windows)[-1][0] == 3 * L_PS - L_PS // 4
    assert len(rows(windows)) == 16


def test_over_tcp_the_adapter_finds_the_runs_keys_in_its_environment(ticker: Path) -> None:
    windows, _ = windows_of_a_run(ticker, SPREAD, options={"endpoint": "tcp"})
    assert len(rows(windows)) == TIMERS


# ---- the other side behaves badly ------------------------------------------------------------------------------------


def adapter_against(ticker: Path, *replies: bytes, deadline_s: float = 5) -> tuple[int, str]:
    """Run the adapter against these frames, sent one after the other; return its exit status and output."""
    transport = Transport()
    environment = {**os.environ, **transport.environment, "CAUSEWAY_DEADLINE_S": str(deadline_s)}
    try:
        with subprocess.Popen([ticker], env=environment, stderr=subprocess.PIPE, text=True) as process:
            transport.receive(10, lambda: None)
            for number, reply in enumerate(replies):
                if number > 0:
                    transport.receive(10, lambda: None)
                transport.send(reply, 10, lambda: None)
            reported = process.communicate(timeout=20)[1]
            return process.returncode, reported
    finally:
        transport.close()


def setup(**changes: object) -> bytes:
    frame = pb.Frame.FromString(framing.encode_setup(small_spec()))
    for name, value in changes.items():
        setattr(frame.setup, name, value)
    return frame.SerializeToString()


def test_the_adapter_says_why_it_was_refused(ticker: Path) -> None:
    status, reported = adapter_against(ticker, framing.encode_error("wrong weather"))
    assert status == 3
    assert reported.startswith("causeway: ")
    assert reported.endswith(": wrong weather\n")


@pytest.mark.parametrize("change", [{"contract": CONTRACT + 1}, {"schema_sha256": "cd" * 32}])
def test_the_adapter_refuses_a_controller_of_another_contract(ticker: Path, change: dict) -> None:
    status, reported = adapter_against(ticker, setup(**change))
    assert status == 3
    assert reported.startswith(f"causeway: this adapter was built from contract {CONTRACT} (schema ")
    assert reported.endswith("; rebuild the adapter\n")


@pytest.mark.parametrize("junk", [b"\xff" * 300, setup()[:-9]])
def test_the_adapter_refuses_bytes_that_are_no_frame(ticker: Path, junk: bytes) -> None:
    status, reported = adapter_against(ticker, junk)
    assert status == 3
    assert "not a frame of this contract" in reported


def test_the_adapter_refuses_actions_that_come_too_late(ticker: Path) -> None:
    late = timers([-5])
    status, reported = adapter_against(ticker, setup(), framing.encode_actions(0, late))
    assert (status, reported) == (
        3,
        "causeway: action 0 of window 0 is wrong: an effect at -5 ps is too early or too late; allowed: 0 to "
        "4611686018427387903 ps\n",
    )


def test_the_adapter_refuses_an_answer_to_another_window(ticker: Path) -> None:
    status, reported = adapter_against(ticker, setup(), framing.encode_actions(4, timers([])))
    assert status == 3
    assert "window 4 instead of 0" in reported


def test_a_silent_controller_is_left_at_the_deadline(ticker: Path) -> None:
    status, reported = adapter_against(ticker, deadline_s=0.7)
    assert status == 3
    assert reported.startswith("causeway: the controller was silent for 0.")


def test_an_adapter_without_a_controller_says_how_to_start_it(ticker: Path) -> None:
    done = subprocess.run([ticker], capture_output=True, text=True, timeout=20, check=False)
    assert done.returncode == 3
    assert done.stderr.startswith("causeway: CAUSEWAY_ENDPOINT is not set; start this simulation with `causeway run")


@pytest.mark.slow
@pytest.mark.parametrize("stopped", [False, True])
@pytest.mark.parametrize("when", ["before the handshake", "in mid-run"])
def test_when_the_controller_is_killed_the_adapter_is_gone_even_if_it_is_stopped(
    ticker: Path, tmp_path: Path, when: str, stopped: bool
) -> None:
    script = (
        "import sys, time\n"
        "from causeway.bridge import framing\n"
        "from causeway.bridge.process import Simulator\n"
        "from causeway.bridge.transport import Transport\n"
        "from tests.helpers.bridge_tools import small_spec\n"
        "transport = Transport()\n"
        f"simulator = Simulator('ticker', ['{ticker}'], transport.environment)\n"
        "transport.receive(10, simulator.death)\n"
        "if sys.argv[1] == 'in mid-run':\n"
        "    transport.peer_is_connected()\n"
        "    transport.send(framing.encode_setup(small_spec()), 10, simulator.death)\n"
        "    transport.receive(10, simulator.death)\n"
        "print(simulator.pid, flush=True)\n"
        "time.sleep(600)\n"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        [sys.executable, "-c", script, when], cwd=TOP, env=environment, stdout=subprocess.PIPE, text=True
    ) as controller:
        assert controller.stdout is not None
        adapter = int(controller.stdout.readline())
        if stopped:
            os.kill(adapter, signal.SIGSTOP)
        controller.send_signal(signal.SIGKILL)
    end = time.monotonic() + 30
    while is_alive(adapter) and time.monotonic() < end:
        time.sleep(0.02)
    assert not is_alive(adapter)
    if when == "in mid-run":
        assert list(tmp_path.glob("causeway-*")) == []


def is_alive(process: int) -> bool:
    status = Path(f"/proc/{process}/status")
    return status.exists() and "State:\tZ" not in status.read_text()
