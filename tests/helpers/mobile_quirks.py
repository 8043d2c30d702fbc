"""Lines of the paper as they are printed, one patch each; docs/papers/mobile20.md describes how each of them fails."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from causeway.pycontrol.protocols.mobile import Host, Station
from causeway.pycontrol.protocols.mobile.connection import Connection
from causeway.pycontrol.protocols.mobile.handoff import NOBODY, Handoff
from causeway.pycontrol.protocols.mobile.host import HostState
from causeway.pycontrol.protocols.mobile.messages import (
    AckC,
    AckH,
    AppHS,
    AppSH,
    Delete,
    Init,
    Join,
    Leave,
    Req1,
    Req2,
    Rsp2,
)
from causeway.pycontrol.protocols.mobile.sbuffer import Entry

FOREVER_PS = 1 << 60


def seq_h_is_never_incremented(m: pytest.MonkeyPatch) -> None:
    """(1.11-13)"""
    real = Host.CoBroadcast

    def printed(self: Host, size_bytes: int) -> None:
        real(self, size_bytes)
        self.seq_h -= 1
        self.saved.seq_h = self.seq_h

    m.setattr(Host, "CoBroadcast", printed)


def ack_C_sets_seq_C(m: pytest.MonkeyPatch) -> None:
    """(1.36)"""
    real = Host.on_packet

    def printed(self: Host, content: Any, sender: int, interface: int) -> None:
        real(self, content, sender, interface)
        if isinstance(content, AckC) and self.id in content.vSeq:
            self.seq_C = content.vSeq[self.id]

    m.setattr(Host, "on_packet", printed)


def app_sh_in_any_state(m: pytest.MonkeyPatch) -> None:
    """(1.16-23) Messages of the new cell are compared with the position in the old one."""
    real = Host._on_app_sh

    def printed(self: Host, a: AppSH) -> None:
        state = self.state
        if state in (HostState.INIT, HostState.CONN):
            self.state = HostState.ESTAB
        real(self, a)
        self.state = state

    m.setattr(Host, "_on_app_sh", printed)


def rbuffer_survives_the_change_of_cell(m: pytest.MonkeyPatch) -> None:
    """(1.6-10)"""
    real = Host._connect

    def printed(self: Host) -> None:
        kept = dict(self.RBuffer)
        real(self)
        self.RBuffer = kept

    m.setattr(Host, "_connect", printed)


def no_ack_while_connecting(m: pytest.MonkeyPatch) -> None:
    """(1.9, 1.39-40) The timer is stopped at the change of cell and started again by initACK only."""
    real = Host._set_ack_timer
    m.setattr(Host, "_set_ack_timer", lambda self: None if self.state is HostState.CONN else real(self))


def one_count_for_app_co_and_cell(m: pytest.MonkeyPatch) -> None:
    """(1.10, 1.50) Neither init nor ack says which of its two numberings seq_C is of."""
    real_init, real_ack = Station._on_init, Station._on_ack_h
    m.setattr(
        Station, "_on_init", lambda self, i: real_init(self, Init(i.id_h, i.id_C, False, i.seq_C, i.Ses_LC, i.Ses))
    )
    m.setattr(Station, "_on_ack_h", lambda self, a: real_ack(self, AckH(a.id_h, False, a.seq_C, a.Ses)))


def a_host_speaks_before_it_is_connected(m: pytest.MonkeyPatch) -> None:
    """(1.12, 2.3) App_hs is sent at once, and a station takes it from any host it knows, with seq_h 0 at first."""
    real = Host._send_pending

    def printed_host(self: Host) -> None:
        state, self.state = self.state, HostState.ESTAB
        real(self)
        self.state = state

    def printed_broadcast(self: Host, size_bytes: int, before: Any = Host.CoBroadcast) -> None:
        before(self, size_bytes)
        self._send_pending()

    def printed_station(self: Station, a: AppHS) -> None:
        h = self.h.get(a.id_h)
        if h is not None and a.seq_h == h.seq_h:
            h.seq_h += 1
            self.disseminate(a.data, a.id_h, a.seq_h, NOBODY)
        self._set_ack_timer()

    m.setattr(Host, "_send_pending", printed_host)
    m.setattr(Host, "CoBroadcast", printed_broadcast)
    m.setattr(Station, "_on_app_hs", printed_station)


def a_repeated_init_is_not_answered(m: pytest.MonkeyPatch) -> None:
    """(2.21) Ses must be greater, so a lost initACK is never repeated."""
    real = Station._on_init

    def printed(self: Station, i: Init) -> None:
        h = self.h.get(i.id_h)
        if h is None or i.Ses > h.Ses:
            real(self, i)

    m.setattr(Station, "_on_init", printed)


def a_leave_is_answered_once(m: pytest.MonkeyPatch) -> None:
    """(2.40) Only a station that knows the host answers, and then knows it no more."""
    real = Station._on_leave
    m.setattr(Station, "_on_leave", lambda self, leave: real(self, leave) if leave.id_h in self.h else None)


def a_leave_does_not_wait(m: pytest.MonkeyPatch) -> None:
    """(1.14) What the host broadcast and no station has yet is lost."""

    def printed(self: Host) -> None:
        if self.wants_to_leave and self.state not in (HostState.OUT, HostState.LEAVING) and not self.down:
            self.left()
            self.SBuffer.clear()
            self.state = self.saved.member = HostState.LEAVING
            self.saved.SBuffer = ()
            self._connect()

    m.setattr(Host, "_leave_if_free", printed)


def a_join_starts_from_zero(m: pytest.MonkeyPatch) -> None:
    """(1.1) Session and sequence numbers of an earlier stay are used again."""
    real = Host.Join

    def printed(self: Host) -> None:
        self.Ses, self.seq_h = -1, 0
        self.saved.Ses = -1
        real(self)

    m.setattr(Host, "Join", printed)


def the_previous_station_goes_on(m: pytest.MonkeyPatch) -> None:
    """(4.66-79) It does not lock when it answers Req1: it serves the host and answers others."""
    real = Handoff._promise

    def printed(self: Handoff, request: Req1, h: Connection) -> None:
        real(self, request, h)
        h.H_lock = False

    m.setattr(Handoff, "_promise", printed)


def req2_must_have_the_old_session(m: pytest.MonkeyPatch) -> None:
    """(4.80) The previous station's Ses is never updated, so Req2 is never for it."""
    real = Handoff.on_message

    def printed(self: Handoff, message: Any, sender: int) -> None:
        h = self.s.h.get(message.id_h)
        if isinstance(message, Req2) and h is not None and h.Ses != message.Ses:
            self.s.flood(message, sender)
        else:
            real(self, message, sender)

    m.setattr(Handoff, "on_message", printed)


def delete_names_the_session_to_delete(m: pytest.MonkeyPatch) -> None:
    """(4.57, 4.72) Delete carries the request's own Ses, and deletes what is smaller than that."""
    real = Handoff._on_req1

    def printed(self: Handoff, request: Req1, h: Connection | None) -> None:
        if h is not None and h.holder and request.Ses_LC <= h.Ses and request.Ses < h.Ses:
            self.s.flood(Delete(request.id_h, request.Ses), NOBODY)
        else:
            real(self, request, h)

    m.setattr(Handoff, "_on_req1", printed)


def a_candidate_deletes_another(m: pytest.MonkeyPatch) -> None:
    """(4.71-72) Any station with a greater Ses answers Delete, although the other may have been promised the host."""
    real = Handoff._on_req1

    def printed(self: Handoff, request: Req1, h: Connection | None) -> None:
        if h is not None and h.candidate and request.Ses < h.Ses:
            self.s.flood(Delete(request.id_h, h.Ses), NOBODY)
        else:
            real(self, request, h)

    m.setattr(Handoff, "_on_req1", printed)


def the_next_message_counts_as_delivered(m: pytest.MonkeyPatch) -> None:
    """(4.75) seq > seq_C, although seq_C is the number of the next message to deliver."""
    real = Connection.acknowledge
    m.setattr(Connection, "acknowledge", lambda self, Co, seq_C: real(self, Co, seq_C if Co else seq_C + 1))


def the_first_received_meanwhile_is_not_named(m: pytest.MonkeyPatch) -> None:
    """(4.91) seq > seq_Co, although seq_Co was the number of the next message to come."""
    real = Handoff._on_rsp2
    m.setattr(Handoff, "_on_rsp2", lambda self, r, h: real(self, Rsp2(r.id_h, r.msg, r.msg_rcv[1:], r.Ses), h))


def line_77_overrides_75(m: pytest.MonkeyPatch) -> None:
    """(4.74-77) Without an else, the host's position is computed and then not used."""
    real = Handoff._promise

    def printed(self: Handoff, r: Req1, h: Connection) -> None:
        real(self, Req1(r.id_h, r.Co, r.seq_C, -2, r.Ses), h)

    m.setattr(Handoff, "_promise", printed)


def the_position_is_saved_with_an_ack(m: pytest.MonkeyPatch) -> None:
    """(IV.E) What was delivered since the last ack is forgotten in a failure, and delivered again."""
    real_save, real_timer = Host._save_position, Host.on_timer

    def printed_timer(self: Host, key: Any) -> None:
        if key == "ack":
            real_save(self)
        real_timer(self, key)

    m.setattr(Host, "_save_position", lambda self: real_save(self) if self.state is not HostState.ESTAB else None)
    m.setattr(Host, "on_timer", printed_timer)


def ses_LC_is_saved_with_init_ack(m: pytest.MonkeyPatch) -> None:
    """(IV.E) What was delivered as App_Co is forgotten in a failure, and delivered again."""
    real = Host._save_position
    m.setattr(Host, "_save_position", lambda self: real(self) if self.state is not HostState.CONN else None)


def a_straggling_join_is_taken(m: pytest.MonkeyPatch) -> None:
    """(2.18-35) A join or init that was long on the air makes a connection that nobody ends."""
    m.setattr(Station, "_is_past", lambda self, id_h, Ses: False)


def a_join_waits_for_no_delete(m: pytest.MonkeyPatch) -> None:
    """(4.66-79) A station left with a join's connection takes part in handoffs as if it had the host."""
    real = Handoff._on_req1
    m.setattr(
        Handoff, "_on_req1", lambda self, r, h: real(self, Req1(r.id_h, r.Co, r.seq_C, min(r.Ses_LC, h.Ses), r.Ses), h)
        if h else real(self, r, h),
    )  # fmt: skip


def req1_stops_where_the_host_is_known(m: pytest.MonkeyPatch) -> None:
    """(4.64-65) It is forwarded only by stations that do not know the host."""
    real = Handoff.on_message

    def printed(self: Handoff, message: Any, sender: int) -> None:
        h = self.s.h.get(message.id_h)
        if isinstance(message, Req1) and h is not None:
            self._on_req1(message, h)
        else:
            real(self, message, sender)

    m.setattr(Handoff, "on_message", printed)


def any_copy_of_app_sh_will_do(m: pytest.MonkeyPatch) -> None:
    """(1.21) A copy made before the host was put into M_d is as good as one made after."""
    real = Host._on_app_sh
    m.setattr(Host, "_on_app_sh", lambda self, a: real(self, AppSH(a.data, a.seq_C, a.id_C, a.M_d, 1 << 30)))


def everybody_in_the_cell_is_answered(m: pytest.MonkeyPatch) -> None:
    """(2.18, 2.39) join, init and leave do not say which station they are for; two may hear them."""
    real = Station.on_packet

    def printed(self: Station, content: Any, sender: int, interface: int) -> None:
        match content:
            case Join():
                content = Join(content.id_h, self.id, content.seq_h, content.Ses)
            case Init():
                content = Init(content.id_h, self.id, content.Co, content.seq_C, content.Ses_LC, content.Ses)
            case Leave():
                content = Leave(content.id_h, self.id, content.Ses)
            case _:
                pass
        real(self, content, sender, interface)

    m.setattr(Station, "on_packet", printed)


def any_ack_clears_what_was_not_delivered(m: pytest.MonkeyPatch) -> None:
    """(2.13-17) m_nd is cleared as a whole, if seq_C is before what SBuffer holds: whatever of it was acknowledged."""
    real = Station._on_ack_h

    def printed(self: Station, a: AckH) -> None:
        h = self.h.get(a.id_h)
        if h is None or h.H_lock or h.Ses != a.Ses or not a.Co:
            real(self, a)
        elif a.seq_C < self.SBuffer.minSeq():
            h.m_nd.clear()
            self._send_init_ack(a.id_h, h)

    m.setattr(Station, "_on_ack_h", printed)


def a_stations_timer_is_never_armed_again(m: pytest.MonkeyPatch) -> None:
    """(3.52-53) What a timer repeats is sent, and no timer set for the next time: once again, and no more."""
    real, copies = Station._send_entry, Counter[tuple[Station, int]]()

    def printed(self: Station, entry: Entry) -> None:
        real(self, entry)
        copies[self, entry.seq_C] += 1
        if copies[self, entry.seq_C] > 1:
            entry.due_ps = FOREVER_PS

    m.setattr(Station, "_send_entry", printed)
