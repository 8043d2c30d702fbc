"""The mobile host h_i: Algorithm 1, with the paper's names.

A host's position, `(Ses_LC, Co, seq_C)`, determines the messages that it has delivered: those before seq_C of session
Ses_LC. While Co, seq_C counts the App_Co messages of that session; afterwards, it is a number in the cell's order. The
position is saved before each delivery.

Comments like (1.22) refer to the paper: algorithm 1, line 22. Departures: docs/papers/mobile20.md.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from enum import Enum

from causeway.network.networks import WIRELESS
from causeway.pycontrol.node import EVERYONE, Node
from causeway.pycontrol.protocols.mobile.messages import (
    ACKNOWLEDGEMENT,
    FROM_STATION,
    TO_STATION,
    AckC,
    AckH,
    AppCo,
    AppHS,
    AppSH,
    Data,
    FromHost,
    Init,
    InitACK,
    Join,
    Leave,
    LeaveACK,
    Message,
)  # fmt: skip
from causeway.pycontrol.protocols.mobile.meter import S_PS, Meter
from causeway.pycontrol.protocols.mobile.stream import stream_of
from causeway.pycontrol.protocols.mobile.timing import Timing

NO_SESSION = -1
NO_CELL = -1


class HostState(Enum):
    """The four states of the paper, and two for a host that is not in the system."""

    OUT = "out"
    JOIN = "join"
    INIT = "init"
    CONN = "conn"
    ESTAB = "estab"
    LEAVING = "leaving"


@dataclass
class Saved:
    """The variables that survive a failure (Section IV.E)."""

    member: HostState = HostState.OUT
    """OUT, JOIN (in the system, from Join on) or LEAVING."""
    seq_h: int = 0
    SBuffer: tuple[tuple[int, Data], ...] = ()
    Ses: int = NO_SESSION
    position: tuple[int, bool, int] = (NO_SESSION, False, 0)


class Host(Node):
    """A mobile host h_i."""

    not_state = frozenset({"meter", "timing"})

    def __init__(self, timing: Timing, meter: Meter, joins_by_itself: bool = True) -> None:
        self.timing = timing
        self.meter = meter
        self.joins_by_itself = joins_by_itself
        self.saved = Saved()
        self.nearest = NO_CELL
        self.down = False
        self.recovered = False
        """True from a recovery to the first acknowledgement after it, if this acknowledgement is late."""
        self.wants_to_leave = False
        self._forget_all()

    def _forget_all(self) -> None:
        self.state = HostState.OUT
        self.id_C = NO_CELL
        self.seq_h = 0
        self.SBuffer: dict[int, Data] = {}
        self.due_ps: dict[int, int] = {}
        self.Ses = self.Ses_LC = NO_SESSION
        self.Co = False
        self.seq_C = 0
        self.vMd = 0
        self.RBuffer: dict[int, AppSH] = {}
        self.RBuffer_Co: dict[int, AppCo] = {}

    @property
    def busy(self) -> bool:
        """True if it has messages to send, or is not connected."""
        return bool(self.SBuffer) or self.state is not HostState.ESTAB

    # ---- the application's calls ----------------------------------------------------------------------------------
    def Join(self) -> None:
        """Join the system (1.1-5).

        Numbers continue from an earlier membership, so that its late messages are recognized.
        """
        self.state = HostState.JOIN
        self.saved.member = HostState.JOIN
        self.wants_to_leave = False
        self.Ses_LC, self.Co, self.seq_C = NO_SESSION, False, 0
        self._save_position()
        self._connect()

    def Leave(self) -> None:
        """Leave the system as soon as the stations have this host's messages (1.14)."""
        self.wants_to_leave = True
        self._leave_if_free()

    def CoBroadcast(self, size_bytes: int) -> None:
        """Broadcast a message (1.11-13)."""
        data = Data(self.new_message(), size_bytes)
        self.meter.broadcast(data.message)
        self.SBuffer[self.seq_h] = data
        self.seq_h += 1
        self.saved.seq_h, self.saved.SBuffer = self.seq_h, tuple(self.SBuffer.items())
        if self.state is HostState.ESTAB:
            self._send_pending()

    # ---- events ---------------------------------------------------------------------------------------------------
    def on_start(self) -> None:
        """Declare lookaheads and set up the random generator. The host is not a member yet."""
        self.meter.clock = self.runtime
        self.random = stream_of(self)
        self.left()
        self.declare_lookahead(FROM_STATION, self.timing.soonest_ack_ps)
        self.unsubscribe(ACKNOWLEDGEMENT)
        self.unsubscribe(TO_STATION)

    def on_station(self, station: int, x_mm: int, y_mm: int) -> None:
        """Join, or connect to a new nearest station."""
        self.nearest = station
        self.meter.moved(self.id, x_mm, y_mm, station)
        if self.down or station == NO_CELL:
            return
        if self.state is HostState.OUT:
            if self.joins_by_itself and not self.has_timer("join"):
                self.set_timer("join", self.random.randrange(self.timing.spread_ps))
        elif station != self.id_C:
            self._connect()

    def on_broadcast(self, number: int, size_bytes: int) -> None:
        """Broadcast a message, if the host is a member."""
        if self.state not in (HostState.OUT, HostState.LEAVING) and not self.wants_to_leave:
            self.CoBroadcast(size_bytes)

    def on_packet(self, content: Message, sender: int, interface: int) -> None:
        """Handle a message of a station (1.15-48)."""
        if isinstance(content, AppSH):  # nearly all messages
            self.meter.arrived(self._needs(content))
            self.meter.heard()
            if content.id_C == self.id_C:
                self._on_app_sh(content)
            return
        match content:
            case AppCo() if content.id_hdest == self.id:
                self.meter.arrived(self._needs(content))
                self._on_app_co(content)
            case AckC() if self.id in content.vSeq:
                self._clear_sbuffer(content.vSeq[self.id])
            case InitACK() if content.id_h == self.id:
                self._on_init_ack(content)
            case LeaveACK() if content.id_h == self.id and content.Ses == self.Ses:
                self._leave()
            case _:
                pass

    def on_lost(self, content: Message, interface: int) -> None:
        """Count a lost application message."""
        if isinstance(content, AppSH) or (isinstance(content, AppCo) and content.id_hdest == self.id):
            self.meter.lost(self._needs(content))

    def _needs(self, m: AppSH | AppCo) -> bool:
        """Return whether the message is from the host's station, must be delivered, and has not arrived before."""
        if m.id_C != self.id_C or self.state in (HostState.OUT, HostState.LEAVING):
            return False
        if isinstance(m, AppCo):
            return m.Ses == self.Ses and self.state is not HostState.ESTAB and m.seq_C not in self.RBuffer_Co
        ahead = self.state is not HostState.ESTAB or m.seq_C >= self.seq_C
        return ahead and m.seq_C not in self.RBuffer and self.id not in m.M_d

    def on_timer(self, key: Hashable) -> None:
        """Join, acknowledge, or send a message again (1.49-53)."""
        if key == "join":
            if self.state is HostState.OUT:
                self.Join()
        elif key == "connect":
            self._send_connect()
        elif key == "retry":
            self._send_pending()
        elif key == "ack":
            self._transmit(AckH(self.id, self.Co, self.seq_C, self.Ses, self._received()))
            if self.state is HostState.CONN or self.timing.idle_acks:
                self._set_ack_timer()

    def on_down(self) -> None:
        """Lose everything except the saved variables."""
        self.down = True
        self._forget_all()

    def on_up(self) -> None:
        """Restore the saved variables and connect again (Section IV.E)."""
        self.down, self.recovered = False, self.timing.late_first_ack
        saved = self.saved
        self.seq_h, self.SBuffer, self.Ses = saved.seq_h, dict(saved.SBuffer), saved.Ses
        self.Ses_LC, self.Co, self.seq_C = saved.position
        self.state = saved.member
        if self.state is not HostState.OUT:
            if self.state is HostState.JOIN and self.Ses_LC != NO_SESSION:
                self.state = HostState.INIT
            self._connect()
        elif self.nearest != NO_CELL:
            self.on_station(self.nearest, *self.meter.position(self.id))

    # ---- connection -----------------------------------------------------------------------------------------------
    def _connect(self) -> None:
        """Begin a new session with the nearest station, to join, change the cell, recover or leave (1.6-10)."""
        self.id_C = self.nearest
        if self.state in (HostState.CONN, HostState.ESTAB):
            self.state = HostState.INIT
        self.Ses += 1
        self.saved.Ses = self.Ses
        self.cancel_timer("ack")
        self.cancel_timer("retry")
        self.RBuffer.clear()
        self.RBuffer_Co.clear()
        self.due_ps.clear()
        self._send_connect()

    def _send_connect(self) -> None:
        message: FromHost
        if self.state is HostState.JOIN:
            message = Join(self.id, self.id_C, min(self.SBuffer, default=self.seq_h), self.Ses)
        elif self.state is HostState.INIT:
            message = Init(self.id, self.id_C, self.Co, self.seq_C, self.Ses_LC, self.Ses)
        else:
            assert self.state is HostState.LEAVING, self.state
            message = Leave(self.id, self.id_C, self.Ses)
        self._transmit(message)
        self.set_timer("connect", self.timing.jittered_ps(self.timing.connect_ps, self.random))

    def _on_init_ack(self, m: InitACK) -> None:
        """End the connection phase (1.37-45)."""
        if m.Ses != self.Ses or self.state not in (HostState.JOIN, HostState.INIT, HostState.CONN):
            return
        if self.state is HostState.JOIN:
            self.joined()
        self.cancel_timer("connect")
        self.state = HostState.ESTAB
        self.Ses_LC, self.Co, self.seq_C, self.vMd = m.Ses, False, m.seq_C, m.vMd
        self._save_position()
        self._clear_sbuffer(m.seq_h)
        if self.state is HostState.ESTAB:
            self._set_ack_timer()
            self._send_pending()
            self._fifo_deliver()

    def _leave_if_free(self) -> None:
        if (
            self.wants_to_leave
            and not self.SBuffer
            and self.state not in (HostState.OUT, HostState.LEAVING)
            and not self.down
        ):
            self.left()
            self.state = self.saved.member = HostState.LEAVING
            self.saved.SBuffer = ()
            self._connect()

    def _leave(self) -> None:
        """End the membership (1.46-48)."""
        if self.state is HostState.LEAVING:
            self.wants_to_leave = False
            self.cancel_timer("connect")
            self.state = self.saved.member = HostState.OUT

    # ---- reception ------------------------------------------------------------------------------------------------
    def _on_app_sh(self, m: AppSH) -> None:
        """Deliver or store a message (1.16-23). Copies older than this host's entries in M_d (vMd) are ignored."""
        if self.state is HostState.ESTAB:
            if not self.has_timer("ack"):
                self._set_ack_timer()
            ahead = m.seq_C - self.seq_C
            if ahead >= 0 and m.vMd >= self.vMd:
                if ahead:
                    self._store(m)
                else:
                    self._take(m)
                    self._fifo_deliver()
        elif self.state not in (HostState.OUT, HostState.LEAVING):
            self._store(m)

    def _store(self, m: AppSH) -> None:
        known = self.RBuffer.get(m.seq_C)
        if known is None or known.vMd < m.vMd:
            self.RBuffer[m.seq_C] = m

    def _on_app_co(self, m: AppCo) -> None:
        """Deliver or store a message of the connection phase (1.24-33)."""
        if m.Ses != self.Ses or self.state not in (HostState.INIT, HostState.CONN):
            return
        if self.state is HostState.INIT:
            self.cancel_timer("connect")
            self.state = HostState.CONN
            self.Ses_LC, self.Co, self.seq_C = m.Ses, True, 0
            self._save_position()
            self._set_ack_timer()
        if m.seq_C >= self.seq_C:
            self.RBuffer_Co[m.seq_C] = m
        while (following := self.RBuffer_Co.pop(self.seq_C, None)) is not None:
            self._take(following)

    def _take(self, m: AppSH | AppCo) -> None:
        """Advance the position by one message, and deliver it unless this host is in its M_d."""
        self.seq_C += 1
        self._save_position()
        if isinstance(m, AppCo) or self.id not in m.M_d:
            message = m.data.message
            self.deliver(message)
            self.meter.delivered(message)

    def _fifo_deliver(self) -> None:
        """Take the next messages from RBuffer."""
        if self.RBuffer and min(self.RBuffer) < self.seq_C:
            self.RBuffer = {seq: m for seq, m in self.RBuffer.items() if seq >= self.seq_C}
        while (m := self.RBuffer.pop(self.seq_C, None)) is not None:
            if m.vMd >= self.vMd:
                self._take(m)

    def _received(self) -> tuple[tuple[int, int], ...]:
        """Return the intervals of valid messages in RBuffer, if hosts acknowledge intervals."""
        if not self.timing.ack_intervals or self.state is not HostState.ESTAB:
            return ()
        intervals: list[tuple[int, int]] = []
        for seq in sorted(seq for seq, m in self.RBuffer.items() if m.vMd >= self.vMd):
            if intervals and intervals[-1][1] == seq:
                intervals[-1] = intervals[-1][0], seq + 1
            else:
                intervals.append((seq, seq + 1))
        return tuple(intervals)

    def _set_ack_timer(self) -> None:
        if self.recovered and self.state is HostState.ESTAB:
            self.recovered = False
            wait_ps = 2 * S_PS + self.random.randrange(S_PS)
        else:
            wait_ps = self.timing.ack_wait_ps(self.timing.ack_ps, self.id, self.now_ps, self.random)
        self.set_timer("ack", wait_ps)

    # ---- own messages ---------------------------------------------------------------------------------------------
    def _clear_sbuffer(self, seq_h: int) -> None:
        """Discard the host's own messages before seq_h, which the station has (1.35, 1.44)."""
        for seq in [s for s in self.SBuffer if s < seq_h]:
            del self.SBuffer[seq]
            self.due_ps.pop(seq, None)
        self._leave_if_free()

    def _send_pending(self) -> None:
        """Send the host's own messages that are due, and set the timer for the next one."""
        if not self.SBuffer or self.state is not HostState.ESTAB:
            return
        for seq, data in self.SBuffer.items():
            if self.due_ps.get(seq, 0) <= self.now_ps:
                self._transmit(AppHS(data, self.id, seq, self.Ses))
                self.due_ps[seq] = self.now_ps + self.timing.jittered_ps(
                    self.timing.own_retry_ps(len(self.SBuffer)), self.random
                )
        self.set_timer("retry", min(self.due_ps.values()) - self.now_ps)

    def _save_position(self) -> None:
        self.saved.position = (self.Ses_LC, self.Co, self.seq_C)

    def _transmit(self, message: FromHost) -> None:
        if self.nearest != NO_CELL:
            self.meter.sent(message, WIRELESS)
            self.send(EVERYONE, message, message.size_bytes, WIRELESS, message.topic)
