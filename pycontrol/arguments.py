"""Validate the arguments of a node's services.

`PerNode` calls these functions only if an argument is not obviously valid, so that valid calls cost little. Integers of
other types, such as numpy's, are converted. Any other value raises `Misuse`, which names the allowed values.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from causeway.bridge.events import BROADCAST_PEER, FOREVER, IGNORED, TOPICS, Act, Kind, unpack_position
from causeway.bridge.validation import INTERFACES, LATEST_PS, bounds
from causeway.bridge.validation_messages import MOST_BYTES
from causeway.network.networks import AbstractNetwork, InetNetwork, MobileNetwork, Network
from causeway.pycontrol.protocol_errors import Misuse, call, misuse

CALLS = ("read", "write", "cas")
"""The calls on a register (`causeway.explore.linearizability`)."""


def whole(service: str, name: str, value: Any, least: int, most: int, note: str = "") -> int:
    """Return a value as an int, and check its range. Booleans are refused."""
    try:
        number = least - 1 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = least - 1
    if not least <= number <= most:
        raise misuse(service, name, value, f"a whole number, {least} to {most}{note}")
    return number


def least_bytes(network: Network | None) -> int:
    """Return the size of the smallest packet: UDP and TCP of the simulators have none of 0 bytes."""
    return int(isinstance(network, MobileNetwork | InetNetwork))


def packet(
    peer: Any, size_bytes: Any, interface: Any, topic: Any, nodes: int, node: int = 0, network: Network | None = None
) -> tuple[int, int, int, int]:
    """Validate the arguments of `send` other than the content."""
    if isinstance(network, MobileNetwork) and peer == node:
        raise misuse("send", "peer", peer, "another node: on a mobile network no packet goes to its own sender")
    most = bounds(Act.SEND, "size_bytes")[1]
    if type(peer) is not int or peer != BROADCAST_PEER:
        peer = whole("send", "peer", peer, 0, nodes - 1, ", or EVERYONE")
    return (
        peer,
        whole("send", "size_bytes", size_bytes, least_bytes(network), most),
        whole("send", "interface", interface, *bounds(Act.SEND, "interface", interfaces=INTERFACES)),
        whole("send", "topic", topic, *bounds(Act.SEND, "topic"), " (a packet can have topic 1 to 15, or 0 for none)"),
    )


def receiver(service: str, peer: Any) -> None:
    """Refuse -1, which is the number of EVERYONE on its way to the engine."""
    if isinstance(peer, int | np.integer) and peer == BROADCAST_PEER:
        raise misuse(service, "peer", peer, "a node id, 0 and up (is it `self.id - 1`?); only cw.EVERYONE sends to all")


def lookahead(topic: Any, lookahead_ps: Any) -> tuple[int, int]:
    """Validate a topic and its lookahead."""
    if type(lookahead_ps) is bool or lookahead_ps != IGNORED:
        lookahead_ps = lookahead_of(lookahead_ps)
    return whole("declare_lookahead", "topic", topic, 1, TOPICS - 1), lookahead_ps


def lookahead_of(lookahead_ps: Any) -> int:
    """Validate a lookahead."""
    return whole("declare_lookahead", "lookahead_ps", lookahead_ps, 0, FOREVER, " picoseconds")


def delay(delay_ps: Any, from_ps: int, service: str = "set_timer", name: str = "delay_ps") -> int:
    """Validate a timer's delay. The time at which it is due must not exceed the largest one."""
    note = " picoseconds"
    if isinstance(delay_ps, float):
        note += ", as seconds(0.3) or ms(300) return them"
    return whole(service, name, delay_ps, 0, LATEST_PS - from_ps, note)


def node(service: str, node: Any, nodes: int) -> int:
    """Validate a node id: an argument of `crash`, or the caller's own, since a node may have changed its `id`."""
    return whole(service, "node", node, *bounds(Act.NODE, "node", nodes=nodes))


def up(up: Any) -> bool:
    """Validate the state that `switch` sets."""
    if not isinstance(up, bool | np.bool_) and not (isinstance(up, int | np.integer) and up in (0, 1)):
        raise misuse("switch", "up", up, "True or False")
    return bool(up)


def call_of(what: Any) -> None:
    """Validate the kind of a call on a register."""
    if what not in CALLS:
        raise misuse("call_begins", "what", what, f"{', '.join(map(repr, CALLS[:-1]))} or {CALLS[-1]!r}")


def way(network: Network | None, x_mm: Any, y_mm: Any, z_mm: Any, speed_mm_s: Any) -> tuple[int, int, int, int]:
    """Validate a move: the network, the position and the speed."""
    if isinstance(network, AbstractNetwork) or (isinstance(network, InetNetwork) and network.movement is None):
        raise Misuse(f"move: only hosts of a MobileNetwork can move, not nodes of an {type(network).__name__}")
    return (
        whole("move", "x_mm", x_mm, -MOST_BYTES, MOST_BYTES, " millimetres"),
        whole("move", "y_mm", y_mm, -MOST_BYTES, MOST_BYTES, " millimetres"),
        whole("move", "z_mm", z_mm, -MOST_BYTES, MOST_BYTES, " millimetres"),
        whole("move", "speed_mm_s", speed_mm_s, *bounds(Act.MOVE, "size_bytes"), " millimetres a second"),
    )


def message(message: Any, messages: int) -> int:
    """Validate a message id: it must have been broadcast."""
    if messages == 0:
        raise misuse("deliver", "message", message, "none, since no node has called new_message() yet")
    return whole("deliver", "message", message, 0, messages - 1, ", the ids that new_message() has returned so far")


def sample(name: Any, value: Any) -> float:
    """Validate the name and value of a sample, and return the value as a float."""
    if not isinstance(name, str):
        raise misuse("record", "name", name, "a string")
    try:
        return number(value)
    except (TypeError, ValueError, OverflowError):
        raise misuse("record", "value", value, "a number") from None


def number(value: Any) -> float:
    """Return a number as a float.

    Raises:
        TypeError: The value is a string or a boolean, which `float` would accept.
    """
    if isinstance(value, str | bytes | bytearray | bool | np.bool_):
        raise TypeError
    return float(value)


def handler(kind: int, ref: int, arg: int, key: Any) -> str:
    """Return the text of the handler call that an event causes, for error messages."""
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
