"""Messages about a wrong event or action: the values of the row, and the allowed values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from causeway.bridge.events import Act, Kind
from causeway.bridge.validation import first_broken, rules_of_action
from causeway.bridge.validation_kernel import ENDINGS

MOST_BYTES = (1 << 31) - 1


class Event(NamedTuple):
    """A row of a window."""

    kind: int
    time_ps: int
    node: int
    ref: int
    arg: int


class Action(NamedTuple):
    """A row of an answer."""

    kind: int
    time_ps: int
    node: int
    ref: int
    peer: int
    size_bytes: int
    interface: int
    topic: int


class Limits(NamedTuple):
    """The limits for an event. Times of a window are in [begin_ps, end_ps)."""

    nodes: int
    stations: int
    interfaces: int
    begin_ps: int
    end_ps: int
    first_broadcast: int = 0
    most_broadcasts: int = 0
    broadcasts: int = 0
    connections: int = 0
    owner: int = -1
    """The node for which the packet is, or which set the timer; -1 if it is unknown."""


def event(e: Event) -> str:
    """Describe an event."""
    return f"{_name(Kind, e.kind)} at {e.time_ps} ps, node {e.node}, ref {e.ref}, arg {e.arg}"


def action(a: Action) -> str:
    """Describe an action."""
    return (
        f"{_name(Act, a.kind)} at {a.time_ps} ps, node {a.node}, ref {a.ref}, peer {a.peer}, {a.size_bytes} bytes, "
        f"interface {a.interface}, topic {a.topic}"
    )


def _name(kinds: type[Kind] | type[Act], kind: int) -> str:
    return kinds(kind).name if kind in kinds._value2member_map_ else f"kind {kind}"


def wrong_event(e: Event, before: Event | None, limits: Limits, known: Mapping[Kind, Callable[[], bool]]) -> str:
    """Return the reason why an event may not be in its window.

    Args:
        e: The event.
        before: The event in the previous row.
        limits: The limits of the run and of the window.
        known: For kinds with a packet or timer, a function that returns whether its id exists.
    """
    if e.kind not in Kind._value2member_map_:
        return f"kind {e.kind} is unknown; allowed: {_names(Kind)}"
    least = -1 if e.kind == Kind.LOST else 0
    if not least <= e.node < limits.nodes:
        return f"there is no node {e.node}; allowed: {least} to {limits.nodes - 1}"
    if not limits.begin_ps <= e.time_ps < limits.end_ps:
        return (
            f"{e.time_ps} ps is outside the window; allowed: {limits.begin_ps} ps, where the one before it ended, to "
            f"{limits.end_ps - 1} ps"
        )
    if before is not None and _key(e) < _key(before):
        return f"it comes after ({event(before)}); allowed: in order of time, kind, node and ref"
    kind = Kind(e.kind)
    if kind in (Kind.ARRIVAL, Kind.LOST) and not 0 <= e.arg < limits.interfaces:
        return f"there is no interface {e.arg}; allowed: 0 to {limits.interfaces - 1}"
    if kind is Kind.STATION:
        return f"there is no station {e.arg}; allowed: -1 (none) to {limits.stations - 1}"
    if kind is Kind.NODE:
        return f"{e.arg} is neither up nor down; allowed: 1 (up) or 0 (down)"
    if kind is Kind.BROADCAST:
        return _wrong_broadcast(e, limits)
    if Kind.CONNECTED <= kind <= Kind.ENDED:
        if not 0 <= e.ref < limits.connections:
            return f"the controller never opened connection {e.ref}; allowed: ids that it opened"
        most = ENDINGS - 1 if kind is Kind.ENDED else MOST_BYTES
        return f"{e.arg} is no {'Ending' if kind is Kind.ENDED else 'number of bytes'}; allowed: 0 to {most}"
    thing = "timer" if kind is Kind.TIMER else "packet"
    made = "set" if kind is Kind.TIMER else "sent"
    if known[kind]():
        assert limits.owner not in (-1, e.node), "the kernel and these messages disagree"
        by = "was sent to" if kind is Kind.ARRIVAL else "was set by"
        return f"{thing} {e.ref} {by} node {limits.owner}; allowed: node {limits.owner}"
    return f"the controller never {made} {thing} {e.ref}; allowed: ids that it {made}"


def _wrong_broadcast(e: Event, limits: Limits) -> str:
    if e.arg < 0:
        return f"a broadcast of {e.arg} bytes; allowed: 0 to {MOST_BYTES}"
    if e.ref >= limits.most_broadcasts:
        return f"the workload has no broadcast {e.ref}; allowed: up to {limits.most_broadcasts - 1}"
    if e.ref < limits.first_broadcast:
        return f"broadcast {e.ref} comes too late or a second time; allowed: {limits.first_broadcast} and up"
    return f"broadcast {e.ref} comes a second time; allowed: each number once"


def _key(e: Event) -> tuple[int, int, int, int]:
    return e.time_ps, e.kind, e.node, e.ref


def wrong_action(a: Action, limits: Mapping[str, int]) -> str:
    """Return the reason why an action cannot be carried out."""
    if a.kind not in Act._value2member_map_:
        return f"kind {a.kind} is unknown; allowed: {_names(Act)}"
    held = {**limits, **a._asdict()}
    broken = first_broken(rules_of_action(a.kind), held)
    return broken.words(held) if broken else f"the controller never set timer {a.ref}; allowed: ids that it set"


def _names(kinds: type[Kind] | type[Act]) -> str:
    return ", ".join(f"{int(kind)} {kind.name}" for kind in kinds)
