"""`Node`, one process of a protocol: the handlers that it may define, and the services that it can call in them.

`check_handlers` refuses classes with handlers that would never run.
"""

from __future__ import annotations

import difflib
from collections.abc import Hashable
from functools import cache, cached_property
from inspect import isasyncgenfunction, iscoroutinefunction, isgeneratorfunction
from random import Random
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, ClassVar, Self

from causeway.bridge.events import FOREVER, IGNORED
from causeway.deprecated import warn
from causeway.errors import UserError
from causeway.pycontrol import arguments
from causeway.pycontrol.confined import acting, chance_of
from causeway.pycontrol.protocol import DELIVER, JOINED, LEFT
from causeway.pycontrol.protocol_errors import Misuse

if TYPE_CHECKING:
    from causeway.pycontrol.node import PerNode


class _NotYet:
    """The protocol of a node that is being made. It refuses all services."""

    acting = None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise Misuse(
            f"{name} is used in __init__, before the run starts; use it in on_start(self), which is "
            "called before the first event"
        )


NOT_YET: Any = _NotYet()


class Node:
    """One process of a protocol. Subclass it, and override the handlers that you need.

    A node acts by calling its services, in its own handlers only. Its state changes at once; sent packets and timers
    take effect one reaction time later.
    """

    host: PerNode
    not_state: ClassVar[frozenset[str]] = frozenset()
    """Names of attributes that do not influence the node's behaviour, such as counters. `causeway check` skips them."""

    def __new__(cls, *_: Any, **__: Any) -> Self:
        """Make a node without a protocol: subclasses need not call `super().__init__`."""
        node = super().__new__(cls)
        node.host = NOT_YET  # no class attribute, which would slow down every access to `self.host`
        return node

    def __init__(self, id_: int = -1) -> None:
        self.id = id_

    # ---- handlers -------------------------------------------------------------------------------------------------
    def on_start(self) -> None:
        """Start the node. It is called before the first event; actions take effect at the reaction time."""

    def on_broadcast(self, number: int, size_bytes: int) -> None:
        """Handle the application's wish to broadcast; `number` counts such wishes in the run."""

    def on_packet(self, content: Any, sender: int, interface: int) -> None:
        """Handle a packet that arrived. Its content is the object that was sent, so do not change it."""

    def on_timer(self, key: Hashable) -> None:
        """Handle the timer `key`, which is due."""
        if type(self).on_timer is Node.on_timer:
            name = type(self).__name__
            raise Misuse(
                f"a timer of {name} is due, and {name} has no on_timer(self, key); write one (an empty one, if the "
                "timer is only there for has_timer)"
            )

    def on_station(self, station: int, x_mm: int, y_mm: int) -> None:
        """Handle a report of this host's position. `station` is the nearest station in reach, or -1."""

    def on_lost(self, content: Any, interface: int) -> None:
        """Count a packet that this node did not get. Do not act on it: only the engine knows of the loss."""

    def on_connection(self, kind: int, connection: int, arg: int) -> None:
        """Handle an event of a TCP connection of this node: a Kind from CONNECTED to ENDED."""

    def on_down(self) -> None:
        """Handle the failure of this node. Its timers are cancelled."""

    def on_up(self) -> None:
        """Handle the recovery of this node."""

    # ---- services -------------------------------------------------------------------------------------------------
    @cached_property
    def rng(self) -> Random:
        """The node's own random generator. Its numbers depend on the seed and the node only."""
        if self.host is NOT_YET and acting.host is not None:  # in __init__
            return chance_of(acting.host.host.context.seed, acting.host.node, "rng")
        return chance_of(self.host.context.seed, self.id, "rng")

    @property
    def now_ps(self) -> int:
        """The time of the event being handled."""
        return self.host.now_ps

    def send(self, peer: int, content: Any, size_bytes: int, interface: int = 0, topic: int = 0) -> None:
        """Send a packet.

        Args:
            peer: The receiving node, or EVERYONE in reach.
            content: Any object. It is not copied; do not change it after sending.
            size_bytes: The size of the packet, without headers.
            interface: WIRELESS (0) or another interface of the network.
            topic: 1 to 15 for packets with a lookahead (`declare_lookahead`), otherwise 0.
        """
        host = self.host
        if host.acting is not self:
            check_turn(self, "send")
        host.send(self.id, peer, content, size_bytes, interface, topic)

    def declare_lookahead(self, topic: int, lookahead_ps: int = FOREVER) -> None:
        """Declare the lookahead of a topic: this node does not act because of such packets within this time.

        The simulator then need not stop for them, so that a run with many such packets is faster. The outcome is the
        same; an action that is too soon is an error. `deliver` is no action. The declaration can be changed, and ended
        with 0, but not while a packet of the same topic is handled.
        """
        host = self.host
        if host.acting is not self:
            check_turn(self, "declare_lookahead")
        host.declare_lookahead(self.id, topic, lookahead_ps)

    def unsubscribe(self, topic: int) -> None:
        """Declare, for the rest of the run, that this node ignores packets of a topic. It may or may not get them."""
        host = self.host
        if host.acting is not self:
            check_turn(self, "ignore")
        host.declare_lookahead(self.id, topic, IGNORED)

    def patient(self, topic: int, patience_ps: int = FOREVER) -> None:
        """Declare lookahead; the former name of `declare_lookahead`."""
        warn("Node.patient", "declare_lookahead")
        self.declare_lookahead(topic, patience_ps)

    def ignore(self, topic: int) -> None:
        """Unsubscribe; the former name of `unsubscribe`."""
        warn("Node.ignore", "unsubscribe")
        self.unsubscribe(topic)

    def set_timer(self, key: Hashable, delay_ps: int) -> None:
        """Set the timer `key` to be due `delay_ps` after one reaction time. A timer under the same key is cancelled."""
        host = self.host
        if host.acting is not self:
            check_turn(self, "set_timer")
        host.set_timer(self.id, key, delay_ps)

    def cancel_timer(self, key: Hashable) -> None:
        """Cancel the timer `key`, if it is set."""
        host = self.host
        if host.acting is not self:
            check_turn(self, "cancel_timer")
        host.cancel_timer(self.id, key)

    def has_timer(self, key: Hashable) -> bool:
        """Return whether the timer `key` is set."""
        return (self.id, key) in self.host.timers

    def broadcast(self) -> int:
        """Report to the observers that this node broadcasts a new message, and return the message's id.

        Ids are 0, 1, 2, ... in the order of broadcasts in the run. It sends no packet.
        """
        host = self.host
        if host.acting is not self:
            check_turn(self, "broadcast")
        return host.broadcast(self.id)

    def deliver(self, message: int) -> None:
        """Report to the observers that this node delivers a message."""
        host = self.host
        if host.acting is not self:
            check_turn(self, "deliver")
        host.note(DELIVER, self.id, message)

    def left(self) -> None:
        """Report to the observers that this node left. It need not deliver any further messages; its past ends here."""
        host = self.host
        if host.acting is not self:
            check_turn(self, "left")
        host.note(LEFT, self.id, -1)

    def joined(self) -> None:
        """Report to the observers that this node joined: it must deliver all messages broadcast from now on."""
        host = self.host
        if host.acting is not self:
            check_turn(self, "joined")
        host.note(JOINED, self.id, -1)

    def switch(self, node: int, up: bool) -> None:
        """Fail any node, or let it recover, for studies that decide on failures during the run."""
        host = self.host
        if host.acting is not self:
            check_turn(self, "switch")
        host.switch(node, up)

    def move(self, x_mm: int, y_mm: int, speed_mm_s: int) -> None:
        """Move this host of a mobile network in a straight line to a position, where it stays.

        It replaces the host's mobility model or trace for the rest of the run.
        """
        host = self.host
        if host.acting is not self:
            check_turn(self, "move")
        host.move(self.id, x_mm, y_mm, speed_mm_s)

    def call_begins(self, what: str, key: Hashable, value: Any = None) -> None:
        """Record that the application begins a call, for `causeway check`. A node has one call at a time.

        Args:
            what: `read`, `write` or `cas` (compare and swap).
            key: The key of the register.
            value: The value to write, or (expected, new) of `cas`.
        """
        host = self.host
        if host.acting is not self:
            check_turn(self, "call_begins")
        arguments.call_of(what)
        host.recorded("call", self.id, (what, key, value))

    def call_returns(self, result: Any = None) -> None:
        """Record that the call returns, with the value read or the success of `cas`, for `causeway check`."""
        host = self.host
        if host.acting is not self:
            check_turn(self, "call_returns")
        host.recorded("return", self.id, result)

    def record(self, name: str, value: float) -> None:
        """Add a sample to this node's time series `name`."""
        host = self.host
        if host.acting is not self:
            check_turn(self, "record")
        if type(value) is not float or type(name) is not str:
            value = arguments.sample(name, value)
        host.context.record(f"node[{self.id}]", name, host.now_ps, value)

    def stop(self) -> None:
        """End the run after the current instant. Later events are dropped."""
        self.host.stop = True
        self.host.drop_later()


HANDLERS = tuple(name for name in vars(Node) if name.startswith("on_"))
SERVICES = tuple(name for name in vars(Node) if not name.startswith(("on_", "_")) and name != "not_state")
CLOSE = 0.8
"""The similarity (of `difflib`) from which a method's name is taken for a misspelled handler."""


ELSEWHERE = {
    "on_packet": ("on_message", "on_msg", "on_receive", "on_received", "on_recv", "on_data"),
    "on_timer": ("on_timeout", "on_tick", "on_alarm"),
    "on_start": ("on_init", "on_setup", "on_begin"),
    "on_down": ("on_crash", "on_fail", "on_failure"),
    "on_up": ("on_recover", "on_recovery", "on_restart"),
}
"""Handlers, and their names in other frameworks."""
UNRUN = (
    (iscoroutinefunction, "a coroutine function (async def)", "; asyncio programs are run by Programs(main)"),
    (isgeneratorfunction, "a generator function (it has a yield)", ""),
    (isasyncgenfunction, "an asynchronous generator function", "; asyncio programs are run by Programs(main)"),
)


def check_turn(node: Node, service: str) -> None:
    """Refuse a service that a node calls in a handler of another node: the two would communicate without a packet."""
    host = node.host
    if host is NOT_YET:
        getattr(NOT_YET, service)
    if acting.host is None or host.runs_job:  # the study's own code may set up, sample and fail any node
        return
    if isinstance(host.acting, Node) and host.same_machine(host.acting.id, node.id):
        return
    who = f"node {host.acting.id}" if isinstance(host.acting, Node) else "another node"
    raise Misuse(
        f"node {node.id} acts ({service}) in a handler of {who}; a node acts in its own handlers only: send it a "
        "packet with self.send, or override same_machine of the PerNode"
    )


@cache
def check_handlers(kind: Any) -> None:
    """Refuse a class with a handler that would never run, or with an attribute that hides a service.

    Raises:
        UserError: A method has nearly the name of a handler, a handler is a coroutine or a generator, or a service is
            hidden by one that does not call `super()`.
    """
    inherited = {name for base in kind.__mro__ if base.__module__.startswith("causeway.") for name in vars(base)}
    own = [base for base in kind.__mro__ if not base.__module__.startswith("causeway.")]
    named: set[str] = set()
    defined: set[str] = set()
    for base in own:
        defined.update(vars(base))
        for value in vars(base).values():
            if isinstance(value, FunctionType):
                named |= _names(value.__code__)
    for base in own:
        for name, value in vars(base).items():
            if name in HANDLERS:
                _check_runs(base, name, value)
            if name in SERVICES and not _calls_super(value):
                raise UserError(
                    f"{base.__name__}.{name} hides Node.{name}, a service of every node; give it another name, or "
                    "call super()"
                )
            if name in inherited or name in named or not name.startswith("on") or not isinstance(value, FunctionType):
                continue
            if meant := _meant(name, defined):
                raise UserError(
                    f"{base.__name__}.{name} is never called: no handler has that name; did you mean {meant}? "
                    f"(If it is a method of your own, give it a name that does not begin with 'on')"
                )


def _calls_super(value: Any) -> bool:
    """Return whether a method extends the one of its base class, by `super()`."""
    return isinstance(value, FunctionType) and "__class__" in value.__code__.co_freevars


def _check_runs(base: type, name: str, handler: Any) -> None:
    """Refuse a handler whose call only makes an object, so that its body would never run."""
    for is_kind, what, hint in UNRUN:
        if is_kind(handler):
            raise UserError(
                f"{base.__name__}.{name} is {what}, whose body never runs when the handler is called; "
                f"write a plain function, and go on later with self.set_timer{hint}"
            )


def _meant(name: str, defined: set[str]) -> str | None:
    """Return the handler that a method was probably meant to be, or None. `defined` are the names in the class."""
    if near := difflib.get_close_matches(name, HANDLERS, 1, CLOSE):
        return near[0]
    return next((right for right, others in ELSEWHERE.items() if name in others and right not in defined), None)


def _names(code: CodeType) -> set[str]:
    """Return the names of attributes that a function and the functions in it use."""
    inner = [_names(const) for const in code.co_consts if isinstance(const, CodeType)]
    return set(code.co_names).union(*inner)
