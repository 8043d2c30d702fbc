"""Streams of one node: connections, listeners, and asyncio's transport over them."""

from __future__ import annotations

import asyncio
import contextvars
import errno
import os
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from causeway.aio.connection import Connection, Events
from causeway.aio.names import ANY_ADDRESS, LOOPBACK, address_of
from causeway.aio.packets import ACK, RST, SYN, Segment
from causeway.aio.sockets import SocketView
from causeway.aio.tcp import ABORT, ACCEPTED, TcpEnd

if TYPE_CHECKING:
    from causeway.aio.stack import Stack

HIGH_WATER_BYTES = 64 * 1024
Key = tuple[int, int, int]
"""Local port, remote node, remote port."""


class StreamTransport(asyncio.Transport, Events):
    """asyncio's transport over one connection."""

    def __init__(self, stack: Stack, port: int, remote: tuple[int, int], local: bool) -> None:
        host, peer = (LOOPBACK, LOOPBACK) if local else (address_of(stack.node), address_of(remote[0]))
        ends = (host, port), (peer, remote[1])
        super().__init__({"sockname": ends[0], "peername": ends[1], "socket": SocketView(socket.SOCK_STREAM, *ends)})
        self._stack, self._loop = stack, stack.loop
        self._context = contextvars.copy_context()
        tcp = stack.tcp if remote[0] != stack.node else None
        self.connection: Connection | TcpEnd = (
            Connection(stack, port, remote, local, self) if tcp is None else TcpEnd(stack, tcp, port, remote, self)
        )
        self._protocol: Any = None
        self.begin: Callable[[], None] = lambda: None
        """Called when the connection is established."""
        self.fail: Callable[[OSError | None], None] = lambda _: None
        """Called when the connection ends before it is established."""
        self._closing = self._gone = self._paused = self._writing_paused = self._eof_written = False
        self._held: list[bytes | None] = []
        """Data that arrived while reading was paused or had not begun. None marks the end."""
        self.set_write_buffer_limits()

    def __repr__(self) -> str:
        state = " closing" if self._closing else ""
        return f"<StreamTransport of node {self._stack.node} to {self.get_extra_info('peername')}{state}>"

    def start(self, protocol: Any) -> None:
        """Connect the transport with the program's protocol."""
        self._protocol = protocol
        protocol.connection_made(self)
        self._deliver_held()

    def _soon(self, call: Callable[..., Any], *args: Any) -> None:
        self._loop.inject(call, *args, context=self._context)

    # ---- called by the connection ---------------------------------------------------------------------------------
    def established(self) -> None:
        """Call `begin`."""
        self.begin()

    def arrived(self, data: bytes) -> None:
        """Schedule the delivery of data."""
        if self._gone:  # the data will never be read, so the other end is notified
            self.connection.reset()
        elif not self._closing:
            self.connection.held_bytes += len(data)
            self._soon(self._deliver, data)

    def ended(self) -> None:
        """Schedule the delivery of the end."""
        if not self._closing:
            self._soon(self._deliver, None)

    def room(self) -> None:
        """Resume writing, or finish closing, when the buffer is small enough."""
        if self._closing and not self._gone and self.get_write_buffer_size() == 0:
            self._close_with(None)
        elif self._writing_paused and self.get_write_buffer_size() <= self._low:
            self._writing_paused = False
            self._soon(self._protocol.resume_writing)

    def lost(self, error: OSError | None) -> None:
        """Report the end of the connection to the protocol or, if there is none yet, to `fail`."""
        if isinstance(error, ConnectionResetError) and self.connection.other_ended:  # as on Linux
            error = BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))
        if self._protocol is None:
            self.fail(error)
        elif not self._gone and (error is not None or self._closing):
            self._close_with(error)

    def _close_with(self, error: BaseException | None) -> None:
        self._closing = self._gone = True
        self._soon(self._report_lost, error)

    def _report_lost(self, error: BaseException | None) -> None:
        """Call `connection_lost`, and mark the error of a stream reader's future as retrieved.

        asyncio's readers mark it when they are collected, which is too late if the future is collected first.
        """
        self._protocol.connection_lost(error)
        if isinstance(self._protocol, asyncio.StreamReaderProtocol):
            closed = self._protocol._get_close_waiter(None)  # type: ignore[attr-defined]
            if closed.done() and not closed.cancelled():
                closed.exception()

    def _deliver(self, data: bytes | None) -> None:
        """Pass data to the protocol in order. Keep it while the program pauses."""
        if self._paused or self._held or self._protocol is None:
            self._held.append(data)
        elif data is not None:
            self.connection.mark_read(len(data))
            if not self._gone:
                self._hand_over(data)
        elif not self._closing and not self._call("eof_received"):
            self.close()

    def _hand_over(self, data: bytes) -> None:
        if not isinstance(self._protocol, asyncio.BufferedProtocol):
            self._call("data_received", data)
            return
        while data and not self._gone:
            room = self._call("get_buffer", len(data))
            if self._gone:
                return
            buffer = memoryview(room)
            count = min(len(buffer), len(data))
            buffer[:count] = data[:count]
            self._call("buffer_updated", count)
            data = data[count:]

    def _call(self, method: str, *args: Any) -> Any:
        """Call a method of the protocol. If it fails, its connection is lost, as in asyncio's own transports."""
        try:
            return getattr(self._protocol, method)(*args)
        except (SystemExit, KeyboardInterrupt):
            raise
        except BaseException as error:
            if not isinstance(error, OSError):
                message = f"Fatal error: protocol.{method}() call failed."
                context = {"message": message, "exception": error, "transport": self, "protocol": self._protocol}
                self._loop.call_exception_handler(context)
            self._break_off(error)
            return True

    # ---- reading --------------------------------------------------------------------------------------------------
    def is_reading(self) -> bool:
        """Return whether data is passed to the protocol."""
        return not self._paused and not self._closing

    def pause_reading(self) -> None:
        """Pause passing data to the protocol."""
        if not self._closing:
            self._paused = True

    def resume_reading(self) -> None:
        """Resume passing data to the protocol."""
        if self._paused and not self._closing:
            self._paused = False
            self._deliver_held()

    def _deliver_held(self) -> None:
        held, self._held = self._held, []
        for data in held:
            self._soon(self._deliver, data)

    # ---- writing --------------------------------------------------------------------------------------------------
    def write(self, data: Any) -> None:
        """Write data."""
        if not isinstance(data, bytes | bytearray | memoryview):
            raise TypeError(f"data argument must be a bytes-like object, not {type(data).__name__!r}")
        if self._eof_written:
            raise RuntimeError("Cannot call write() after write_eof()")
        if self._closing or not data:
            return
        self.connection.write(bytes(data))
        if not self._writing_paused and self.get_write_buffer_size() > self._high:
            self._writing_paused = True
            self._protocol.pause_writing()

    def writelines(self, list_of_data: Any) -> None:
        """Write several pieces of data."""
        self.write(b"".join(list_of_data))

    def write_eof(self) -> None:
        """Close the writing end, after the data written so far."""
        if not self._eof_written and not self._closing:
            self._eof_written = True
            self.connection.close()

    def can_write_eof(self) -> bool:
        """Return True."""
        return True

    def get_write_buffer_size(self) -> int:
        """Return the number of bytes that the system has not accepted."""
        return self.connection.unaccepted_bytes

    def get_write_buffer_limits(self) -> tuple[int, int]:
        """Return the limits (low, high)."""
        return self._low, self._high

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Set the limits at which writing pauses and resumes."""
        if high is None:
            high = HIGH_WATER_BYTES if low is None else 4 * low
        if low is None:
            low = high // 4
        if not high >= low >= 0:
            raise ValueError(f"high ({high!r}) must be >= low ({low!r}) must be >= 0")
        self._high, self._low = high, low

    # ---- closing --------------------------------------------------------------------------------------------------
    def is_closing(self) -> bool:
        """Return whether the transport is closed or closing."""
        return self._closing

    def close(self) -> None:
        """Close the connection after the data written so far.

        If received data was not read, reset the connection, as TCP does.
        """
        if self._closing:
            return
        self._closing = True
        if self.connection.held_bytes:
            self.connection.reset()
            return
        self.connection.close()
        if self.get_write_buffer_size() == 0 and not self._gone:
            self._close_with(None)

    def abort(self) -> None:
        """Close the connection. Drop data that the system has not accepted."""
        self._break_off(None)

    def _break_off(self, error: BaseException | None) -> None:
        """Close the connection as a system closes a socket.

        Data that the system has accepted is still sent, the rest is dropped.
        """
        self._closing = True
        if not self._gone:
            self._close_with(error)
        if self.connection.held_bytes:  # TCP resets a connection with unread data
            self.connection.reset()
        else:
            self.connection.drop_waiting()
            self.connection.close()

    def set_protocol(self, protocol: Any) -> None:
        """Set the protocol."""
        self._protocol = protocol

    def get_protocol(self) -> Any:
        """Return the protocol."""
        return self._protocol


class Listener(asyncio.AbstractServer):
    """A listening socket; the result of create_server."""

    _ssl_context = None
    """An attribute of asyncio's own servers, which some programs read."""

    def __init__(self, streams: Streams, host: str, port: int, factory: Callable[[], Any]) -> None:
        self._streams, self._factory = streams, factory
        self.host, self.port = host, port
        self._context = contextvars.copy_context()
        self._serving = self._closed = False
        self._forever: asyncio.Future[None] | None = None
        self.sockets: tuple[SocketView, ...] = (SocketView(socket.SOCK_STREAM, (host, port), None),)

    def get_loop(self) -> Any:
        """Return the event loop."""
        return self._streams.stack.loop

    def accept(self, transport: StreamTransport) -> None:
        """Start the protocol of an established connection."""
        transport._context = self._context.copy()
        transport._soon(self._begin, transport)

    def _begin(self, transport: StreamTransport) -> None:
        if not transport.connection.over:
            transport.start(self._factory())

    def takes(self, local: bool) -> bool:
        """Return whether the server now accepts connections from the node itself (`local`) or from other nodes."""
        return self._serving and (self.host != LOOPBACK or local)

    @property
    def is_public(self) -> bool:
        """True if other nodes can reach the server."""
        return self.host != LOOPBACK

    def is_serving(self) -> bool:
        """Return whether it accepts connections."""
        return self._serving

    async def start_serving(self) -> None:
        """Accept connections from now on."""
        if self._closed:
            raise RuntimeError(f"server {self!r} is closed")
        self._serving = True
        await asyncio.sleep(0)

    async def serve_forever(self) -> None:
        """Accept connections until it is cancelled or closed."""
        if self._forever is not None:
            raise RuntimeError(f"server {self!r} is already being awaited on serve_forever()")
        await self.start_serving()
        self._forever = self.get_loop().create_future()
        try:
            await self._forever
        finally:
            self._forever = None
            self.close()

    def close(self) -> None:
        """Stop listening."""
        if not self._closed:
            self._closed, self._serving, self.sockets = True, False, ()
            self._streams.stop_listening(self)
            if self._forever is not None and not self._forever.done():
                self._forever.cancel()

    async def wait_closed(self) -> None:
        """Return at once, since closing takes no time."""


class Streams:
    """All connections and listeners of a node."""

    def __init__(self, stack: Stack) -> None:
        self.stack = stack
        self.listeners: dict[int, Listener] = {}
        self._connections: dict[Key, Connection | TcpEnd] = {}
        self._by_number: dict[int, TcpEnd] = {}  # connections of the simulator's TCP

    # ---- opening --------------------------------------------------------------------------------------------------
    async def connect(self, factory: Callable[[], Any], addr: Any, local_addr: Any) -> tuple[StreamTransport, Any]:
        """Open a connection and start its protocol."""
        transport = await self.open(addr, local_addr)
        protocol = factory()
        transport.start(protocol)
        return transport, protocol

    async def open(self, addr: Any, local_addr: Any) -> StreamTransport:
        """Open a connection. Return its transport, which has no protocol yet."""
        stack = self.stack
        local = addr[0] == "localhost" or addr[0].startswith("127.") or addr[0] == ANY_ADDRESS
        remote = stack.resolve((LOOPBACK if local else addr[0], addr[1]))
        used = {key[0] for key in self._connections} | set(self.listeners)
        port = int(local_addr[1]) if local_addr and local_addr[1] else stack.free_port(used)
        if (port, *remote) in self._connections:
            raise OSError(errno.EADDRINUSE, f"port {port} of node {stack.node} is in use")
        transport = StreamTransport(stack, port, remote, local)
        answer = stack.loop.create_future()

        def begin() -> None:
            if not answer.done():
                answer.set_result(None)

        def fail(error: OSError | None) -> None:
            if not answer.done():
                answer.set_exception(_connect_failed(error, addr))

        transport.begin, transport.fail = begin, fail
        self._connections[port, *remote] = transport.connection
        transport.connection.connect()
        if isinstance(transport.connection, TcpEnd):
            self._by_number[transport.connection.number] = transport.connection
        try:
            await answer
        except asyncio.CancelledError:
            transport.connection.reset()
            raise
        return transport

    def pair(self) -> tuple[StreamTransport, StreamTransport]:
        """Return two ends of one connection of this node with itself."""
        stack, ports = self.stack, (self.stack.free_port(self.listeners), self.stack.free_port(self.listeners))
        ends = [StreamTransport(stack, a, (stack.node, b), True) for a, b in (ports, ports[::-1])]
        for end, other in zip(ends, ends[::-1], strict=True):
            assert isinstance(end.connection, Connection) and isinstance(other.connection, Connection)
            end.connection.join(other.connection)
            self._connections[end.connection.port, *end.connection.remote] = end.connection
        return ends[0], ends[1]

    def listen(self, factory: Callable[[], Any], host: str, port: int) -> Listener:
        """Listen on a port; 0 for any free one."""
        if host not in (ANY_ADDRESS, LOOPBACK, address_of(self.stack.node)):
            raise OSError(errno.EADDRNOTAVAIL, f"{host} is not an address of node {self.stack.node}")
        if port == 0:
            port = self.stack.free_port(self.listeners)
        elif port in self.listeners:
            raise OSError(errno.EADDRINUSE, f"port {port} of node {self.stack.node} is in use")
        self.listeners[port] = listener = Listener(self, host, port, factory)
        if self.stack.tcp is not None and listener.is_public:
            self.stack.tcp.listen(port, True)
        return listener

    def stop_listening(self, listener: Listener) -> None:
        """Free the port of a listener."""
        if self.listeners.pop(listener.port, None) and self.stack.tcp is not None and listener.is_public:
            self.stack.tcp.listen(listener.port, False)

    def forget(self, connection: Connection | TcpEnd) -> None:
        """Remove a connection that is over."""
        self._connections.pop((connection.port, *connection.remote), None)
        if isinstance(connection, TcpEnd):
            self._by_number.pop(connection.number, None)

    # ---- receiving ------------------------------------------------------------------------------------------------
    def receive(self, sender: int, segment: Segment) -> None:
        """Process a segment."""
        connection = self._connections.get((segment.to_port, sender, segment.from_port))
        if isinstance(connection, Connection):
            connection.receive(segment)
            return
        listener = self.listeners.get(segment.to_port)
        if segment.flags & (SYN | ACK) == SYN and listener is not None and listener.takes(segment.local):
            self._accept(listener, sender, segment)
        elif not segment.flags & RST:
            refusal = Segment(segment.from_port, segment.to_port, RST | ACK, segment.ack, segment.seq + 1, 0)
            self.stack.send(sender, refusal._replace(local=segment.local))

    def _accept(self, listener: Listener, sender: int, syn: Segment) -> None:
        remote = (sender, syn.from_port)
        transport = StreamTransport(self.stack, syn.to_port, remote, syn.local)
        transport.begin = lambda: listener.accept(transport)
        self._connections[syn.to_port, *remote] = transport.connection
        assert isinstance(transport.connection, Connection)
        transport.connection.accept(syn)

    def on_event(self, kind: int, number: int, arg: int) -> None:
        """Process an event of the simulator's TCP."""
        if kind == ACCEPTED:
            self._accept_number(number)
        elif (end := self._by_number.get(number)) is not None:
            end.on_event(kind, arg)

    def _accept_number(self, number: int) -> None:
        tcp = self.stack.tcp
        assert tcp is not None
        pair = tcp.pairs.get(number)
        listener = self.listeners.get(pair.port) if pair is not None else None
        if pair is None or listener is None or not listener.takes(False):
            tcp.act(ABORT, number)
            return
        transport = StreamTransport(self.stack, pair.port, pair.opener, False)
        assert isinstance(transport.connection, TcpEnd)
        self._by_number[number] = self._connections[pair.port, *pair.opener] = transport.connection
        transport.connection.accept(number)
        listener.accept(transport)

    def power_off(self) -> None:
        """Drop the simulator's connections after a failure of the node. The simulator has already dropped them."""
        for end in self._by_number.values():
            end.over = True
            end.tcp.leave(end.number)

    def close_all(self) -> None:
        """Close all listeners and connections."""
        for listener in list(self.listeners.values()):
            listener.close()
        for connection in list(self._connections.values()):
            connection.events.close()  # type: ignore[attr-defined]


def _connect_failed(error: OSError | None, addr: Any) -> OSError:
    if error is None:
        return ConnectionAbortedError(errno.ECONNABORTED, os.strerror(errno.ECONNABORTED))
    return type(error)(error.errno, f"Connect call failed {(addr[0], addr[1])}")
