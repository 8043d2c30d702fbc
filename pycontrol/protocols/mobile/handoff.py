"""The handoff between stations: the four messages of Section IV.D and the rules that keep exactly one holder a host.

Req1 and Delete reach every station, once, over the same FIFO tree as the application messages, hence in causal order
with them. From that follows, for sessions s of one host:

- Only the holder answers Req1(s): it becomes a giver and keeps the answer's state frozen until Req2(s).
- A station that hands the host on to s has heard every request that s's station heard before it asked. So whoever
  receives the host hears, as candidate or holder, of every candidate that can still be served or must still be told.
- A candidate below the session of the holder is never served: the holder tells it (Delete). A candidate must not tell
  another one: that one may have been promised the host already.

Comments like (4.78) point to the paper: algorithm 4, line 78. Departures: docs/papers/mobile20.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from causeway.pycontrol.protocols.mobile.connection import Connection
from causeway.pycontrol.protocols.mobile.messages import Delete, HandoffMessage, Init, Req1, Req2, Rsp1, Rsp2
from causeway.pycontrol.protocols.mobile.sbuffer import Entry

if TYPE_CHECKING:
    from causeway.pycontrol.protocols.mobile.station import Station

NOBODY = -1


class Handoff:
    """One station's part in the handoffs of all hosts."""

    def __init__(self, station: Station) -> None:
        self.s = station

    def ask(self, init: Init) -> None:
        """(2.36-38) An unknown host wants this station: it becomes a candidate."""
        s = self.s
        seq_C = s.SBuffer.minSeq()
        s.h[init.id_h] = Connection(init.Ses, 0, seq_C, H_lock=True, since_ps=s.now_ps)
        s.flood(Req1(init.id_h, init.Co, init.seq_C, init.Ses_LC, init.Ses), NOBODY)

    def on_message(self, m: HandoffMessage, sender: int) -> None:
        """(4.63-104) Req1 goes on in any case; the other three until they find whom they are for."""
        h = self.s.h.get(m.id_h)
        match m:
            case Req1():
                self.s.flood(m, sender)
                self._on_req1(m, h)
            case Rsp1() if h and h.candidate and h.Ses == m.Ses and h.m_nd_ids is None:
                self._on_rsp1(m, h)
            case Req2() if h and h.to == m.Ses:
                self._on_req2(m, h)
            case Rsp2() if h and h.candidate and h.Ses == m.Ses and h.m_nd_ids is not None:
                self._on_rsp2(m, h)
            case _:
                self.s.flood(m, sender)

    def _on_req1(self, m: Req1, h: Connection | None) -> None:
        """(4.66-79)"""
        self.s.remember(m.id_h, m.Ses)
        if h is None:
            return
        if h.candidate:
            if m.Ses > h.Ses and h.CoRequest is None:
                h.CoRequest = m
            elif m.Ses > h.Ses:
                assert h.CoRequest is not None
                h.CoRequest = max(h.CoRequest, m, key=lambda request: request.Ses)
                h.overtaken = True
            else:
                h.overtaken = True
        elif h.holder:
            if m.Ses_LC > h.Ses:  # left over from a join that the host never heard of
                self.s.delete(m.id_h)
            elif m.Ses > h.Ses:
                self._promise(m, h)
            else:
                self.s.flood(Delete(m.id_h, h.Ses), NOBODY)

    def _promise(self, m: Req1, h: Connection) -> None:
        """(4.74-79) Freezes what is known of the host and tells the new station what is not delivered."""
        s = self.s
        if m.Ses_LC == h.Ses:
            h.acknowledge(m.Co, m.seq_C)
        h.H_lock, h.to = True, m.Ses
        h.RBuffer.clear()
        h.copies = dict(h.m_nd)
        h.copies.update((e.id, e.data) for e in s.SBuffer.since(h.seq_C) if m.id_h not in e.M_d)
        h.m_nd_ids = tuple(h.copies)
        h.seq_Co = s.SBuffer.seq_C
        s.flood(Rsp1(m.id_h, h.seq_h, h.m_nd_ids, m.Ses), NOBODY)
        s.discard()

    def _on_rsp1(self, m: Rsp1, h: Connection) -> None:
        """(4.83-88)"""
        s = self.s
        h.seq_h, h.m_nd_ids, h.seq_Co = m.seq_h, m.m_nd, s.SBuffer.seq_C
        s.flood(Req2(m.id_h, tuple(i for i in m.m_nd if i not in s.SBuffer), m.Ses), NOBODY)

    def _on_req2(self, m: Req2, h: Connection) -> None:
        """(4.89-94) The host is the new station's from here on."""
        s = self.s
        msg = tuple((i, h.copies[i]) for i in m.msg_req)
        msg_rcv = tuple(e.id for e in s.SBuffer.since(h.seq_Co))
        s.delete(m.id_h)
        s.meter.handed_off(len(h.copies), len(msg), len(msg_rcv))
        s.flood(Rsp2(m.id_h, msg, msg_rcv, m.Ses), NOBODY)

    def _on_rsp2(self, m: Rsp2, h: Connection) -> None:
        """(4.95-104) Now it is known which of the kept messages the host delivered elsewhere."""
        s = self.s
        assert h.m_nd_ids is not None
        missing = set(h.m_nd_ids).union(m.msg_rcv)
        kept = [e for e in s.SBuffer.since(h.seq_C) if m.id_h not in e.M_d]
        owed = [e.seq_C for e in kept if e.seq_C >= h.seq_Co or e.id in missing]
        h.seq_C = min(owed, default=s.SBuffer.seq_C)
        self._mark(m.id_h, h, [e for e in kept if e.seq_C > h.seq_C and e.seq_C not in set(owed)])
        h.m_nd = list(m.msg)
        h.H_lock, h.m_nd_ids = False, None
        s.meter.handoff_done(s.now_ps - h.since_ps)
        if h.overtaken:
            s.flood(Delete(m.id_h, h.CoRequest.Ses if h.CoRequest else h.Ses), NOBODY)
        if h.CoRequest:
            self._promise(h.CoRequest, h)
        else:
            s.open(m.id_h, h)
        s.discard()

    def _mark(self, id_h: int, h: Connection, entries: list[Entry]) -> None:
        """(4.96-97) Copies sent from now on say that the host must skip these."""
        if entries:
            self.s.vMd += 1
            h.vMd = self.s.vMd
            for entry in entries:
                entry.M_d.add(id_h)
