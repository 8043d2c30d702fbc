"""The handoff between stations: the messages of Section IV.D, and the rules by which a host has exactly one holder.

Req1 and Delete reach every station once, over the same FIFO tree as the application messages, so in causal order with
them. For the sessions s of one host this implies:

- Only the holder answers Req1(s). It becomes a giver and keeps the state of its answer until Req2(s).
- A station that gives the host to session s has received every request that the station of s had received before it
  sent its own. Hence the station that gets the host receives, as candidate or holder, the requests of all candidates
  that can still be served or must still be refused.
- A candidate with a session below the holder's is never served; the holder refuses it (Delete). A candidate must not
  refuse another one, to which the host may have been promised already.

Comments like (4.78) refer to the paper: algorithm 4, line 78. Departures: docs/papers/mobile20.md.
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
        """Become the candidate for an unknown host that connects here (2.36-38)."""
        s = self.s
        seq_C = s.SBuffer.minSeq()
        s.h[init.id_h] = Connection(init.Ses, 0, seq_C, H_lock=True, since_ps=s.now_ps)
        s.flood(Req1(init.id_h, init.Co, init.seq_C, init.Ses_LC, init.Ses), NOBODY)

    def on_message(self, m: HandoffMessage, sender: int) -> None:
        """Handle or forward a message: Req1 goes to every station, the others to one station (4.63-104)."""
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
        """Promise the host, postpone the request, or refuse it (4.66-79)."""
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
            if m.Ses_LC > h.Ses:  # h remains from a join whose answer the host never received
                self.s.delete(m.id_h)
            elif m.Ses > h.Ses:
                self._promise(m, h)
            else:
                self.s.flood(Delete(m.id_h, h.Ses), NOBODY)

    def _promise(self, m: Req1, h: Connection) -> None:
        """Freeze the host's state and send the new station the ids of messages that it lacks (4.74-79)."""
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
        """Request the messages of which this station has no copy left (4.83-88)."""
        s = self.s
        h.seq_h, h.m_nd_ids, h.seq_Co = m.seq_h, m.m_nd, s.SBuffer.seq_C
        s.flood(Req2(m.id_h, tuple(i for i in m.m_nd if i not in s.SBuffer), m.Ses), NOBODY)

    def _on_req2(self, m: Req2, h: Connection) -> None:
        """Send the requested copies and give the host to the new station (4.89-94)."""
        s = self.s
        msg = tuple((i, h.copies[i]) for i in m.msg_req)
        msg_rcv = tuple(e.id for e in s.SBuffer.since(h.seq_Co))
        s.delete(m.id_h)
        s.meter.handed_off(len(h.copies), len(msg), len(msg_rcv))
        s.flood(Rsp2(m.id_h, msg, msg_rcv, m.Ses), NOBODY)

    def _on_rsp2(self, m: Rsp2, h: Connection) -> None:
        """Become the holder, and mark the kept messages that the host delivered elsewhere (4.95-104)."""
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
        """Add the host to M_d of some messages, so that it skips their copies from now on (4.96-97)."""
        if entries:
            self.s.vMd += 1
            h.vMd = self.s.vMd
            for entry in entries:
                entry.M_d.add(id_h)
