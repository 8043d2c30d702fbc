"""The support station s_j: Algorithms 2 and 3, and the dissemination of Algorithm 4, with the paper's names.

The handoff between stations is in handoff.py. Comments like (2.44) refer to the paper: algorithm 2, line 44.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from causeway.bridge.events import FOREVER
from causeway.network.networks import WIRE, WIRELESS
from causeway.pycontrol.node import EVERYONE, Node
from causeway.pycontrol.protocols.mobile.connection import Connection
from causeway.pycontrol.protocols.mobile.handoff import NOBODY, Handoff
from causeway.pycontrol.protocols.mobile.messages import (
    ACKNOWLEDGEMENT,
    AckC,
    AckH,
    AppCo,
    AppHS,
    AppSH,
    AppSS,
    Data,
    Delete,
    FromStation,
    Init,
    InitACK,
    Join,
    Leave,
    LeaveACK,
    Message,
    Req1,
    Req2,
    Rsp1,
    Rsp2,
)  # fmt: skip
from causeway.pycontrol.protocols.mobile.meter import Meter
from causeway.pycontrol.protocols.mobile.sbuffer import Entry, SBuffer
from causeway.pycontrol.protocols.mobile.stream import stream_of
from causeway.pycontrol.protocols.mobile.timing import Timing


class Station(Node):
    """A support station s_j."""

    not_state = frozenset({"meter", "timing"})

    def __init__(self, timing: Timing, meter: Meter, neighbours: Sequence[int]) -> None:
        self.timing = timing
        self.meter = meter
        self.neighbours = neighbours
        self.SBuffer = SBuffer()
        self.h: dict[int, Connection] = {}
        self.vMd = 0
        self.past: dict[int, tuple[int, int]] = {}
        """The last known session of each host at another station, and the time when it was learned."""
        self.heard_ps: dict[int, int] = {}
        """The time of the last message of each host, if the station forgets silent hosts."""
        self.waits_since_ps = 0
        """The time since which SBuffer has not been empty. Before it, hosts owed no acknowledgement."""
        self.handoff = Handoff(self)

    @property
    def busy(self) -> bool:
        """True if it keeps messages for a host, or a handoff from or to it is not finished."""
        return bool(self.SBuffer) or any(h.H_lock or h.m_nd for h in self.h.values())

    # ---- events ---------------------------------------------------------------------------------------------------
    def on_start(self) -> None:
        """Declare lookaheads and set up the random generator."""
        self.meter.clock = self.runtime
        self.left()  # stations deliver no messages
        self._declare_lookahead()
        self.random = stream_of(self)
        if self.timing.idle_acks:
            self._set_ack_timer()

    def on_packet(self, content: Message, sender: int, interface: int) -> None:
        """Handle a message of a host or of another station (2.1, 4.52)."""
        if self.timing.forget_ps and interface == WIRELESS:
            self.heard_ps[sender] = self.now_ps
        match content:
            case AppHS():
                self.meter.arrived(self._needs(content))
                self._on_app_hs(content)
            case AppSS():
                self.disseminate(content.data, content.id_h, content.seq_h, sender)
            case AckH():
                self._on_ack_h(content)
            case Join() if content.id_C == self.id:
                self._on_join(content)
            case Init() if content.id_C == self.id:
                self._on_init(content)
            case Leave() if content.id_C == self.id:
                self._on_leave(content)
            case Delete():
                self._on_delete(content, sender)
            case Req1() | Rsp1() | Req2() | Rsp2():
                self.handoff.on_message(content, sender)
            case _:
                pass

    def on_lost(self, content: Message, interface: int) -> None:
        """Count a lost message of a host."""
        if isinstance(content, AppHS):
            self.meter.lost(self._needs(content))

    def _needs(self, m: AppHS) -> bool:
        """Return whether the message is from a host of this station and has not arrived before."""
        h = self.h.get(m.id_h)
        return h is not None and h.Ses == m.Ses and m.seq_h >= h.seq_h and m.seq_h not in h.RBuffer

    def on_timer(self, key: Hashable) -> None:
        """Acknowledge, or send pending messages again (3.48-53)."""
        if key == "ack":
            self._send_ack()
        elif key == "retry":
            self._send_pending()
        elif isinstance(key, tuple) and (h := self.h.get(key[1])) is not None and h.holder:
            self._send_co(key[1], h)

    # ---- dissemination --------------------------------------------------------------------------------------------
    def disseminate(self, data: Data, id_h: int, seq_h: int, sender: int) -> None:
        """Append a message to the order, forward it in the tree, and send it to the cell (2.44-47)."""
        if not self.SBuffer:
            self.waits_since_ps = self.now_ps
        entry = self.SBuffer.insert((id_h, seq_h), data)
        self.flood(AppSS(data, id_h, seq_h), sender)
        self.discard()
        self._declare_lookahead()
        if entry.id in self.SBuffer and len(self.SBuffer) <= self.timing.outstanding:
            self._send_entry(entry)
            if not self.has_timer("retry"):
                self.set_timer("retry", entry.due_ps - self.now_ps)

    def _on_app_hs(self, m: AppHS) -> None:
        """Disseminate the messages of a host in their order (2.2-8)."""
        h = self.h.get(m.id_h)
        if h is None or h.H_lock or h.Ses != m.Ses:
            return
        if not self.has_timer("ack"):
            self._set_ack_timer()
        if m.seq_h >= h.seq_h:
            h.RBuffer[m.seq_h] = m
        while (following := h.RBuffer.pop(h.seq_h, None)) is not None:
            h.seq_h += 1
            self.disseminate(following.data, m.id_h, following.seq_h, NOBODY)

    def _on_ack_h(self, m: AckH) -> None:
        """Process the acknowledgement of a host (2.9-17)."""
        h = self.h.get(m.id_h)
        if h is None or h.H_lock or h.Ses != m.Ses:
            return
        h.acknowledge(m.Co, m.seq_C)
        if not m.Co:
            if m.seq_C == h.seq_C:  # unequal if a later acknowledgement overtook this one
                h.received = m.received
            self.discard()
        elif not h.m_nd:
            self._send_init_ack(m.id_h, h)

    def discard(self) -> None:
        """Discard the messages that no host here needs, and send messages that were waiting for a place (2.12)."""
        seq_C = min([h.seq_C for h in self.h.values()], default=self.SBuffer.seq_C)
        if seq_C > self.SBuffer.minSeq():
            full = len(self.SBuffer) > self.timing.outstanding
            self.SBuffer.clear(seq_C)
            self._declare_lookahead()
            if full:
                self._send_pending()

    def _declare_lookahead(self) -> None:
        """Declare the lookahead for acknowledgements: they cause sends only if messages wait for a place."""
        waiting = len(self.SBuffer) > self.timing.outstanding
        self.declare_lookahead(ACKNOWLEDGEMENT, 0 if waiting else FOREVER)

    def _send_pending(self) -> None:
        """Send the outstanding messages that are due, and set the timer for the next one."""
        if self.timing.forget_ps:
            self._forget_silent()
        now_ps, next_ps = self.now_ps, 0
        for entry in self.SBuffer.first(self.timing.outstanding):
            if entry.due_ps <= now_ps:
                if self._is_lacked(entry):
                    self._send_entry(entry)
                else:  # check again later, since a host that has the message may fail or leave
                    entry.due_ps = self._next_due_ps(entry)
            if entry.due_ps < next_ps or not next_ps:
                next_ps = entry.due_ps
        if next_ps:
            self.set_timer("retry", next_ps - now_ps)

    def _send_entry(self, entry: Entry) -> None:
        entry.due_ps = self._next_due_ps(entry)
        self.meter.addressed(len(self.h))
        self.transmit(AppSH(entry.data, entry.seq_C, self.id, frozenset(entry.M_d), self.vMd))

    def _next_due_ps(self, entry: Entry) -> int:
        pending = min(len(self.SBuffer), self.timing.outstanding)
        place = entry.seq_C - self.SBuffer.minSeq() + 1
        return self.now_ps + self.timing.jittered_ps(self.timing.retry_at_ps(place, pending), self.random)

    def _forget_silent(self) -> None:
        """Forget the hosts that were silent for the time T of Section IV.E, so that they no longer delay others."""
        latest_ps = self.now_ps - self.timing.forget_ps
        if self.waits_since_ps >= latest_ps:
            return
        for id_h in [id_h for id_h, h in self.h.items() if h.holder]:
            if self.heard_ps.setdefault(id_h, self.now_ps) < latest_ps:
                del self.heard_ps[id_h]
                self.delete(id_h)

    def _is_lacked(self, entry: Entry) -> bool:
        """Return whether to send a pending message again. Without intervals this is unknown, so all are sent.

        A host in M_d needs a copy as well: it does not deliver the message, but advances to the next one.
        """
        return not self.timing.ack_intervals or any(h.lacks(entry.seq_C) for h in self.h.values())

    def _retry_ps(self, pending: int) -> int:
        return self.timing.jittered_ps(self.timing.retry_ps(pending), self.random)

    def _send_ack(self) -> None:
        """Acknowledge the messages of all hosts of this station (3.48-51)."""
        vSeq = {id_h: h.seq_h for id_h, h in self.h.items() if h.holder}
        if vSeq:
            self.transmit(AckC(self.id, vSeq))
        if self.timing.idle_acks:
            self._set_ack_timer()

    def _set_ack_timer(self) -> None:
        period_ps = self.timing.station_ack_ps or self.timing.ack_ps
        self.set_timer("ack", self.timing.ack_wait_ps(period_ps, self.id, self.now_ps, self.random))

    # ---- join, init, leave ----------------------------------------------------------------------------------------
    def _on_join(self, m: Join) -> None:
        """Connect a host that joins (2.18-35).

        It has delivered nothing, and the state of earlier attempts is discarded.
        """
        h = self.h.get(m.id_h)
        if h is None and self._is_past(m.id_h, m.Ses):
            return
        if h is None or h.Ses < m.Ses:
            self.h[m.id_h] = Connection(m.Ses, m.seq_h, self.SBuffer.minSeq())
            self.flood(Delete(m.id_h, m.Ses), NOBODY)
            self.open(m.id_h, self.h[m.id_h])
        elif h.holder and h.Ses == m.Ses:
            self.open(m.id_h, h)

    def _on_init(self, m: Init) -> None:
        """Connect a host that comes from another station or renews its session (2.18-38)."""
        h = self.h.get(m.id_h)
        if h is not None and h.holder and m.Ses_LC > h.Ses:  # remains from a join whose answer was never received
            self.delete(m.id_h)
            h = None
        if h is None:
            if not self._is_past(m.id_h, m.Ses):
                self.handoff.ask(m)
        elif h.holder and m.Ses >= h.Ses:
            if m.Ses > h.Ses:
                if m.Ses_LC == h.Ses:
                    h.acknowledge(m.Co, m.seq_C)
                h.renew(m.Ses)
                h.seq_C = self._calc_seq(m.id_h, h.seq_C)
                self.discard()
            self.open(m.id_h, h)

    def open(self, id_h: int, h: Connection) -> None:
        """End the connection phase, or begin it with the messages to be delivered first (4.98-104)."""
        if h.m_nd:
            self._send_co(id_h, h)
        else:
            self._send_init_ack(id_h, h)

    def _calc_seq(self, id_h: int, seq_C: int) -> int:
        """Return the first message from seq_C on that the host has not delivered (calcSeq)."""
        return next((e.seq_C for e in self.SBuffer.since(seq_C) if id_h not in e.M_d), self.SBuffer.seq_C)

    def _send_init_ack(self, id_h: int, h: Connection) -> None:
        self.transmit(InitACK(id_h, h.seq_h, h.seq_C, h.Ses, h.vMd))

    def _send_co(self, id_h: int, h: Connection) -> None:
        """Send the messages to be delivered before the connection is established (BroadcastCo)."""
        for number, (_, data) in enumerate(h.m_nd[: self.timing.outstanding], h.first_Co):
            self.transmit(AppCo(data, self.id, number, id_h, h.Ses))
        if h.m_nd:
            self.set_timer(("Co", id_h), self._retry_ps(len(h.m_nd)))

    def _on_leave(self, m: Leave) -> None:
        """Answer every copy of a leave, and forward the first one (2.39-43)."""
        h = self.h.get(m.id_h)
        if (h is None or h.Ses < m.Ses) and not self._is_past(m.id_h, m.Ses):
            self.flood(Delete(m.id_h, m.Ses), NOBODY)
            self._on_deleted(m.id_h, m.Ses)
        if h is None or h.Ses < m.Ses:
            self.transmit(LeaveACK(m.id_h, m.Ses))

    def _on_delete(self, m: Delete, sender: int) -> None:
        """Forward a Delete, and forget the host's earlier sessions (4.55-61)."""
        self.flood(m, sender)
        self._on_deleted(m.id_h, m.Ses)

    def _on_deleted(self, id_h: int, Ses: int) -> None:
        self.remember(id_h, Ses)
        h = self.h.get(id_h)
        if h is not None and h.Ses < Ses:
            self.delete(id_h)

    # ---- ended sessions -------------------------------------------------------------------------------------------
    def delete(self, id_h: int) -> None:
        """Forget a host that does not belong to this station any more."""
        h = self.h.pop(id_h)
        self.remember(id_h, h.to if h.to is not None else h.Ses)
        self.cancel_timer(("Co", id_h))
        self.discard()

    def remember(self, id_h: int, Ses: int) -> None:
        """Record that a session is over, so that a late join or init of it or of an earlier one is ignored."""
        known, _ = self.past.pop(id_h, (Ses, 0))
        self.past[id_h] = (max(known, Ses), self.now_ps)
        while self.past[oldest := next(iter(self.past))][1] < self.now_ps - self.timing.memory_ps:
            del self.past[oldest]

    def _is_past(self, id_h: int, Ses: int) -> bool:
        return id_h in self.past and Ses <= self.past[id_h][0]

    # ---- sending --------------------------------------------------------------------------------------------------
    def transmit(self, message: FromStation) -> None:
        """Send a message to the cell by radio."""
        self.meter.sent(message, WIRELESS)
        self.send(EVERYONE, message, message.size_bytes, WIRELESS, message.topic)

    def flood(self, message: Message, sender: int) -> None:
        """Send a message to all neighbours in the tree except its sender."""
        for neighbour in self.neighbours:
            if neighbour != sender:
                self.meter.sent(message, WIRE)
                self.send(neighbour, message, message.size_bytes, WIRE)
