"""Streams over the simulator's TCP, on networks that have TCP.

The simulator carries only lengths. The bytes that a program writes are kept in the connection's `Pair`. The other end
reads as many of them, in order, as have arrived according to the simulated TCP. TCP's flow control extends to the
program: bytes that it has not read stay in TCP's buffer, and bytes that TCP has not accepted stay with the program.
"""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

from causeway.bridge.events import Act, Kind
from causeway.network.networks import WIRE, WIRELESS_TCP
from causeway.proto.contract import constant, declared

if TYPE_CHECKING:
    from causeway.aio.connection import Events
    from causeway.aio.program_node import ProgramNode
    from causeway.aio.stack import Stack

CONNECTED, ACCEPTED, BYTES, ROOM = map(int, (Kind.CONNECTED, Kind.ACCEPTED, Kind.BYTES, Kind.ROOM))
LISTEN, WRITE, READ, CLOSE, ABORT = map(int, (Act.LISTEN, Act.WRITE, Act.READ, Act.CLOSE, Act.ABORT))
SEND_BUFFER_BYTES = constant("SEND_BUFFER_BYTES")
ENDINGS = dict(declared("Ending"))
DONE = ENDINGS["DONE"]
ERRORS: dict[int, tuple[type[OSError], int]] = {
    ENDINGS["RESET"]: (ConnectionResetError, errno.ECONNRESET),
    ENDINGS["REFUSED"]: (ConnectionRefusedError, errno.ECONNREFUSED),
    ENDINGS["TIMED_OUT"]: (TimeoutError, errno.ETIMEDOUT),
}


class Pair:
    """The common state of both ends of a connection: the opener, and the bytes in flight to either node."""

    def __init__(self, opener: int, opener_port: int, to: int, port: int) -> None:
        self.opener, self.port = (opener, opener_port), port
        self.to = {opener: bytearray(), to: bytearray()}
        self.ends = {opener}
        """The nodes that still use their end of the connection."""


class Tcp:
    """The simulated TCP of one node."""

    def __init__(self, node: ProgramNode, pairs: dict[int, Pair], wires: frozenset[tuple[int, int]]) -> None:
        """Make the TCP of a node.

        Args:
            node: The node.
            pairs: The connections of all nodes, by number.
            wires: Pairs of stations with a wire, in both directions.
        """
        self._node, self.pairs, self._wires = node, pairs, wires

    def listen(self, port: int, begin: bool) -> None:
        """Begin to listen on a port, or stop listening."""
        self._node.runtime.on_tcp(LISTEN, self._node.id, 0, port, int(begin))

    def connect(self, port: int, remote: tuple[int, int]) -> int:
        """Open a connection, over the wire if there is one between the two nodes. Return its number."""
        node = self._node.id
        interface = WIRE if (node, remote[0]) in self._wires else WIRELESS_TCP
        number = self._node.runtime.connect(node, remote[0], remote[1], interface)
        self.pairs[number] = Pair(node, port, *remote)
        return number

    def act(self, act: int, number: int, size_bytes: int = 0) -> None:
        """Carry out an action on a connection."""
        self._node.runtime.on_tcp(act, self._node.id, number, size_bytes)

    def write(self, number: int, to: int, data: bytes) -> None:
        """Write data to a connection."""
        self.pairs[number].to[to] += data
        self._node.programs.report(self._node, f"write to connection {number}", data)
        self.act(WRITE, number, len(data))

    def leave(self, number: int) -> None:
        """Record that this node does not use a connection any more."""
        pair = self.pairs.get(number)
        if pair is not None:
            pair.ends.discard(self._node.id)
            if not pair.ends:
                del self.pairs[number]


class TcpEnd:
    """One end of a connection of the simulator's TCP. It has the interface of `causeway.aio.connection.Connection`."""

    def __init__(self, stack: Stack, tcp: Tcp, port: int, remote: tuple[int, int], events: Events) -> None:
        self.stack, self.tcp, self.port, self.remote, self.events = stack, tcp, port, remote, events
        self.number = -1
        self.out = bytearray()
        """The bytes for which TCP has no room."""
        self.held_bytes = 0
        """The number of bytes that have arrived and that the program has not read yet."""
        self.is_established = self.other_ended = self.over = False
        self._closing = self._closed = False
        self._unacknowledged = 0

    @property
    def unaccepted_bytes(self) -> int:
        """The number of written bytes that wait in the program."""
        return len(self.out)

    # ---- called by the owner --------------------------------------------------------------------------------------
    def connect(self) -> None:
        """Open the connection."""
        self.number = self.tcp.connect(self.port, self.remote)

    def accept(self, number: int) -> None:
        """Accept a connection that another node opened."""
        self.number, self.is_established = number, True
        self.tcp.pairs[number].ends.add(self.stack.node)

    def write(self, data: bytes) -> None:
        """Send bytes as far as TCP has room."""
        self.out += data
        self._push()

    def close(self) -> None:
        """End the stream after the bytes already written."""
        self._closing = True
        self._push()

    def drop_waiting(self) -> None:
        """Drop the bytes that TCP has not accepted."""
        self.out.clear()

    def reset(self) -> None:
        """End the connection at once."""
        if not self.over:
            self.tcp.act(ABORT, self.number)
            self._finish(None)

    def mark_read(self, size_bytes: int) -> None:
        """Open the window by bytes that the program has read."""
        self.held_bytes -= size_bytes
        if not self.over:
            self.tcp.act(READ, self.number, size_bytes)

    def _push(self) -> None:
        """Pass as many bytes to TCP as it has room for."""
        if self.over or not self.is_established:
            return
        size = min(len(self.out), SEND_BUFFER_BYTES - self._unacknowledged)
        if size:
            self._unacknowledged += size
            self.tcp.write(self.number, self.remote[0], bytes(self.out[:size]))
            del self.out[:size]
        if self._closing and not self._closed and not self.out:
            self._closed = True
            self.tcp.act(CLOSE, self.number)
            if self.other_ended:
                self._finish(None)

    # ---- events of the simulated TCP ------------------------------------------------------------------------------
    def on_event(self, kind: int, arg: int) -> None:
        """Process an event of the connection."""
        if kind == BYTES:
            under_way = self.tcp.pairs[self.number].to[self.stack.node]
            data = bytes(under_way[:arg])
            del under_way[:arg]
            self.events.arrived(data)
        elif kind == ROOM:
            self._unacknowledged -= arg
            self._push()
            self.events.room()
        elif kind == CONNECTED:
            self.is_established = True
            self.events.established()
            self._push()
        elif arg != DONE:
            error, number = ERRORS[arg]
            self._finish(error(number, os.strerror(number)))
        else:
            self.other_ended = True
            self.events.ended()
            if self._closed:
                self._finish(None)

    def _finish(self, error: OSError | None) -> None:
        if not self.over:
            self.over = True
            self.tcp.leave(self.number)
            self.stack.streams.forget(self)
            self.events.lost(error)
