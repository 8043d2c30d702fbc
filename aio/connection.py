"""One end of a reliable stream, with sequence numbers, a window and retransmission. It is not TCP.

It provides TCP's service (bytes in order, flow control, half close, resets, retries and a timeout) in a simple way.
Every segment is acknowledged at once. A missing segment is sent again after three repeated acknowledgements or a
timeout. The receiver's window limits the bytes in flight. There is no slow start and no congestion control (the
abstract network has no congestion), no delayed acknowledgement, and sequence numbers do not wrap.
"""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

from causeway.aio.packets import ACK, FIN, PROBE, RST, SYN, Segment

if TYPE_CHECKING:
    import asyncio

    from causeway.aio.stack import Stack

SEGMENT_BYTES = 1460
WINDOW_BYTES = 65_536
"""The maximum number of bytes that a receiver keeps for a program that does not read, and that a sender's system
buffers."""
FIRST_WAIT_S, SHORTEST_WAIT_S, LONGEST_WAIT_S = 1.0, 0.2, 120.0
"""The initial, shortest and longest wait before a segment is sent again, as on Linux."""
TRIES = 8
"""The number of times that a segment is sent without an answer before the connection times out."""
CONNECT_TRIES = 6


class Events:
    """The callbacks to the owner of a connection, which do nothing here. `causeway.aio.streams` overrides them."""

    def established(self) -> None:
        """Record that the connection is established."""

    def arrived(self, data: bytes) -> None:
        """Receive bytes, in order."""

    def ended(self) -> None:
        """Record that the other end will send no more."""

    def room(self) -> None:
        """Record that bytes were acknowledged."""

    def lost(self, error: OSError | None) -> None:
        """Record that the connection is over. `error` is None if both ends closed it."""


class Connection:
    """One end of a stream. Positions (`seq`) are absolute; SYN and FIN take one position each."""

    def __init__(self, stack: Stack, local_port: int, remote: tuple[int, int], local: bool, events: Events) -> None:
        self.stack, self.port, self.remote, self.local, self.events = stack, local_port, remote, local, events
        self.first = stack.chance.getrandbits(32)
        self.acked = self.sent = self.first
        """Everything before `acked` was acknowledged; everything before `sent` was sent."""
        self.out = bytearray()
        """The bytes from position `acked` on (without SYN and FIN)."""
        self.right_edge = self.first + 1
        """The end of the other end's window."""
        self.closing = False
        """True if a FIN follows `out`."""
        self.expected = -1
        """The next position expected from the other end; -1: no segment has arrived."""
        self.early: dict[int, Segment] = {}
        self.held_bytes = 0
        """The number of bytes in order that the program has not read yet."""
        self.is_established = self.other_ended = self.over = self._fin_acked = False
        self._tries = 0
        self._repeats = 0
        self._mean_s = self._spread_s = 0.0
        self._timed: tuple[int, int] | None = None
        """The (position, time) of the segment whose round trip is measured. Only one is measured at a time, and none
        that was sent twice."""
        self._timer: asyncio.TimerHandle | None = None

    @property
    def unaccepted_bytes(self) -> int:
        """The number of written bytes beyond those that the system buffers. They wait in the program."""
        return max(0, len(self.out) - WINDOW_BYTES)

    # ---- called by the owner --------------------------------------------------------------------------------------
    def connect(self) -> None:
        """Send a SYN. It also acknowledges the other end's SYN, if that has arrived."""
        self.sent = self.first + 1
        self._timed = (self.sent, self.stack.loop.clock.now_ps)
        self._emit(SYN, self.first)
        self._start_timer()

    def accept(self, syn: Segment) -> None:
        """Answer the SYN of another end."""
        self.expected = syn.seq + 1
        self.right_edge = self.first + 1 + syn.window
        self.connect()

    def join(self, other: Connection) -> None:
        """Make both ends of one connection established, without a handshake."""
        self.sent = self.acked = self.first + 1
        self.expected, self.right_edge = other.first + 1, self.sent + WINDOW_BYTES
        self.is_established = True

    def write(self, data: bytes) -> None:
        """Send bytes as far as the window allows."""
        self.out += data
        self._push()

    def close(self) -> None:
        """End the stream after the bytes already written."""
        if not self.closing:
            self.closing = True
            self._push()

    def drop_waiting(self) -> None:
        """Drop the bytes that the program's system has not accepted."""
        del self.out[WINDOW_BYTES:]

    def reset(self) -> None:
        """End the connection at once."""
        if not self.over:
            self._emit(RST | ACK, self.sent)
            self._finish(None)

    def mark_read(self, size_bytes: int) -> None:
        """Open the window by bytes that the program has read."""
        was_shut = WINDOW_BYTES - self.held_bytes < SEGMENT_BYTES
        self.held_bytes -= size_bytes
        if was_shut and not self.over:
            self._emit(ACK, self.sent)

    # ---- sending --------------------------------------------------------------------------------------------------
    def _push(self) -> None:
        """Send as much as the window allows."""
        if not self.is_established or self.over:
            return
        data_end = self.acked + len(self.out)
        while self.sent < min(data_end, self.right_edge):
            self.sent += self._emit_data(self.sent)
        if self.closing and self.sent == data_end and not self._fin_acked:
            self._emit(FIN | ACK, self.sent)
            self.sent += 1
        if (self.sent > self.acked or data_end > self.sent) and self._timer is None:
            self._start_timer()

    def _emit_data(self, position: int) -> int:
        """Send one segment from this position on, within the window. Return its length."""
        offset = position - self.acked
        length = min(SEGMENT_BYTES, len(self.out) - offset, self.right_edge - position)
        if self._timed is None and position == self.sent:
            self._timed = (position + length, self.stack.loop.clock.now_ps)
        self._emit(ACK, position, bytes(self.out[offset : offset + length]))
        return length

    def _emit(self, flags: int, seq: int, data: bytes = b"") -> None:
        if self.expected >= 0:
            flags |= ACK
        window = max(0, WINDOW_BYTES - self.held_bytes)
        segment = Segment(self.remote[1], self.port, flags, seq, max(self.expected, 0), window, data, self.local)
        self.stack.send(self.remote[0], segment)

    # ---- sending again --------------------------------------------------------------------------------------------
    def _start_timer(self) -> None:
        self._stop_timer()
        wait_s = min(self._retry_wait_s() * 2**self._tries, LONGEST_WAIT_S)
        self._timer = self.stack.loop.call_later(wait_s, self._on_timeout)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _retry_wait_s(self) -> float:
        if self._mean_s == 0.0:
            return FIRST_WAIT_S
        return max(SHORTEST_WAIT_S, self._mean_s + 4 * self._spread_s)

    def _measure(self, took_s: float) -> None:
        if self._mean_s == 0.0:
            self._mean_s, self._spread_s = took_s, took_s / 2
        else:
            self._spread_s += (abs(took_s - self._mean_s) - self._spread_s) / 4
            self._mean_s += (took_s - self._mean_s) / 8

    def _on_timeout(self) -> None:
        self._timer = None
        if self.over:
            return
        self._tries += 1
        if self._tries > (TRIES if self.is_established else CONNECT_TRIES):
            self._finish(TimeoutError(errno.ETIMEDOUT, os.strerror(errno.ETIMEDOUT)))
            return
        self._repeat()
        self._start_timer()

    def _repeat(self) -> None:
        """Send the first unacknowledged segment again, or a window probe if the window is shut."""
        self._timed = None
        if not self.is_established:
            self._emit(SYN, self.first)
        elif self.out and self.acked < self.right_edge:
            self._emit_data(self.acked)
        elif self.out:
            self._emit(PROBE, self.sent)
        else:
            self._emit(FIN, self.acked)

    # ---- receiving ------------------------------------------------------------------------------------------------
    def receive(self, segment: Segment) -> None:
        """Process a segment."""
        if segment.flags & RST:
            self._was_reset(segment)
            return
        if segment.flags & SYN:
            self._take_syn(segment)
            return
        if self.expected < 0:  # the connection is older than a failure of this node, so the other end must drop it
            self.stack.send(self.remote[0], Segment(self.remote[1], self.port, RST, segment.ack, 0, 0))
            return
        if segment.flags & ACK:
            self._take_ack(segment)
        if self.over:
            return
        if segment.flags & PROBE:
            self._emit(ACK, self.sent)
        elif segment.data or segment.flags & FIN:
            self._take_data(segment)

    def _was_reset(self, segment: Segment) -> None:
        if self.expected < 0:
            self._finish(ConnectionRefusedError(errno.ECONNREFUSED, os.strerror(errno.ECONNREFUSED)))
        else:
            self._finish(ConnectionResetError(errno.ECONNRESET, os.strerror(errno.ECONNRESET)))

    def _take_syn(self, segment: Segment) -> None:
        if self.expected < 0 and segment.flags & ACK and segment.ack == self.sent:
            self.expected = segment.seq + 1
            self._take_ack(segment)
            self._emit(ACK, self.sent)
        elif self.expected == segment.seq + 1 or self.is_established:
            self._emit(ACK if self.is_established else SYN, self.sent if self.is_established else self.first)

    def _take_ack(self, segment: Segment) -> None:
        self.right_edge = max(self.right_edge, segment.ack + segment.window)
        if segment.ack > self.sent or segment.ack < self.acked:
            return
        if segment.ack == self.acked:
            self._take_repeated_ack(segment)
            return
        self._tries = self._repeats = 0
        if self._timed is not None and segment.ack >= self._timed[0]:
            self._measure((self.stack.loop.clock.now_ps - self._timed[1]) / 1e12)
            self._timed = None
        if not self.is_established:
            self.acked += 1
            self.is_established = True
            self.events.established()
        self._forget_acked(segment.ack)
        self._stop_timer()
        if self._fin_acked and self.other_ended:
            self._finish(None)
            return
        self.events.room()
        self._push()

    def _forget_acked(self, ack: int) -> None:
        count = ack - self.acked
        if count > len(self.out):
            self._fin_acked = True
            self.sent = ack
        del self.out[:count]
        self.acked = ack

    def _take_repeated_ack(self, segment: Segment) -> None:
        """Process an acknowledgement without news, which may mean that a segment is missing."""
        if not self.out:
            return
        if self.sent == self.acked or segment.window == 0:
            self._tries = 0  # the other end is alive, but its window is shut
        elif not segment.data:
            self._repeats += 1
            if self._repeats == 3:
                self._repeat()
        self._push()

    def _take_data(self, segment: Segment) -> None:
        if segment.seq > self.expected:
            if segment.seq < self.expected + WINDOW_BYTES:
                self.early.setdefault(segment.seq, segment)
            self._emit(ACK, self.sent)
            return
        self._take_in_order(segment)
        while self.early and (first := min(self.early)) <= self.expected:
            self._take_in_order(self.early.pop(first))
        if self.over:
            return
        self._emit(ACK, self.sent)
        if self._fin_acked and self.other_ended:
            self._finish(None)

    def _take_in_order(self, segment: Segment) -> None:
        """Process the new part of a segment."""
        data = segment.data[self.expected - segment.seq :]
        if data and self.held_bytes + len(data) <= WINDOW_BYTES + SEGMENT_BYTES:
            self.expected += len(data)
            self.events.arrived(data)
        if segment.flags & FIN and self.expected == segment.seq + len(segment.data) and not self.other_ended:
            self.expected += 1
            self.other_ended = True
            self.events.ended()

    def _finish(self, error: OSError | None) -> None:
        if not self.over:
            self.over = True
            self._stop_timer()
            self.early.clear()
            self.stack.streams.forget(self)
            self.events.lost(error)
