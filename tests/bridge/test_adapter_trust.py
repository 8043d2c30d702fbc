"""Adapters trust no frame: each of them refuses an impossible setup or answer in one line."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from causeway.bridge import framing
from causeway.bridge import session as sessions
from causeway.bridge.engine import DURATION_OVER, NOTHING_LEFT, Finish, RunSpec, Session
from causeway.bridge.engines.ns3 import Ns3Engine
from causeway.bridge.engines.omnet import OmnetEngine
from causeway.bridge.events import Act, ActionRows, Actions, Lookahead
from causeway.bridge.session import open_session
from causeway.errors import RunError
from causeway.network.networks import AbstractNetwork, MobileNetwork, constant_delay
from causeway.network.workload import Faults, Script, Segment, Workload
from causeway.proto.contract import pb
from tests.helpers.bridge_tools import build_cpp, build_sanitized, small_spec

L_PS, S = 10**9, 10**12
SCRIPT = Script(np.array([1, 2, 3]) * S, np.array([0, 1, 2], np.int32), np.full(3, 100, np.int32))
FAULTS = Faults(np.array([1, 2]) * S, np.array([1, 1], np.int32), np.array([0, 1], np.uint8))
ABSTRACT = AbstractNetwork(
    12, delay=constant_delay(1.0), workload=Workload(12, segments=(Segment(0, 10.0),)), faults=FAULTS
)
MOBILE = MobileNetwork(
    station_xy_mm=((0, 0), (170_000, 0)), wires=((0, 1),), hosts=3, workload=Workload(5, script=SCRIPT), faults=FAULTS
)


def ticker(spec: RunSpec) -> Session:
    return open_session(spec, "ticker", [str(build_cpp("ticker"))])


def ns3(spec: RunSpec) -> Session:
    engine = Ns3Engine()
    if (why := engine.missing(spec.network)) is not None:
        pytest.skip(why)
    return engine.open(spec)


def omnet(spec: RunSpec) -> Session:
    engine = OmnetEngine()
    if (why := engine.missing(spec.network)) is not None:
        pytest.skip(why)
    return engine.open(spec)


MOBILE_EDGES = [ticker, pytest.param(ns3, marks=pytest.mark.ns3), pytest.param(omnet, marks=pytest.mark.omnet)]
ABSTRACT_EDGES = [ticker, pytest.param(omnet, marks=pytest.mark.omnet)]


def run(adapter: Callable[[RunSpec], Session], network: Any, answer: Actions | None = None) -> Finish:
    """Return the error of a run whose first window gets this answer, and all others an empty one."""
    session = adapter(small_spec(network=network, reaction_ps=L_PS, duration_ps=4 * S))
    try:
        while not isinstance(step := session.next(), Finish):
            if step.reply:
                session.answer(answer if answer is not None and step.number == 0 else ActionRows([]))
        return step
    finally:
        session.close()


def numbers(dtype: str, *values: float) -> bytes:
    return np.array(values, dtype).tobytes()


SETUPS: dict[str, tuple[str, bytes | float | str, str]] = {
    "nodes of the script end early": (
        "workload.script_node", numbers("<i4", 0, 1),
        "its columns differ in length: causeway.Workload.script_node has 2 rows, script_time_ps has 3",
    ),
    "sizes of the script end early": ("workload.script_size", b"", "Workload.script_size has 0 rows"),
    "half a number": ("workload.script_time_ps", bytes(23), "Workload.script_time_ps does not hold whole numbers"),
    "the script names nobody": (
        "workload.script_node", numbers("<i4", 0, 114, 1), "the script's node is 114; allowed: 0 to 4",
    ),
    "the script goes back": (
        "workload.script_time_ps", numbers("<i8", S, 3 * S, 2 * S),
        "a broadcast of the script goes back from 3000000000000",
    ),
    "a broadcast of negative size": (
        "workload.script_size", numbers("<i4", 1, -5, 1), "the script's size_bytes is -5; allowed: 0 to",
    ),
    "a broadcast after the end of time": (
        "workload.script_time_ps", numbers("<i8", S, 2 * S, 2**63 - 1),
        "the script's time_ps is 9223372036854775807; allowed: 0 to 46116860",
    ),
    "a failure of nobody": ("faults.node", numbers("<i4", 1, -2), "the faults' node is -2; allowed: 0 to 4"),
    "failures end early": ("faults.up", b"\0", "Faults.up has 1 rows"),
    "neither up nor down": ("faults.up", b"\0\7", "the faults' up is 7; allowed: 0 to 1"),
    "a negative duration": ("duration_ps", -1, "the duration (duration_ps) is -1; allowed: 0 to 4611686018427387903"),
    "a duration beyond time": ("duration_ps", 2**63 - 1, "allowed: 0 to 4611686018427387903"),
    "no reaction time": ("reaction_ps", 0, "the reaction time (reaction_ps) is 0; allowed: 1 to"),
    "a wire to nowhere": (
        "mobile_network.wire_to", numbers("<i4", 9), "a wire goes from station 0 to 9; there are stations 0 to 1",
    ),
    "a wire to oneself": (
        "mobile_network.wire_to", numbers("<i4", 0), "a wire goes from station 0 to 0, which is itself",
    ),
    "a wire with one end": ("mobile_network.wire_to", b"", "MobileNetwork.wire_to has 0 rows"),
    "stations of one coordinate": ("mobile_network.station_y_mm", numbers("<i4", 0), "station_y_mm has 1 rows"),
    "fewer than no hosts": ("mobile_network.hosts", -1, "the number of hosts is -1; allowed: 0 to"),
    "too many hosts": ("mobile_network.hosts", 2**31 - 1, "the number of hosts is 2147483647; allowed: 0 to 1048576"),
    "a wire of 0 b/s": ("mobile_network.wire_bps", 0, "wire_bps is 0; allowed: 1 to"),
    "a negative delay": ("mobile_network.wire_delay_ps", -5, "wire_delay_ps is -5; allowed: 0 to"),
    "a negative speed": ("mobile_network.speed_mm_s", -1, "speed_mm_s is -1; allowed: 0 to"),
    "no cells": ("mobile_network.cell_radius_mm", 0, "cell_radius_mm is 0; allowed: 1 to"),
    "positions before now": ("mobile_network.position_every_ps", -1, "position_every_ps is -1; allowed: 0 to"),
}  # fmt: skip
ABSTRACT_SETUPS: dict[str, tuple[str, bytes | float | str, str]] = {
    "segments end early": (
        "workload.segment_mean_ns", b"", "Workload.segment_mean_ns has 0 rows, segment_start_ps has 1",
    ),
    "no exponential": ("workload.exponential_quantiles", b"", "the exponential of the workload has 0 quantiles"),
    "a segment that starts late": ("workload.segment_start_ps", numbers("<i8", 5), "must start at 0"),
    "broadcasts at no distance": ("workload.segment_mean_ns", numbers("<f8", 1e-9), "the mean time between broadcasts"),
    "broadcasts at any distance": (
        "workload.segment_mean_ns", numbers("<f8", 1e30), "the mean time between broadcasts",
    ),
    "not a number": (
        "workload.segment_hot_share", numbers("<f8", np.nan), "the hot_share of a segment is nan; allowed: 0 to 1",
    ),
    "more hot nodes than nodes": (
        "workload.segment_hot_nodes", numbers("<i4", 13), "hot nodes must be 0 to 12, not 13",
    ),
    "nobody broadcasts": ("workload.nodes", 0, "the workload has broadcasts but no nodes"),
    "the workload is larger than the network": ("workload.first_node", 1, "broadcasts from node 12; the network has"),
    "no delays": ("abstract_network.delay_quantiles_ns", b"", "the delay has 0 quantiles, not 16385"),
    "a loss of more than all": ("abstract_network.loss", 1.5, "the loss is 1.5; allowed: 0 to 1"),
    "no nodes": ("abstract_network.nodes", 0, "the number of nodes is 0; allowed: 1 to 1048576"),
    "time goes back at the sender": ("abstract_network.send_ps", -1, "send_ps is -1; allowed: 0 to"),
    "time goes back at the receiver": ("abstract_network.recv_ps", -1, "recv_ps is -1; allowed: 0 to"),
}  # fmt: skip


def damage(monkeypatch: pytest.MonkeyPatch, path: str, value: object) -> None:
    """From now on the controller sends setups with another value in this field."""
    encode = framing.encode_setup

    def damaged(spec: RunSpec) -> bytes:
        frame = pb.Frame.FromString(encode(spec))
        *outer, field = path.split(".")
        message = frame.setup
        for name in outer:
            message = getattr(message, name)
        setattr(message, field, value)
        return frame.SerializeToString()

    monkeypatch.setattr(sessions.framing, "encode_setup", damaged)


def expect_refusal(
    adapter: Callable[[RunSpec], Session], network: Any, says: str, answer: Actions | None = None
) -> None:
    with pytest.raises(RunError) as reported:
        run(adapter, network, answer)
    assert says in str(reported.value)
    assert "cannot go on: " in str(reported.value) and "\n" not in str(reported.value)


@pytest.mark.parametrize("adapter", MOBILE_EDGES)
@pytest.mark.parametrize("what", SETUPS)
def test_a_mobile_setup_that_makes_no_sense_is_refused(monkeypatch, adapter, what: str) -> None:
    path, value, says = SETUPS[what]
    damage(monkeypatch, path, value)
    expect_refusal(adapter, MOBILE, says)


@pytest.mark.parametrize("adapter", ABSTRACT_EDGES)
@pytest.mark.parametrize("what", ABSTRACT_SETUPS)
def test_an_abstract_setup_that_makes_no_sense_is_refused(monkeypatch, adapter, what: str) -> None:
    path, value, says = ABSTRACT_SETUPS[what]
    damage(monkeypatch, path, value)
    expect_refusal(adapter, ABSTRACT, says)


def row(kind: int, node: int, peer: int = 0, size: int = 1, time_ps: int = L_PS, topic: int = 0) -> Actions:
    return ActionRows([(kind, time_ps, node, 7, peer, size, 0, topic)])


ANSWERS: dict[str, tuple[Actions, str]] = {
    "a kind that nobody knows": (row(77, 0), "action 0 of window 0 is wrong: kind 77 is unknown; allowed: 0 SEND, "),
    "sent by nobody": (row(Act.SEND, 5, 0), "action 0 of window 0 is wrong: there is no node 5; allowed: 0 to 4"),
    "sent by a million": (row(Act.SEND, 10**6), "there is no node 1000000; allowed: 0 to 4"),
    "sent to nobody": (row(Act.SEND, 0, 5), "there is no peer 5; allowed: -1 (everyone) to 4"),
    "sent to less than nobody": (row(Act.SEND, 0, -2), "there is no peer -2; allowed: -1 (everyone) to 4"),
    "a packet of negative size": (row(Act.SEND, 0, 1, -100), "a packet of -100 bytes; allowed: 0 to 2147483647"),
    "over an interface that is none": (
        ActionRows([(int(Act.SEND), L_PS, 0, 7, 1, 1, 3, 0)]), "there is no interface 3; allowed: 0 to 2",
    ),
    "a timer of nobody": (row(Act.SET_TIMER, -1), "there is no node -1; allowed: 0 to 4"),
    "nobody fails": (row(Act.NODE, 99), "there is no node 99; allowed: 0 to 4"),
    "half up": (row(Act.NODE, 1, 5), "5 is neither up nor down; allowed: 1 (up) or 0 (down)"),
    "a station walks": (row(Act.MOVE, 1), "node 1 cannot move; allowed: hosts, 2 to 4"),
    "recorded nowhere": (row(Act.RECORD, 1), "there is no channel 0"),
    "read from nowhere": (row(Act.READ, 1), "the controller never opened connection 7; allowed: ids that it opened"),
    "after the end of time": (row(Act.SET_TIMER, 1, time_ps=2**63 - 1), "allowed: 0 to 4611686018427387903 ps"),
    "a topic too many": (row(Act.SEND, 0, 1, topic=16), "there is no topic 16; allowed: 0 to 15"),
    "patience of nobody": (
        ActionRows([], False, (Lookahead(2**31 - 1, 1, 5),)),
        "a lookahead is declared for node 2147483647; allowed: 0 to 4",
    ),
    "negative patience": (ActionRows([], False, (Lookahead(1, 1, -2),)), "a lookahead of -2 ps; allowed: 0 ps to"),
}  # fmt: skip


@pytest.mark.parametrize("adapter", MOBILE_EDGES)
@pytest.mark.parametrize("what", ANSWERS)
def test_an_answer_that_cannot_be_done_is_refused(adapter, what: str) -> None:
    answer, says = ANSWERS[what]
    expect_refusal(adapter, MOBILE, says, answer)


@pytest.mark.parametrize("adapter", MOBILE_EDGES)
def test_an_answer_whose_lookaheads_differ_in_length_is_refused(monkeypatch, adapter) -> None:
    encode = framing.encode_actions

    def damaged(number: int, actions: Actions) -> bytes:
        frame = pb.Frame.FromString(encode(number, actions))
        frame.actions.patience_ps = frame.actions.patience_ps[:-8]
        return frame.SerializeToString()

    monkeypatch.setattr(sessions.framing, "encode_actions", damaged)
    expect_refusal(adapter, MOBILE, "patience_ps has 0 rows", ActionRows([], False, (Lookahead(1, 1, 5),)))


@pytest.mark.parametrize("adapter", MOBILE_EDGES)
def test_valid_setups_run_to_their_end(adapter) -> None:
    finish = run(adapter, MOBILE)
    assert finish.reason in ("done", DURATION_OVER, NOTHING_LEFT)


# ---- many damaged frames -----------------------------------------------------------------------------------------

FUZZED = [(network, seed) for network in ("abstract", "mobile") for seed in (1, 2)]
SESSIONS = 60


def frames_to_damage(folder: Path, network: str) -> list[str]:
    workload = Workload(12, size_bytes=10, segments=(Segment(0, 1e5), Segment(10**9, 1e4, 0.5, 3)))
    net: Any = MOBILE if network == "mobile" else replace(ABSTRACT, workload=workload)
    rows = [
        (Act.SEND, L_PS, 1, 7, -1, 20, 0, 1), (Act.SEND, L_PS + 1, 2, 8, 3, 20, 1, 2),
        (Act.SET_TIMER, L_PS + 5, 2, 1, 0, 0, 0, 0), (Act.CANCEL_TIMER, L_PS + 2, 2, 1, 0, 0, 0, 0),
        (Act.SET_TIMER, L_PS + 50, 3, 2, 0, 0, 0, 0), (Act.NODE, L_PS + 3, 4, 0, 0, 0, 0, 0),
        (Act.NODE, L_PS + 4, 4, 0, 1, 0, 0, 0), (Act.RECORD, L_PS + 4, 4, 0, 1, 0, 0, 0),
    ]  # fmt: skip
    answer = ActionRows(rows, False, (Lookahead(1, 1, 5 * L_PS), Lookahead(2, 2, -1), Lookahead(3, 1, 2**63 - 1)))
    spec = small_spec(network=net, reaction_ps=L_PS, cap=5, duration_ps=S, channels=("x", "y"))
    (folder / "setup").write_bytes(framing.encode_setup(spec))
    (folder / "actions").write_bytes(framing.encode_actions(0, answer))
    return [str(folder / "setup"), str(folder / "actions")]


@pytest.mark.slow
@pytest.mark.parametrize(("network", "seed"), FUZZED)
def test_under_sanitizers_damaged_frames_end_a_run_in_words_and_touch_nothing_else(tmp_path, network, seed) -> None:
    """Without the checks of the setup and of answers, five of six such runs end in a report of the sanitizers."""
    program = build_sanitized("fuzz", alone=True)
    given = [str(program), *frames_to_damage(tmp_path, network), str(seed), str(SESSIONS)]
    done = subprocess.run(given, capture_output=True, timeout=300, check=False)
    reported = done.stderr.decode(errors="replace")
    assert done.returncode == 0, reported[-2000:]
    sessions_run, mutated, refusals = map(int, done.stdout.split())
    assert sessions_run == SESSIONS and mutated > SESSIONS / 2
    assert 0 < refusals < SESSIONS
