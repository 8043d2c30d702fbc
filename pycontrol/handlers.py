"""`Node`, one process of a protocol: the handlers that it may define, and the services that it can call in them.

Its services are in `services.py`, `node_timers.py` and `node_requests.py`. `check_handlers` refuses classes with
handlers that would never run.
"""

from __future__ import annotations

import difflib
from collections.abc import Hashable, Sequence
from functools import cache
from inspect import isasyncgenfunction, iscoroutinefunction, isgeneratorfunction
from types import CodeType, FunctionType
from typing import Any, ClassVar

from causeway.errors import UserError
from causeway.pycontrol.dispatch import check_class, dispatched, handlers_of
from causeway.pycontrol.node_requests import Requests
from causeway.pycontrol.node_timers import Timers
from causeway.pycontrol.protocol_errors import Misuse, shown
from causeway.pycontrol.services import Services, check_id


class Node(Requests):
    """One process of a protocol. Subclass it, and override the handlers that you need.

    A node acts by calling its services, and only in its own handlers. Its state changes at once; sent packets and
    timers take effect one reaction time later. Causeway passes no arguments to `__init__`, so a dataclass with defaults
    is possible. In `__init__`, only `id`, `node_count`, `nodes`, `peers`, `rng` and `log` can be used.
    """

    not_state: ClassVar[frozenset[str]] = frozenset()
    """Names of attributes that do not influence the node's behaviour, such as counters. `causeway check` skips them."""

    def __init_subclass__(cls, **more: Any) -> None:
        """Refuse a class with two handlers for one type of contents."""
        super().__init_subclass__(**more)
        check_class(cls)

    # ---- handlers -------------------------------------------------------------------------------------------------
    def on_start(self) -> None:
        """Start the node. It is called before the first event; actions take effect at the reaction time."""

    def on_broadcast(self, number: int, size_bytes: int, /) -> None:
        """Handle a broadcast that the application requests. `number` counts these requests in the run."""

    def on_packet(self, content: Any, sender: int, interface: int, /) -> None:
        """Handle a packet that has arrived. Its content is the object that was sent, so do not change it.

        By default, it calls the method that `@handles` has registered for the type of the content, if there are such
        methods.
        """
        handler = dispatched(self, content)
        if handler is not None:
            handler(content, sender)

    def on_timer(self, key: Hashable, /) -> None:
        """Handle the timer `key`, which is due."""
        if type(self).on_timer is Node.on_timer:
            name = type(self).__name__
            raise Misuse(
                f"a timer of {name} is due, but {name} has no on_timer(self, key); add one (an empty one, if only "
                f"has_timer uses the timer)"
            )

    def on_station(self, station: int, x_mm: int, y_mm: int, /) -> None:
        """Handle a report of this host's position. `station` is the nearest station in reach, or -1.

        An override may have another argument, `z_mm: int = 0`, which is the height.
        """

    def on_lost(self, content: Any, interface: int, /) -> None:
        """Count a packet that this node did not receive.

        Do not react to it, since only the engine knows of the loss.
        """

    def on_connection(self, kind: int, connection: int, arg: int, /) -> None:
        """Handle an event of a TCP connection of this node: a Kind from CONNECTED to ENDED."""

    def on_down(self) -> None:
        """Handle the failure of this node. Its timers are cancelled."""

    def on_up(self) -> None:
        """Handle the recovery of this node."""

    def on_finish(self) -> None:
        """Handle the end of the run. It is called once for every node, also if the node is down, unless the run failed.

        The node can `record` and log, but it cannot act any more.
        """


HANDLERS = tuple(name for name in vars(Node) if name.startswith("on_"))
MAY_HIDE = {"host", "log", "node_count", "nodes", "now", "peers"}
"""Properties that a class or a node may hide by an attribute of its own."""
SERVICES = frozenset(
    name
    for base in (Services, Timers, Requests)
    for name in vars(base)
    if not name.startswith(("on_", "__")) and name not in MAY_HIDE
)
"""The services, properties and internal methods of a node. A class cannot use their names for anything else."""
HIDEABLE = SERVICES - {"id", "rng", "runtime"}
"""The names that an attribute of a node can hide."""
NOT_ASSIGNED = frozenset(
    name for name in HIDEABLE if name.startswith("_") or not isinstance(getattr(Node, name), FunctionType)
)
"""The names that an attribute of a node cannot have, since nobody would notice that it hides a property or an internal
method. An attribute may have the name of a service that its node does not call; a call of it then fails."""
CLOSE = 0.8
"""The similarity (of `difflib`) from which a method's name counts as a misspelled handler."""


ELSEWHERE = {
    "on_packet": ("on_message", "on_msg", "on_receive", "on_received", "on_recv", "on_data"),
    "on_timer": ("on_timeout", "on_tick", "on_alarm"),
    "on_start": ("on_init", "on_setup", "on_begin"),
    "on_down": ("on_crash", "on_fail", "on_failure"),
    "on_up": ("on_recover", "on_recovery", "on_restart"),
}
"""Names of handlers in other frameworks, with the handlers of Causeway that correspond to them."""
BODY_NOT_RUN = (
    (iscoroutinefunction, "a coroutine function (async def)", "; asyncio programs are run by Programs(main)"),
    (isgeneratorfunction, "a generator function (it has a yield)", ""),
    (isasyncgenfunction, "an asynchronous generator function", "; asyncio programs are run by Programs(main)"),
)


@cache
def check_handlers(kind: Any) -> None:
    """Refuse a class with a handler that would never run, or with an attribute that hides a service.

    Raises:
        UserError: A method has nearly the name of a handler, a handler is a coroutine or a generator, or a method hides
            a service without calling `super()`.
    """
    inherited = {name for base in kind.__mro__ if base.__module__.startswith("causeway.") for name in vars(base)}
    own = [base for base in kind.__mro__ if not base.__module__.startswith("causeway.")]
    by_type = set(handlers_of(kind).values())
    named: set[str] = set()
    defined: set[str] = set()
    for base in own:
        defined.update(vars(base))
        for value in vars(base).values():
            if isinstance(value, FunctionType):
                named |= names_in(value.__code__)
    for base in own:
        for name, value in vars(base).items():
            if name in HANDLERS or name in by_type:
                _check_runs(base, name, value)
            if name in SERVICES and not _calls_super(value):
                raise UserError(
                    f"{base.__name__}.{name} hides Node.{name}, {kind_of(name)}; give it another name, or call super()"
                )
            known = name in inherited or name in named or name in by_type
            if known or not name.startswith("on") or not isinstance(value, FunctionType):
                continue
            if meant := _intended_handler(name, defined):
                raise UserError(
                    f"{base.__name__}.{name} is never called: no handler has this name; did you mean {meant}? (A "
                    f"method of your own needs a name that does not begin with 'on')"
                )
    _check_dispatch(kind, own)


def kind_of(name: str) -> str:
    """Describe what a node has under a name."""
    return "an internal method" if name.startswith("_") else "a service of every node"


def check_attributes(node: Node, names: frozenset[str] = NOT_ASSIGNED) -> None:
    """Refuse an attribute of a node that has one of these names, as `self.battery = 5` does.

    Raises:
        Misuse: There is such an attribute.
    """
    if names.isdisjoint(vars(node)):
        return
    name = next(name for name in vars(node) if name in names)
    raise Misuse(
        f"self.{name} = {shown(vars(node)[name])} hides Node.{name}, {kind_of(name)}; give the attribute another name"
    )


def check_names(nodes: Sequence[Node], id_: int, names: frozenset[str] = NOT_ASSIGNED) -> None:
    """Refuse a node that has changed its own id, or that has an attribute with one of these names."""
    check_id(nodes, id_)
    if id_ < len(nodes):
        check_attributes(nodes[id_], names)


def _check_dispatch(kind: Any, own: list[type]) -> None:
    """Refuse a class that has handlers by type and an on_packet that does not call them."""
    table = handlers_of(kind)
    for base in own if table else ():
        if "on_packet" in vars(base) and not _calls_super(vars(base)["on_packet"]):
            by_type = next(iter(table.values()))
            raise UserError(
                f"{base.__name__}.on_packet prevents calls of {kind.__name__}.{by_type}, a handler by type "
                f"(@handles); remove on_packet, or call super().on_packet(content, sender, interface) in it"
            )


def _calls_super(value: Any) -> bool:
    """Return whether a method extends that of its base class by `super()`."""
    return isinstance(value, FunctionType) and "__class__" in value.__code__.co_freevars


def _check_runs(base: type, name: str, handler: Any) -> None:
    """Refuse a handler that is a generator or coroutine function, since a call would not execute its body."""
    for is_kind, what, hint in BODY_NOT_RUN:
        if is_kind(handler):
            raise UserError(
                f"{base.__name__}.{name} is {what}, whose body is not executed by a call; write a plain function, and "
                f"continue later with self.set_timer{hint}"
            )


def _intended_handler(name: str, defined: set[str]) -> str | None:
    """Return the handler that a method was probably meant to be, or None. `defined` are the names in the class."""
    if near := difflib.get_close_matches(name, HANDLERS, 1, CLOSE):
        return near[0]
    return next((right for right, others in ELSEWHERE.items() if name in others and right not in defined), None)


def names_in(code: CodeType) -> set[str]:
    """Return the names of attributes that a function and the functions in it use."""
    inner = [names_in(const) for const in code.co_consts if isinstance(const, CodeType)]
    return set(code.co_names).union(*inner)
