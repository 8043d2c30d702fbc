"""One end of a stream that is a TCP connection of the simulator, on networks that have TCP.

The simulator carries lengths: what a program writes is kept in the connection's `Pair`, and as many bytes of it are
taken out at the other end as the simulated TCP says have arrived there, in order. TCP's window is the program's: what
it has not read stays in TCP's buffer, and what TCP has not taken stays with the program.
"""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

from causeway.bridge.events import Act, Kind
from causeway.bridge.network import WIRE, WIRELESS_TCP
from causeway.bridge.schema import constant, declared

if TYPE_CHECKING:
    from causeway.aio.connection import Events
    from causeway.aio.node import ProgramNode
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
    """What both ends of a connection share: who opened it, and the bytes under way to either node."""

    def __init__(self, opener: int, opener_port: int, to: int, port: int) -> None:
        self.opener, self.port = (opener, opener_port), port
        self.to = {opener: bytearray(), to: bytearray()}
        self.ends = {opener}
        """Nodes that have an end of it and are not through with it."""


class Tcp:
    """The simulated TCP of one node."""

    def __init__(self, node: ProgramNode, pairs: dict[int, Pair], wires: frozenset[tuple[int, int]]) -> None:
        """`wires`: pairs of stations, both ways."""
        self._node, self.pairs, self._wires = node, pairs, wires

    def listen(self, port: int, begin: bool) -> None:
        self._node.host.on_tcp(LISTEN, self._node.id, 0, port, int(begin))

    def connect(self, port: int, remote: tuple[int, int]) -> int:
        """Opens a connection; its number. Over the wire, if there is one between the two."""
        node = self._node.id
        interface = WIRE if (node, remote[0]) in self._wires else WIRELESS_TCP
        number = self._node.host.connect(node, remote[0], remote[1], interface)
        self.pairs[number] = Pair(node, port, *remote)
        return number

    def act(self, act: int, number: int, size_bytes: int = 0) -> None:
        self._node.host.on_tcp(act, self._node.id, number, size_bytes)

    def write(self, number: int, to: int, data: bytes) -> None:
        self.pairs[number].to[to] += data
        self._node.programs.tell(self._node, f"write to connection {number}", data)
        self.act(WRITE, number, len(data))

    def leave(self, number: int) -> None:
        """This node is through with a connection."""
        pair = self.pairs.get(number)
        if pair is not None:
            pair.ends.discard(self._node.id)
            if not pair.ends:
                del self.pairs[number]


class TcpEnd:
    """This node's end; to its owner it is what `causeway.aio.connection.Connection` is."""

    def __init__(self, stack: Stack, tcp: Tcp, port: int, remote: tuple[int, int], events: Events) -> None:
        self.stack, self.tcp, self.port, self.remote, self.events = stack, tcp, port, remote, events
        self.number = -1
        self.out = bytearray()
        """What TCP has no room for."""
        self.held_bytes = 0
        """Arrived, but not taken by the program yet."""
        self.is_established = self.other_ended = self.over = False
        self._closing = self._closed = False
        self._unacknowledged = 0

    @property
    def not_taken(self) -> int:
        """So many written bytes wait in the program."""
        return len(self.out)

    # ---- what the owner does --------------------------------------------------------------------------------------
    def connect(self) -> None:
        self.number = self.tcp.connect(self.port, self.remote)

    def accept(self, number: int) -> None:
        self.number, self.is_established = number, True
        self.tcp.pairs[number].ends.add(self.stack.node)

    def write(self, data: bytes) -> None:
        self.out += data
        self._push()

    def close(self) -> None:
        """No more will be written. What was written is still sent."""
        self._closing = True
        self._push()

    def drop_waiting(self) -> None:
        """Forgets what TCP has not taken."""
        self.out.clear()

    def reset(self) -> None:
        """Ends it at once."""
        if not self.over:
            self.tcp.act(ABORT, self.number)
            self._finish(None)

    def taken(self, size_bytes: int) -> None:
        """The program took bytes that were held: the window opens."""
        self.held_bytes -= size_bytes
        if not self.over:
            self.tcp.act(READ, self.number, size_bytes)

    def _push(self) -> None:
        """Hands TCP what it takes."""
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

    # ---- what the simulated TCP tells -----------------------------------------------------------------------------
    def happened(self, kind: int, arg: int) -> None:
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
