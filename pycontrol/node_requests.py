"""Requests with a time-out: `request` and `reply`.

    def ask(self, peer: int) -> None:
        self.request(peer, Ping(), ms(500), self.on_pong, partial(self.on_silence, peer))

    @handles(Ping)
    def on_ping(self, ping: Ping, sender: int) -> None:
        self.reply(Pong())

Requests and replies are ordinary packets, with REQUEST_BYTES more for the number that connects them. The receiver's
usual handler gets the content of a request. `on_reply` gets the content of the reply, if the request is still open.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from causeway.pycontrol import arguments
from causeway.pycontrol.node_timers import TimerHandle, Timers, check, handler_behind, own_method
from causeway.pycontrol.protocol_errors import Misuse, misuse
from causeway.pycontrol.sizes import size_of

REQUEST_BYTES: Final = 8
"""The size that a request and its reply have in addition to their contents: the size of the number that connects them.
"""


class Exchange(NamedTuple):
    """The content of a packet that is a request or a reply."""

    serial: int
    """The number of the request among those of its sender."""
    is_reply: bool
    content: Any

    def __repr__(self) -> str:
        return f"{'reply to' if self.is_reply else 'request'} {self.serial}: {self.content!r}"


class Request(NamedTuple):
    """A request that a node has received. Pass it to `reply`, now or later."""

    sender: int
    serial: int
    interface: int


class Open(NamedTuple):
    """A request that waits for its reply."""

    timeout: TimerHandle
    on_reply: Callable[[Any, int], object]
    on_timeout: Callable[[], object]


class Requests(Timers):
    """The services of a node for requests."""

    def request(
        self,
        peer: int,
        content: Any,
        timeout_ps: int,
        on_reply: Callable[[Any, int], object],
        on_timeout: Callable[[], object],
        *,
        size_bytes: int | None = None,
        interface: int = 0,
    ) -> None:
        """Send a request to a node, and wait for its reply. One of the two methods is called, exactly once.

        A reply that arrives after the time-out is dropped. If this node fails, neither method is called.

        Args:
            peer: The node that replies.
            content: Any object; the handler of such contents at `peer` calls `reply`.
            timeout_ps: The time to wait after sending, in picoseconds, as in `ms(300)`.
            on_reply: A method of this node, called with the content of the reply and its sender.
            on_timeout: A method of this node, called without arguments. functools.partial can add arguments.
            size_bytes: The size of the content, without the REQUEST_BYTES; by default `size_of(content)`.
            interface: WIRELESS (0) or another interface of the network. The reply uses the same one.
        """
        check(self, "request")
        own_method(self, "request", "on_reply", on_reply)
        own_method(self, "request", "on_timeout", on_timeout)
        if isinstance(peer, int) and peer < 0:
            raise misuse("request", "peer", peer, "one node; send a packet to EVERYONE with self.send")
        if type(timeout_ps) is not int or timeout_ps < 0:
            timeout_ps = arguments.delay(timeout_ps, self.runtime.now_ps, "request", "timeout_ps")
        state = vars(self)
        serial: int = state.get("_next_request", 0)
        size = with_overhead(content, size_bytes)
        self.runtime.send(self.id, peer, Exchange(serial, False, content), size, interface, 0)
        state["_next_request"] = serial + 1  # not used again, since a late reply would answer a later request
        timeout = self.after(timeout_ps, self._times_out, serial)
        state.setdefault("_open_requests", {})[serial] = Open(timeout, on_reply, on_timeout)

    def reply(self, content: Any, request: Request | None = None, *, size_bytes: int | None = None) -> None:
        """Reply to a request.

        Args:
            content: Any object.
            request: A request that was kept (`self.current_request`); by default the one that is being handled.
            size_bytes: The size of the content, without the REQUEST_BYTES; by default `size_of(content)`.
        """
        check(self, "reply")
        to = self.current_request if request is None else request
        if not isinstance(to, Request):
            raise misuse("reply", "request", to, "a value of self.current_request")
        size = with_overhead(content, size_bytes)
        self.runtime.send(self.id, to.sender, Exchange(to.serial, True, content), size, to.interface, 0)

    @property
    def current_request(self) -> Request:
        """The request whose content is being handled. Keep it to reply later.

        Raises:
            Misuse: The handler that runs does not handle a request.
        """
        found: Request | None = vars(self).get("_current_request")
        if found is None:
            raise Misuse(
                "reply is called outside the handler of a request; call it in the handler of the request's content, "
                "or keep self.current_request there and pass it: self.reply(content, request)"
            )
        return found

    def _times_out(self, serial: int) -> None:
        vars(self)["_open_requests"].pop(serial).on_timeout()

    def _exchange(self: Any, exchange: Exchange, sender: int, interface: int) -> None:
        """Handle a packet that is a request or a reply. The content of a request goes to `Node.on_packet`."""
        state: dict[str, Any] = vars(self)
        if not exchange.is_reply:
            state["_current_request"] = Request(sender, exchange.serial, interface)
            try:
                self.on_packet(exchange.content, sender, interface)
            finally:
                del state["_current_request"]
            return
        waiting: Open | None = state.get("_open_requests", {}).pop(exchange.serial, None)
        if waiting is None:
            return
        waiting.timeout.cancel()
        waiting.on_reply(exchange.content, sender)
        if (contents := self.runtime.contents) is not None:
            contents.look(self, handler_behind(waiting.on_reply))


def with_overhead(content: Any, size_bytes: int | None) -> int:
    """Return the size of a request or reply with this content."""
    size = size_of(content) if size_bytes is None else size_bytes
    return size + REQUEST_BYTES if type(size) is int else size


def receive(node: Any, content: Any, sender: int, interface: int) -> None:
    """Call the handler of a packet: `on_packet`, or the handler of a request or reply."""
    if type(content) is Exchange:
        node._exchange(content, sender, interface)
    else:
        node.on_packet(content, sender, interface)


def inside(content: Any) -> Any:
    """Return the content that the nodes see."""
    return content.content if type(content) is Exchange else content
