"""A handoff with one line broken on purpose does not pass the schedules that the real one passes."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from causeway.pycontrol.protocol_errors import ProtocolError
from causeway.pycontrol.protocols.mobile import Host, Station
from causeway.pycontrol.protocols.mobile.connection import Connection
from causeway.pycontrol.protocols.mobile.handoff import Handoff
from causeway.pycontrol.protocols.mobile.messages import AppSH, Init, Req1, Req2, Rsp1, Rsp2
from causeway.pycontrol.protocols.mobile.sbuffer import SBuffer
from tests.helpers.mobile_schedules import Schedule, crossing_schedule, random_schedule

Patch = Callable[[pytest.MonkeyPatch], None]
SCHEDULES = 400


def first_complaint(schedules: int, make_schedule: Callable[[Random], Schedule] = random_schedule) -> str | None:
    """Return the violation of the first schedule that has one."""
    for seed in range(schedules):
        try:
            found = make_schedule(Random(seed)).play().complaints()
        except (AssertionError, ProtocolError) as error:
            found = [repr(error)]
        if found:
            return f"schedule {seed}: {found[0]}"
    return None


def test_the_real_handoff_passes() -> None:
    assert first_complaint(60) is None


def no_lock_while_giving(m: pytest.MonkeyPatch) -> None:
    """Paper, algorithm 4: the previous station does not lock when it answers Req1."""
    real = Handoff._promise

    def broken(self: Handoff, request: Req1, h: Connection) -> None:
        real(self, request, h)
        h.H_lock = False

    m.setattr(Handoff, "_promise", broken)


def position_ignored(m: pytest.MonkeyPatch) -> None:
    """The position in Req1 is not taken as an acknowledgement (line 74 falls away)."""
    m.setattr(Connection, "acknowledge", lambda self, Co, seq_C: None)


def received_meanwhile_ignored(m: pytest.MonkeyPatch) -> None:
    """msg_rcv is empty (line 91 falls away)."""
    real = Handoff._on_rsp2
    m.setattr(Handoff, "_on_rsp2", lambda self, r, h: real(self, Rsp2(r.id_h, r.msg, (), r.Ses), h))


def no_marks(m: pytest.MonkeyPatch) -> None:
    """M_d stays empty (line 97 falls away)."""
    m.setattr(Handoff, "_mark", lambda self, id_h, h, entries: None)


def nothing_requested(m: pytest.MonkeyPatch) -> None:
    """The new station asks for no copies (line 87 is empty)."""
    real = Handoff._on_req2
    m.setattr(Handoff, "_on_req2", lambda self, r, h: real(self, Req2(r.id_h, (), r.Ses), h))


def candidate_holds_nothing(m: pytest.MonkeyPatch) -> None:
    """The new station registers the host with seq_C instead of minSeq() (line 32)."""
    real = Handoff.ask

    def broken(self: Handoff, init: Init) -> None:
        real(self, init)
        self.s.h[init.id_h].seq_C = self.s.SBuffer.seq_C

    m.setattr(Handoff, "ask", broken)


def pending_request_forgotten(m: pytest.MonkeyPatch) -> None:
    """CoRequest is not kept (line 69)."""
    real = Handoff._on_req1

    def broken(self: Handoff, request: Req1, h: Connection | None) -> None:
        real(self, request, h)
        if h is not None:
            h.CoRequest = None

    m.setattr(Handoff, "_on_req1", broken)


def old_request_unanswered(m: pytest.MonkeyPatch) -> None:
    """No Delete for a request that is older than the connection (line 72)."""
    real = Handoff._on_req1

    def broken(self: Handoff, request: Req1, h: Connection | None) -> None:
        if h is None or not h.holder or request.Ses > h.Ses:
            real(self, request, h)

    m.setattr(Handoff, "_on_req1", broken)


def overtaken_forgotten(m: pytest.MonkeyPatch) -> None:
    """A candidate does not remember the requests it saw lose."""
    real = Handoff._on_req1

    def broken(self: Handoff, request: Req1, h: Connection | None) -> None:
        real(self, request, h)
        if h is not None:
            h.overtaken = False

    m.setattr(Handoff, "_on_req1", broken)


def seq_h_not_handed_on(m: pytest.MonkeyPatch) -> None:
    """The new station expects the host's messages from 0 on (line 84 falls away)."""
    real = Handoff._on_rsp1
    m.setattr(Handoff, "_on_rsp1", lambda self, r, h: real(self, Rsp1(r.id_h, 0, r.m_nd, r.Ses), h))


def copies_of_any_age(m: pytest.MonkeyPatch) -> None:
    """The host does not look at vMd."""
    real = Host._on_app_sh
    m.setattr(Host, "_on_app_sh", lambda self, a: real(self, AppSH(a.data, a.seq_C, a.id_C, a.M_d, 1 << 30)))


def discards_too_much(m: pytest.MonkeyPatch) -> None:
    """The station discards one message too many."""
    real = SBuffer.clear
    m.setattr(SBuffer, "clear", lambda self, seq_C: real(self, seq_C + 1))


def stragglers_welcome(m: pytest.MonkeyPatch) -> None:
    """A station does not remember which sessions are over."""
    m.setattr(Station, "_is_past", lambda self, id_h, Ses: False)


MUTANTS: list[Any] = [
    no_lock_while_giving, position_ignored, received_meanwhile_ignored, no_marks, nothing_requested,
    candidate_holds_nothing, pending_request_forgotten, old_request_unanswered, overtaken_forgotten,
    seq_h_not_handed_on, discards_too_much, stragglers_welcome,
]  # fmt: skip


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.__name__)
def test_a_mutant_of_the_handoff_is_caught(mutant: Patch, monkeypatch: pytest.MonkeyPatch) -> None:
    mutant(monkeypatch)
    assert first_complaint(SCHEDULES) is not None


def test_a_host_that_accepts_old_copies_is_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    assert first_complaint(40, crossing_schedule) is None
    copies_of_any_age(monkeypatch)
    assert first_complaint(40, crossing_schedule) is not None
