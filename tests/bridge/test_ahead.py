"""A simulator may go on while the controller works on a window: what a run computes does not depend on it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from causeway.bridge import engines, wire
from causeway.bridge.border import Border
from causeway.bridge.engine import Finish, RunSpec
from causeway.bridge.errors import RunError
from causeway.bridge.events import Act, Actions, Kind, Patience, Window, no_actions
from causeway.bridge.network import AbstractNetwork, constant_delay, uniform_delay
from causeway.bridge.session import open_session
from causeway.bridge.workload import Segment, Workload
from causeway.pycontrol.checker import CausalityChecker
from causeway.pycontrol.loop import Outcome, run_protocol
from causeway.pycontrol.node import EVERYONE, PerNode
from causeway.studies.runner import Job
from tests.bridge.test_client import SPREAD, edge_against, rows, setup, timers, windows_of_a_run
from tests.bridge.test_patience import Mute, Talker
from tests.bridge.test_patience import windows as patient_windows
from tests.worlds.ahead import Either, both
from tests.worlds.bridge_tools import build_cpp, build_sanitized, small_spec
from tests.worlds.drawn import examples

L_PS = 1_000_000
MS = 10**9


@pytest.fixture(scope="module", params=["plain", pytest.param("sanitized", marks=pytest.mark.slow)])
def ticker(request: pytest.FixtureRequest) -> Path:
    return build_cpp("ticker") if request.param == "plain" else build_sanitized("ticker")


# ---- the C++ client --------------------------------------------------------------------------------------------------


def test_a_window_is_sent_three_quarters_of_a_reaction_time_before_its_answer_can_take_effect(ticker: Path) -> None:
    windows, _ = windows_of_a_run(ticker, [L_PS, 3 * L_PS], ahead=True)
    assert [(w.time_ps.tolist(), w.end_ps, w.effect_ps) for w in windows[1:]] == [
        ([L_PS], L_PS + 1, 2 * L_PS),
        ([3 * L_PS], 3 * L_PS + 1, 4 * L_PS),
    ]


def test_in_lockstep_an_answer_takes_effect_where_its_window_ends(ticker: Path) -> None:
    windows, _ = windows_of_a_run(ticker, [L_PS, 3 * L_PS], ahead=False)
    assert [(w.end_ps, w.effect_ps) for w in windows[1:]] == [(2 * L_PS, 0), (4 * L_PS, 0)]


def test_what_happens_meanwhile_is_in_the_next_window(ticker: Path) -> None:
    lockstep, _ = windows_of_a_run(ticker, SPREAD, ahead=False)
    ahead, _ = windows_of_a_run(ticker, SPREAD, ahead=True)
    assert rows(ahead) == rows(lockstep)
    assert len(ahead) > len(lockstep)
    effects = [w.effect_ps for w in ahead]
    for window, effect_ps in zip(ahead[1:], effects[1:], strict=True):
        assert window.effect_ps == window.time_ps[0] + L_PS >= window.end_ps
        assert window.time_ps[-1] < effect_ps


def test_with_a_cap_an_answer_is_taken_before_there_are_more_events_than_that(ticker: Path) -> None:
    capped, _ = windows_of_a_run(ticker, [L_PS + i for i in range(50)], ahead=True, cap=3)
    assert len(rows(capped)) == 50
    assert max(len(w) for w in capped) == 3


def test_passive_events_still_want_no_reply(ticker: Path) -> None:
    windows, _ = windows_of_a_run(ticker, SPREAD, ahead=True, passive_kinds=1 << Kind.TIMER)
    assert [(len(w), w.reply, w.effect_ps) for w in windows] == [(0, True, 0), (len(SPREAD), False, 0)]


Answer = Callable[[Window], Actions]


def spawning(seed: int, stop_at: int) -> Answer:
    """Every timer may set others, at once or later, at times that meet those of others; the run ends by itself, or when
    so many have come up."""
    made = [10**6]
    seen = [0]

    def answer(window: Window) -> Actions:
        found: list[tuple[int, int]] = []
        for time_ps, ref in zip(window.time_ps.tolist(), window.ref.tolist(), strict=True):
            seen[0] += 1
            if seen[0] > stop_at:
                break
            draw = (ref * 2654435761 + seed) % 97
            for child in range(draw % 3 if seen[0] < 60 else 0):
                found.append((time_ps + L_PS + L_PS // 4 * (draw % 7 + child), made[0]))
                made[0] += 1
        times = np.array([t for t, _ in found], np.int64)
        refs = np.array([r for _, r in found], np.int64)
        zeros = np.zeros(len(found), np.int32)
        sets = np.full(len(found), Act.SET_TIMER, np.uint8)
        return Actions(
            sets, times, zeros + (refs % 3).astype(np.int32), refs, zeros, zeros, zeros.astype(np.uint8),
            stop=seen[0] >= stop_at,
        )  # fmt: skip

    return answer


def run_of(ticker: Path, first: list[int], answer: Answer, **changes: Any) -> list[tuple[int, int, int]]:
    """What happened in a run, up to where the controller stopped it."""
    session = open_session(small_spec(reaction_ps=L_PS, **changes), "ticker", [str(ticker)])
    told: list[Window] = []
    try:
        while not isinstance(window := session.next(), Finish):
            told.append(window)
            if window.reply:
                session.answer(timers(first) if window.number == 0 else answer(window))
    finally:
        session.close()
    return rows(told)


@settings(max_examples=examples(25))
@given(
    first=st.lists(st.integers(0, 40).map(lambda i: L_PS + L_PS // 8 * i), min_size=1, max_size=25),
    seed=st.integers(0, 10**6),
    cap=st.sampled_from([0, 1, 2, 5]),
    duration_ps=st.sampled_from([0, 2 * L_PS, 5 * L_PS // 2, 7 * L_PS + 1]),
    stop_at=st.sampled_from([10**9, 10**9, 7]),
)
def test_the_events_of_a_run_are_the_same_in_lockstep_ahead_and_with_any_cap(
    ticker: Path, first: list[int], seed: int, cap: int, duration_ps: int, stop_at: int
) -> None:
    def events(**changes: Any) -> list[tuple[int, int, int]]:
        found = run_of(ticker, first, spawning(seed, stop_at), duration_ps=duration_ps, **changes)
        return found[:stop_at]

    plain = events(ahead=False)
    assert events(ahead=True) == plain
    assert events(ahead=True, cap=cap) == plain
    assert events(ahead=False, cap=cap) == plain


def test_what_is_not_urgent_is_sent_too_once_there_is_enough_of_it(ticker: Path) -> None:
    promise = Patience(2, 1, 400 * L_PS)
    found = patient_windows(ticker, 40, 1, promise, ahead=True)
    assert [len(w) for w in found] == [16, 24], "the rest, when the run ends"
    assert [w.effect_ps for w in found] == [w.time_ps[0] + 400 * L_PS for w in found]
    assert [len(w) for w in patient_windows(ticker, 40, 1, promise, ahead=False)] == [40]


PATIENT_PS = 40 * L_PS
SENDER = 2


class Patiently:
    """Timers, each of which sends packets that come back a microsecond later; nothing is done about those before
    PATIENT_PS, and then a timer is set. Ids are handed out in the order of events, as a protocol would."""

    def __init__(self, seed: int, packets: int) -> None:
        self.seed, self.packets = seed, packets
        self.timer, self.packet = 10**6, 0

    def __call__(self, window: Window) -> Actions:
        found: list[tuple[int, int, int, int]] = []  # kind, time_ps, ref, topic
        for kind, time_ps, ref in zip(*(c.tolist() for c in (window.kind, window.time_ps, window.ref)), strict=True):
            draw = (ref * 2654435761 + self.seed) % 101
            if kind == Kind.ARRIVAL and draw % 5 == 0:
                found.append((int(Act.SET_TIMER), time_ps + PATIENT_PS + L_PS // 3 * (draw % 4), self.timer, 0))
                self.timer += 1
            for child in range(draw % 30 if kind == Kind.TIMER and self.packet < self.packets else 0):
                found.append((int(Act.SEND), time_ps + L_PS + child % 3 * (L_PS // 50), self.packet, 1))
                self.packet += 1
        kinds, times, refs, topics = (np.array(c, np.int64) for c in (zip(*found, strict=True) if found else [[]] * 4))
        zeros = np.zeros(len(found), np.int32)
        return Actions(
            kinds.astype(np.uint8), times, zeros + SENDER, refs, zeros, zeros, zeros.astype(np.uint8),
            topic=topics.astype(np.uint8),
        )  # fmt: skip


@settings(max_examples=examples(25))
@given(
    first=st.lists(st.integers(0, 300).map(lambda i: L_PS + L_PS // 8 * i), min_size=1, max_size=12),
    seed=st.integers(0, 10**6),
    cap=st.sampled_from([0, 1, 4]),
    duration_ps=st.sampled_from([0, 20 * L_PS, 90 * L_PS + 1]),
)
def test_what_is_not_urgent_is_sent_ahead_and_nothing_else_changes(
    ticker: Path, first: list[int], seed: int, cap: int, duration_ps: int
) -> None:
    def windows(**changes: Any) -> list[Window]:
        spec = small_spec(reaction_ps=L_PS, duration_ps=duration_ps, **changes)
        session = open_session(spec, "ticker", [str(ticker)])
        told, answer = [], Patiently(seed, 120)
        try:
            while not isinstance(window := session.next(), Finish):
                told.append(window)
                given = timers(first) if window.number == 0 else answer(window)
                given.patience = (Patience(SENDER, 1, PATIENT_PS),) if window.number == 0 else ()
                assert window.reply or not len(given)
                if window.reply:
                    session.answer(given)
        finally:
            session.close()
        return told

    plain = rows(windows(ahead=False))
    assert rows(windows(ahead=True)) == plain
    assert rows(windows(ahead=True, cap=cap)) == plain


def test_the_edge_refuses_an_answer_that_takes_effect_where_it_has_been_already(ticker: Path) -> None:
    early = timers([2 * L_PS - 1])
    first = wire.encode_actions(0, timers([L_PS, L_PS + L_PS // 2]))
    status, told, _ = edge_against(ticker, setup(ahead_ps=3 * L_PS // 4), first, wire.encode_actions(1, early))
    assert (status, told) == (
        3,
        "causeway: action 0 of window 1 takes effect at 1999999 ps; the window's answer can at 2000000 ps at the "
        "earliest\n",
    )


@pytest.mark.parametrize("ahead_ps", [-1, L_PS, 2**62])
def test_the_edge_refuses_to_run_ahead_of_what_can_be_answered_in_time(ticker: Path, ahead_ps: int) -> None:
    status, told, _ = edge_against(ticker, setup(ahead_ps=ahead_ps))
    assert status == 3
    assert told.startswith("causeway: how far the simulator runs ahead (ps) must be 0 to 999999, not ")


def test_an_edge_that_ran_ahead_says_that_the_controller_is_gone(ticker: Path) -> None:
    first = wire.encode_actions(0, timers([L_PS, 2 * L_PS]))
    status, told, seconds = edge_against(ticker, setup(ahead_ps=L_PS // 2), first, deadline_s=0.7)
    assert status == 3
    assert told.startswith("causeway: the controller was silent for 0.")
    assert seconds < 4


# ---- the border ------------------------------------------------------------------------------------------------------


def a_window(end_ps: int, effect_ps: int) -> Window:
    none = np.empty(0, np.int64)
    columns = (np.empty(0, np.uint8), none, np.empty(0, np.int32), none, np.empty(0, np.int32))
    return Window(1, end_ps, True, *columns, effect_ps=effect_ps)


def after_window_0() -> Border:
    border = Border(small_spec())
    border.check_window(dataclasses.replace(a_window(0, 0), number=0))
    return border


@pytest.mark.parametrize("effect_ps", [4, -1, 2**62])
def test_an_answer_that_takes_effect_before_its_window_ends_is_refused(effect_ps: int) -> None:
    with pytest.raises(RunError, match=rf"window 1 is wrong: its answer takes effect at {effect_ps} ps; allowed: 5 ps"):
        after_window_0().check_window(a_window(5, effect_ps))


@pytest.mark.parametrize(("effect_ps", "at_ps", "good"), [(9, 8, False), (9, 9, True), (0, 5, True), (0, 4, False)])
def test_actions_are_held_to_when_the_answer_takes_effect(effect_ps: int, at_ps: int, good: bool) -> None:
    border, window = after_window_0(), a_window(5, effect_ps)
    border.check_window(window)
    if good:
        border.check_actions(timers([at_ps]), window)
        return
    with pytest.raises(RunError, match=f"{at_ps} ps is before its answer takes effect or too far"):
        border.check_actions(timers([at_ps]), window)


def test_the_instant_crosses_the_wire() -> None:
    frame = wire.decode(wire.encode_window(a_window(5, 9)))
    assert wire.window(frame.window).effect_ps == 9


# ---- whole runs ------------------------------------------------------------------------------------------------------


def talk(node: type[Talker], ahead: bool, seed: int, cap: int = 0) -> Outcome:
    if why := engines.get("omnet").missing():
        pytest.skip(why)
    workload = Workload(8, messages=60, segments=(Segment(0, 30.0),), size_bytes=100)
    spec = RunSpec("test", {}, seed, AbstractNetwork(8, uniform_delay(1, 60), workload), MS, cap=cap)
    return run_protocol(Either("omnet", ahead), spec, PerNode(node), [CausalityChecker(8)])


@pytest.mark.omnet
@pytest.mark.parametrize("cap", [0, 1, 7])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_promises_that_are_given_and_taken_back_meanwhile_are_kept(seed: int, cap: int) -> None:
    lockstep = talk(Mute, False, seed)
    ahead = talk(Talker, True, seed, cap)
    assert ahead.digest == lockstep.digest == talk(Mute, True, seed, cap).digest
    assert ahead.scalars == lockstep.scalars


class Stopper(Talker):
    """One of them ends the run in the middle of everything."""

    def on_broadcast(self, number: int, size_bytes: int) -> None:
        super().on_broadcast(number, size_bytes)
        if number == 25:
            self.stop()


@pytest.mark.omnet
def test_what_happens_after_a_node_stopped_the_run_is_not_seen() -> None:
    found = {talk(Stopper, ahead, 4, cap).digest for ahead in (False, True) for cap in (0, 1, 7)}
    assert len(found) == 1
    assert found != {talk(Talker, False, 4).digest}


class Echo(Talker):
    """Answers everybody at once: ties all over on a network of one delay."""

    def on_packet(self, content: tuple[str, int], sender: int, interface: int) -> None:
        if content[0] == "news":
            self.deliver(content[1])
            self.send(EVERYONE, ("noise", content[1]), 10)


@pytest.mark.omnet
def test_ties_fall_out_the_same() -> None:
    if why := engines.get("omnet").missing():
        pytest.skip(why)
    workload = Workload(6, messages=40, segments=(Segment(0, 200.0),), size_bytes=10)
    spec = RunSpec("test", {}, 1, AbstractNetwork(6, constant_delay(1), workload), MS)
    found = [run_protocol(Either("omnet", a), spec, PerNode(Echo), []) for a in (False, True)]
    assert found[0].digest == found[1].digest
    assert found[0].finish == found[1].finish


@pytest.mark.omnet
def test_a_recording_of_a_run_that_went_ahead_replays(tmp_path: Path) -> None:
    if why := engines.get("omnet").missing():
        pytest.skip(why)
    workload = Workload(8, messages=60, segments=(Segment(0, 30.0),), size_bytes=100)
    path = tmp_path / "run.frames"
    spec = RunSpec("test", {}, 1, AbstractNetwork(8, uniform_delay(1, 60), workload), MS, record_to=path)
    told = run_protocol(Either("omnet", True), spec, PerNode(Talker), [])
    again = dataclasses.replace(spec, record_to=None, options={"recording": path})
    assert run_protocol(engines.get("replay"), again, PerNode(Talker), []).digest == told.digest


SIMULATORS = [pytest.param("ns3", marks=pytest.mark.ns3), pytest.param("omnet", marks=pytest.mark.omnet)]
EXPERIMENTS = ("static", "dynamic", "load", "faults", "static_tcp")


def outcomes(job: Job) -> tuple[Outcome, Outcome]:
    """In lockstep, and ahead."""
    if why := engines.get(job.engine).missing(job.network()):
        pytest.skip(f"{job.engine}: {why}")
    return both(job)


@pytest.mark.parametrize("experiment", EXPERIMENTS)
@pytest.mark.parametrize("engine", SIMULATORS)
def test_mobile20_comes_out_the_same(engine: str, experiment: str) -> None:
    small = {"hosts": 14, "rate": 4, "duration_s": 5, "drain_s": 5, "experiment": experiment}
    lockstep, ahead = outcomes(Job("mobile20", small, 2, engine))
    assert (ahead.digest, ahead.finish) == (lockstep.digest, lockstep.finish)


@pytest.mark.slow
@pytest.mark.parametrize("acks", ["periodic", "turns", "intervals"])
@pytest.mark.parametrize("radio", ["unitdisk", "wifi"])
@pytest.mark.parametrize("engine", SIMULATORS)
def test_mobile20_comes_out_the_same_with_other_radios_and_rules(engine: str, radio: str, acks: str) -> None:
    small = {"hosts": 21, "rate": 8, "duration_s": 6, "drain_s": 5, "radio": radio, "acks": acks}
    lockstep, ahead = outcomes(Job("mobile20", {**small, "experiment": "faults"}, 3, engine))
    assert (ahead.digest, ahead.finish) == (lockstep.digest, lockstep.finish)


EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize(
    ("example", "parameters"),
    [
        ("rumour.py", {"hosts": 20}),
        ("chatter.py", {"nodes": 8, "network": "walking", "duration_s": 10}),
        ("drone.py", {}),
    ],
)
@pytest.mark.parametrize("engine", SIMULATORS)
def test_examples_come_out_the_same(engine: str, example: str, parameters: dict[str, Any]) -> None:
    lockstep, ahead = outcomes(Job(str(EXAMPLES / example), parameters, 1, engine))
    assert (ahead.digest, ahead.finish) == (lockstep.digest, lockstep.finish)


def test_an_answer_may_be_empty_and_stop_the_run(ticker: Path) -> None:
    found = run_of(ticker, [L_PS, L_PS + L_PS // 2, 3 * L_PS], lambda window: no_actions(stop=True), ahead=True)
    assert found == [(L_PS, int(Kind.TIMER), 2)]
