"""One process of a protocol: the handlers it may have, and what it can do in them."""

from __future__ import annotations

import difflib
from collections.abc import Hashable
from functools import cache, cached_property
from inspect import isasyncgenfunction, iscoroutinefunction, isgeneratorfunction
from random import Random
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, ClassVar, Self

from causeway.bridge.errors import UserError
from causeway.bridge.events import FOREVER, IGNORED
from causeway.pycontrol import given
from causeway.pycontrol.confined import acting, chance_of
from causeway.pycontrol.mistakes import Misuse
from causeway.pycontrol.protocol import DELIVER, JOINED, LEFT

if TYPE_CHECKING:
    from causeway.pycontrol.node import PerNode


class _NotYet:
    """Stands in for the protocol of a node that is being made."""

    acting = None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise Misuse(
            f"{name} is used in __init__, when the node takes part in no run yet; do it in on_start(self), which is "
            "called before the first event"
        )


NOT_YET: Any = _NotYet()


class Node:
    """One process. Subclass it; override the handlers you need."""

    host: PerNode
    not_state: ClassVar[frozenset[str]] = frozenset()
    """Attributes that only count and never decide anything: `causeway check` leaves them out of a node's state."""

    def __new__(cls, *_: Any, **__: Any) -> Self:
        node = super().__new__(cls)
        node.host = NOT_YET  # not a class attribute: that would slow down every look at `self.host`
        return node

    def __init__(self, id_: int = -1) -> None:
        self.id = id_

    # ---- handlers -------------------------------------------------------------------------------------------------
    def on_start(self) -> None:
        """Before the first event. Actions taken here take effect at the reaction time."""

    def on_broadcast(self, number: int, size_bytes: int) -> None:
        """The application wants to broadcast."""

    def on_packet(self, content: Any, sender: int, interface: int) -> None:
        """A packet arrived."""

    def on_timer(self, key: Hashable) -> None:
        """The timer set under this key is due."""
        if type(self).on_timer is Node.on_timer:
            name = type(self).__name__
            raise Misuse(
                f"a timer of {name} is due, and {name} has no on_timer(self, key); write one (an empty one, if the "
                "timer is only there for has_timer)"
            )

    def on_station(self, station: int, x_mm: int, y_mm: int) -> None:
        """This node moved; `station` is the nearest one in reach, -1 if none."""

    def on_lost(self, content: Any, interface: int) -> None:
        """The engine knows that this node did not get a packet. For counting only: a real node would not know."""

    def on_connection(self, kind: int, connection: int, arg: int) -> None:
        """Something happened to a TCP connection of this node: a Kind from CONNECTED to ENDED."""

    def on_down(self) -> None:
        """This node fails now. Its timers are gone."""

    def on_up(self) -> None:
        """This node recovers now."""

    # ---- services -------------------------------------------------------------------------------------------------
    @cached_property
    def rng(self) -> Random:
        """The node's own random generator: the same numbers for one seed, on every engine, whatever others draw."""
        if self.host is NOT_YET and acting.host is not None:  # in __init__
            return chance_of(acting.host.host.context.seed, acting.host.node, "rng")
        return chance_of(self.host.context.seed, self.id, "rng")

    @property
    def now_ps(self) -> int:
        """The time of the event being handled."""
        return self.host.now_ps

    def send(self, peer: int, content: Any, size_bytes: int, interface: int = 0, topic: int = 0) -> None:
        """Sends a packet to `peer` (or EVERYONE in reach). Its topic (1 to 15) is only for `patient`."""
        host = self.host
        if host.acting is not self:
            _check_turn(self, "send")
        host.send(self.id, peer, content, size_bytes, interface, topic)

    def patient(self, topic: int, patience_ps: int = FOREVER) -> None:
        """Promises that this node does nothing about packets of this topic (`deliver` is not doing) sooner than so long
        after their arrival. The simulator then need not stop for them: a run of many such packets is quicker, and its
        outcome is the same. 0 takes the promise back, but never because of a packet of that very topic."""
        host = self.host
        if host.acting is not self:
            _check_turn(self, "patient")
        host.patient(self.id, topic, patience_ps)

    def ignore(self, topic: int) -> None:
        """Promises, for good, that packets of this topic mean nothing to this node: it may be told of them or not."""
        host = self.host
        if host.acting is not self:
            _check_turn(self, "ignore")
        host.patient(self.id, topic, IGNORED)

    def set_timer(self, key: Hashable, delay_ps: int) -> None:
        """(Re)sets this node's timer `key` to be due `delay_ps` after the action takes effect."""
        host = self.host
        if host.acting is not self:
            _check_turn(self, "set_timer")
        host.set_timer(self.id, key, delay_ps)

    def cancel_timer(self, key: Hashable) -> None:
        """Cancels the timer; nothing happens if it is not set."""
        host = self.host
        if host.acting is not self:
            _check_turn(self, "cancel_timer")
        host.cancel_timer(self.id, key)

    def has_timer(self, key: Hashable) -> bool:
        """Whether the timer is set."""
        return (self.id, key) in self.host.timers

    def broadcast(self) -> int:
        """Tells the observers that this node broadcasts a new message; returns its id (dense, from 0)."""
        host = self.host
        if host.acting is not self:
            _check_turn(self, "broadcast")
        return host.broadcast(self.id)

    def deliver(self, message: int) -> None:
        """Tells the observers that this node delivers a message."""
        host = self.host
        if host.acting is not self:
            _check_turn(self, "deliver")
        host.note(DELIVER, self.id, message)

    def left(self) -> None:
        """Tells the observers that this node left for good and is owed nothing more."""
        host = self.host
        if host.acting is not self:
            _check_turn(self, "left")
        host.note(LEFT, self.id, -1)

    def joined(self) -> None:
        """Tells the observers that this node is owed what is broadcast from now on."""
        host = self.host
        if host.acting is not self:
            _check_turn(self, "joined")
        host.note(JOINED, self.id, -1)

    def switch(self, node: int, up: bool) -> None:
        """Fails a node, or lets it recover: for studies that choose whom to fail while they run."""
        host = self.host
        if host.acting is not self:
            _check_turn(self, "switch")
        host.switch(node, up)

    def move(self, x_mm: int, y_mm: int, speed_mm_s: int) -> None:
        """This host of a mobile network goes straight there and stays. It no longer walks, nor follows its trace."""
        host = self.host
        if host.acting is not self:
            _check_turn(self, "move")
        host.move(self.id, x_mm, y_mm, speed_mm_s)

    def call_begins(self, what: str, key: Hashable, value: Any = None) -> None:
        """For `causeway check`: the application calls `read`, `write` or `cas` here, one call at a time."""
        host = self.host
        if host.acting is not self:
            _check_turn(self, "call_begins")
        given.call_of(what)
        host.recorded("call", self.id, (what, key, value))

    def call_returns(self, result: Any = None) -> None:
        """For `causeway check`: the call has come to its end."""
        host = self.host
        if host.acting is not self:
            _check_turn(self, "call_returns")
        host.recorded("return", self.id, result)

    def record(self, name: str, value: float) -> None:
        """Adds a sample to this node's time series `name`."""
        host = self.host
        if host.acting is not self:
            _check_turn(self, "record")
        if type(value) is not float or type(name) is not str:
            value = given.sample(name, value)
        host.context.record(f"node[{self.id}]", name, host.now_ps, value)

    def stop(self) -> None:
        """Ends the run after this instant: nothing that happens later is seen."""
        self.host.stop = True
        self.host.drop_later()


HANDLERS = tuple(name for name in vars(Node) if name.startswith("on_"))
SERVICES = tuple(name for name in vars(Node) if not name.startswith(("on_", "_")) and name != "not_state")
CLOSE = 0.8
"""Names as close as this are taken for a slip of the pen."""


ELSEWHERE = {
    "on_packet": ("on_message", "on_msg", "on_receive", "on_received", "on_recv", "on_data"),
    "on_timer": ("on_timeout", "on_tick", "on_alarm"),
    "on_start": ("on_init", "on_setup", "on_begin"),
    "on_down": ("on_crash", "on_fail", "on_failure"),
    "on_up": ("on_recover", "on_recovery", "on_restart"),
}
"""Handlers, and how other frameworks name them."""
UNRUN = (
    (iscoroutinefunction, "a coroutine function (async def)", "; asyncio programs are run by Programs(main)"),
    (isgeneratorfunction, "a generator function (it has a yield)", ""),
    (isasyncgenfunction, "an asynchronous generator function", "; asyncio programs are run by Programs(main)"),
)


def _check_turn(node: Node, service: str) -> None:
    """Refuse a service that a node asks for while a handler of another one runs: it would act at no cost in time."""
    host = node.host
    if host is NOT_YET:
        getattr(NOT_YET, service)
    if acting.host is None or host.runs_job:  # code of the study: it may set up, sample and fail any node
        return
    who = f"node {host.acting.id}" if isinstance(host.acting, Node) else "another node"
    raise Misuse(
        f"node {node.id} acts ({service}) in a handler of {who}; a node acts in its own handlers only, on what arrives "
        "there: reach it with self.send"
    )


@cache
def check_handlers(kind: Any) -> None:
    """Refuse a class with a handler that would never run (of nearly the right name, a coroutine or a generator), and
    one that hides a service."""
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
            if name in SERVICES:
                raise UserError(
                    f"{base.__name__}.{name} hides Node.{name}, a service of every node; give it another name"
                )
            if name in inherited or name in named or not name.startswith("on") or not isinstance(value, FunctionType):
                continue
            if meant := _meant(name, defined):
                raise UserError(
                    f"{base.__name__}.{name} is never called: no handler has that name; did you mean {meant}? "
                    f"(If it is a method of your own, give it a name that does not begin with 'on')"
                )


def _check_runs(base: type, name: str, handler: Any) -> None:
    """Refuse a function whose call only makes an object: nothing of its body would happen, and nothing be told."""
    for is_kind, what, hint in UNRUN:
        if is_kind(handler):
            raise UserError(
                f"{base.__name__}.{name} is {what}, whose body never runs when the handler is called; "
                f"write a plain function, and go on later with self.set_timer{hint}"
            )


def _meant(name: str, defined: set[str]) -> str | None:
    """Return the handler that a method was meant to be, if any; `defined` are the names that the class has."""
    if near := difflib.get_close_matches(name, HANDLERS, 1, CLOSE):
        return near[0]
    return next((right for right, others in ELSEWHERE.items() if name in others and right not in defined), None)


def _names(code: CodeType) -> set[str]:
    """Return the names of attributes that a function uses, in the functions inside it too."""
    inner = [_names(const) for const in code.co_consts if isinstance(const, CodeType)]
    return set(code.co_names).union(*inner)
