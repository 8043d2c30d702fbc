"""What nodes give to the services: called only for what is not plainly right, so that what is costs next to nothing.

Whole numbers of other types (numpy's) become plain ones; everything else is a mistake, told with what is allowed.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from causeway.bridge.border_words import MOST_BYTES
from causeway.bridge.events import FOREVER, IGNORED, TOPICS, Act, Kind, unpack_position
from causeway.bridge.validation import INTERFACES, LATEST_PS, bounds
from causeway.pycontrol.mistakes import call, misuse

CALLS = ("read", "write", "cas")
"""What an application can do with a register (`causeway.pycontrol.check.linear`)."""


def whole(service: str, name: str, value: Any, least: int, most: int, note: str = "") -> int:
    """Return the value as a plain whole number of that range. True and False are none."""
    try:
        number = least - 1 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = least - 1
    if not least <= number <= most:
        raise misuse(service, name, value, f"a whole number, {least} to {most}{note}")
    return number


def packet(peer: Any, size_bytes: Any, interface: Any, topic: Any, nodes: int) -> tuple[int, int, int, int]:
    """What `send` takes besides the content."""
    return (
        whole("send", "peer", peer, *bounds(Act.SEND, "peer", nodes=nodes), " (EVERYONE is -1)"),
        whole("send", "size_bytes", size_bytes, *bounds(Act.SEND, "size_bytes")),
        whole("send", "interface", interface, *bounds(Act.SEND, "interface", interfaces=INTERFACES)),
        whole("send", "topic", topic, *bounds(Act.SEND, "topic"), " (a packet can have topic 1 to 15, or 0 for none)"),
    )


def patience(topic: Any, patience_ps: Any) -> tuple[int, int]:
    """What `patient` takes."""
    if type(patience_ps) is bool or patience_ps != IGNORED:
        patience_ps = whole("patient", "patience_ps", patience_ps, 0, FOREVER, " picoseconds")
    return whole("patient", "topic", topic, 1, TOPICS - 1), patience_ps


def delay(delay_ps: Any, from_ps: int) -> int:
    """What `set_timer` takes besides the key; what is due then must still be a time."""
    return whole("set_timer", "delay_ps", delay_ps, 0, LATEST_PS - from_ps, " picoseconds")


def node(service: str, node: Any, nodes: int) -> int:
    """Whom `switch` takes, and who acts: a node may have changed its `id`."""
    return whole(service, "node", node, *bounds(Act.NODE, "node", nodes=nodes))


def up(up: Any) -> bool:
    """What `switch` takes besides the node."""
    if not isinstance(up, bool | np.bool_) and not (isinstance(up, int | np.integer) and up in (0, 1)):
        raise misuse("switch", "up", up, "True or False")
    return bool(up)


def call_of(what: Any) -> None:
    """Refuse a call that no register has."""
    if what not in CALLS:
        raise misuse("call_begins", "what", what, f"{', '.join(map(repr, CALLS[:-1]))} or {CALLS[-1]!r}")


def way(x_mm: Any, y_mm: Any, speed_mm_s: Any) -> tuple[int, int, int]:
    """What `move` takes."""
    return (
        whole("move", "x_mm", x_mm, -MOST_BYTES, MOST_BYTES, " millimetres"),
        whole("move", "y_mm", y_mm, -MOST_BYTES, MOST_BYTES, " millimetres"),
        whole("move", "speed_mm_s", speed_mm_s, *bounds(Act.MOVE, "size_bytes"), " millimetres a second"),
    )


def message(message: Any, messages: int) -> int:
    """What `deliver` takes."""
    if messages == 0:
        raise misuse("deliver", "message", message, "nothing, as nobody has called broadcast() yet")
    return whole("deliver", "message", message, 0, messages - 1, ", what broadcast() has returned so far")


def sample(name: Any, value: Any) -> float:
    """What `record` takes."""
    if not isinstance(name, str):
        raise misuse("record", "name", name, "a text")
    try:
        return number(value)
    except (TypeError, ValueError, OverflowError):
        raise misuse("record", "value", value, "a number") from None


def number(value: Any) -> float:
    """Return a number as a float; what Python would read as one (a text, a truth) is refused with a TypeError."""
    if isinstance(value, str | bytes | bytearray | bool | np.bool_):
        raise TypeError
    return float(value)


def handler(kind: int, ref: int, arg: int, key: Any) -> str:
    """Which handler an event calls, and with what."""
    if kind == Kind.TIMER:
        return call("on_timer", key=key)
    if kind == Kind.BROADCAST:
        return call("on_broadcast", number=ref, size_bytes=arg)
    if kind == Kind.STATION:
        x_mm, y_mm = unpack_position(ref)
        return call("on_station", station=arg, x_mm=x_mm, y_mm=y_mm)
    if kind == Kind.LOST:
        return call("on_lost", interface=arg)
    if kind >= Kind.CONNECTED:
        return call("on_connection", kind=Kind(kind).name, connection=ref, arg=arg)
    return "on_up()" if arg else "on_down()"
