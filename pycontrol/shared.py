"""Find nodes that change a content after they sent or received it.

Contents are not copied: every receiver of a packet gets the object that was sent. A node that changes it also changes
packets on their way and the objects of other nodes. Inside `watching_contents()`, the fingerprints of contents are
compared after every handler of a node that sent or received them. The second of two runs
(`causeway.studies.second_run`) and some random schedules of `causeway check` use it.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Hashable, Iterator
from contextvars import ContextVar
from functools import cache, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from causeway.errors import UserError
from causeway.pycontrol.dispatch import dispatched, handlers_of
from causeway.pycontrol.handlers import HANDLERS, Node
from causeway.pycontrol.node_requests import inside
from causeway.pycontrol.protocol_errors import Misuse, seconds, shown

if TYPE_CHECKING:
    from causeway.pycontrol.node import PerNode

LAST = 64
"""The number of contents that are compared for each node: the last ones that it sent or received."""
PLAIN = (type(None), bool, int, float, str, bytes)
_wanted = ContextVar("watching_contents", default=False)
"""A variable of the thread, since runs in other threads begin and end independently."""


class ChangedContent(Misuse):
    """Raised if a node changed a content after it was sent.

    The message names handler, file, attribute, sender and time.
    """


@contextlib.contextmanager
def watching_contents() -> Iterator[None]:
    """Watch the contents of runs and models that begin in the block."""
    before = _wanted.set(True)
    try:
        yield
    finally:
        _wanted.reset(before)


def watch_if_wanted(protocol: PerNode) -> None:
    """Watch the contents of a protocol whose nodes have just been made, inside `watching_contents()`."""
    # asyncio programs need no watch, since they send bytes, which cannot change
    if _wanted.get() and protocol.can_be_copied:
        protocol.contents = Contents(protocol)


class _Sent(NamedTuple):
    packet: int
    content: Any
    fingerprint: Hashable
    sender: int
    sent_ps: int


class Contents:
    """The contents that the nodes of a protocol sent and received. It can be copied together with them."""

    def __init__(self, protocol: PerNode) -> None:
        """Replace the protocol's `send`, and compare contents after the handlers of its nodes."""
        self.protocol, self._send = protocol, protocol.send
        self.touched: list[deque[_Sent]] = [deque(maxlen=LAST) for _ in protocol.nodes]
        self.by_content: dict[int, _Sent] = {}
        changed: Any = protocol
        changed.send = self.send
        for node in protocol.nodes:
            self.watch(node)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore `by_content` for the addresses of contents in a copy."""
        self.__dict__.update(state, by_content={id(sent.content): sent for sent in state["by_content"].values()})

    def watch(self, node: Node) -> None:
        """Compare contents after the handlers of a node that has just been made."""
        node.__class__ = _watched(type(node))  # type: ignore[arg-type]  # mypy: a class with slots has no hash
        self.touched[node.id].clear()

    def send(self, node: int, peer: int, content: Any, size_bytes: int, interface: int, topic: int) -> int:
        """Send a packet, and keep the fingerprint of its content."""
        packet = self._send(node, peer, content, size_bytes, interface, topic)
        content = inside(content)
        if not isinstance(content, PLAIN) and (found := _fingerprint(content)) is not None:
            sent = _Sent(packet, content, found, node, self.protocol.now_ps)
            self.touched[node].append(sent)
            self.by_content[id(content)] = sent
        return packet

    def received(self, node: Node, content: Any) -> _Sent | None:
        """Record that a node gets a content. Return the record of its sending, if there is one."""
        found = self.by_content.get(id(content))
        if found is not None and found not in self.touched[node.id]:
            self.touched[node.id].append(found)
        return found

    def look(self, node: Node, handler: Any, received: _Sent | None = None) -> None:
        """Raise ChangedContent if a content that the node sent or received has changed since it was sent."""
        if not self.touched[node.id]:
            return
        packets = self.protocol.packets_on_their_way()
        for sent in list(self.touched[node.id]):
            on_its_way = sent.packet in packets
            if not on_its_way and sent is not received:
                self.touched[node.id].remove(sent)
                continue
            if _fingerprint(sent.content) == sent.fingerprint:
                continue
            sender = self.protocol.nodes[sent.sender]
            if not on_its_way and (sender is node or not _attribute(sender, sent.content)):
                continue  # no other node has access to the content
            kept = _attribute(node, sent.content)
            raise ChangedContent(
                f"{_where(handler)} changed the content that node {sent.sender} sent at {seconds(sent.sent_ps)} s"
                f"{f' ({kept})' if kept else ''}: contents are not copied, so other nodes see the change, too; send a "
                f"copy, or change a copy of the received content (copy.deepcopy, list(...), dict(...))"
            )


@cache
def _watched(kind: Any) -> type[Node]:
    """Return a subclass with watched handlers.

    It has no attributes of its own, so the class of a node can be changed to it.
    """
    handlers = {
        name: _with_check(name, found)
        for name in HANDLERS
        if (found := getattr(kind, name)) is not vars(Node)[name] or (name == "on_packet" and handlers_of(kind))
    }
    named = {"__slots__": (), "__module__": kind.__module__, "__qualname__": kind.__qualname__, "__doc__": kind.__doc__}
    return type(kind.__name__, (kind,), {**named, **handlers})


def _with_check(name: str, handler: Callable[..., None]) -> Callable[..., None]:
    """Return the handler with a comparison of contents after it."""

    @wraps(handler)
    def check_after(node: Any, *arguments: Any) -> None:
        contents: Contents = node.runtime.contents
        received = contents.received(node, arguments[0]) if name in ("on_packet", "on_lost") else None
        handler(node, *arguments)
        acts = dispatched(node, arguments[0]) if handler is Node.on_packet else handler
        contents.look(node, acts, received)

    return check_after


def _where(handler: Any) -> str:
    code = getattr(handler, "__code__", None)
    if code is None:  # for example a functools.partial
        return shown(handler)
    return f"{handler.__qualname__} ({Path(code.co_filename).name}:{code.co_firstlineno})"


def _fingerprint(content: Any) -> Hashable:
    """Return a value that differs if the content has changed, or None if there is no such value."""
    from causeway.pycontrol.frozen import frozen  # imported here, since that package imports this one

    try:
        return hash(frozen(content))
    except (UserError, TypeError, AttributeError, RecursionError):
        return None


def _attribute(node: Node, content: Any) -> str:
    """Return the attribute in which a node keeps the content or a part of it, as `Class.attribute`."""
    parts = {id(part) for part in _parts(content, 3)}
    for name, value in vars(node).items():
        if name != "runtime" and any(id(part) in parts for part in _parts(value, 3)):
            return f"{type(node).__name__}.{name}"
    return ""


def _parts(value: Any, depth: int) -> Iterator[Any]:
    """Yield the mutable parts of a value, beginning with the value itself."""
    if isinstance(value, PLAIN) or callable(value):
        return
    if not isinstance(value, tuple | frozenset):
        yield value
    if depth:
        inner = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple | deque) else ()
        for one in (*inner, *getattr(value, "__dict__", {}).values()):
            yield from _parts(one, depth - 1)
