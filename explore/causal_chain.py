"""Select the few events that lead to one violation from the evidence of a witness.

These events are the sendings, arrivals and losses of packets that carry the missing or wrong message, or the one that
was delivered instead; packets that name the node of the violation, such as those of a handoff; and the movements,
crashes and recoveries of the nodes concerned. Start here: `chain`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from causeway.bridge.events import BROADCAST_PEER
from causeway.explore.model import Event
from causeway.explore.witness import ARRIVAL, LOST, NEVER, NODE, SEND, STATION, Observation, Violation, Witness
from causeway.network.networks import MobileNetwork, Network
from causeway.pycontrol.node import PerNode
from causeway.pycontrol.protocol import BROADCAST, DELIVER, JOINED, LEFT, Protocol

BEFORE_PS = 50 * 10**9
"""The chain begins this time before the first broadcast of its messages."""
AFTER_PS = 10**9
"""The chain ends this time after the violation."""
LATER_PS = 10**12
"""Copies of the missing message that reach the node up to this time after the chain are added."""
MOST_OF_A_KIND = 12
"""The maximum number of packets of one type that name the node. If there are more, they are routine (acknowledgements),
and all of them are left out."""
MOST_EVENTS = 400
"""The maximum number of events in a chain, so that a diagram remains readable."""
WORDS = {BROADCAST: "broadcast", DELIVER: "delivered", JOINED: "joined", LEFT: "left"}


@dataclass(frozen=True)
class Sent:
    """A packet that left a node."""

    time_ps: int
    node: int
    packet: int
    peer: int
    content: Any
    messages: frozenset[int]
    nodes: frozenset[int]


@dataclass
class Chain:
    """The events that lead to a violation, in order."""

    violation: Violation
    events: list[Event] = field(default_factory=list)
    names: dict[int, str] = field(default_factory=dict)
    """The names of the nodes concerned, in the order in which they are drawn."""
    wanted: frozenset[int] = frozenset()
    """The packets that carry the message that did not arrive in time."""
    path: tuple[int, ...] = ()
    """The chain of messages from the missing one to the wrong one, each of which the next one follows causally."""
    left_out: int = 0
    """The number of events beyond MOST_EVENTS."""
    unnamed: Counter[str] = field(default_factory=Counter)
    """The number of packets in which no messages were found (`PerNode.about`), by type of content."""
    unnamed_example: str = ""
    """The content of one of them."""

    @property
    def title(self) -> str:
        """The violation as text, with the node's name and the time."""
        text = str(self.violation).replace(f"node {self.violation.node}", name_in(self.names, self.violation.node))
        return f"{text}, at {self.violation.time_ps / 1e12:.6f} s"


def name_in(names: Mapping[int, str], node: int) -> str:
    """Return the name of a node."""
    return names.get(node, f"node {node}")


def chain(witness: Witness, violation: Violation, protocol: Protocol, network: Network) -> Chain:
    """Return the events that lead to a violation."""
    late = violation.before if violation.before >= 0 else violation.message
    path = witness.path(late, violation.message)
    about = frozenset(path)
    began_ps = min(witness.broadcast_ps[m] for m in about) - BEFORE_PS
    end_ps = violation.time_ps
    # such a violation has the time of the end of the run, long after the message's last event
    if violation.what == NEVER:
        end_ps = max(
            [t.time_ps for t in witness.observations if t.op == DELIVER and t.message == late], default=began_ps
        )
    end_ps += AFTER_PS
    sent = _sent(witness, protocol, began_ps, end_ps)
    carriers = [one for one in sent if one.messages & about]
    talk = _packets_about(sent, violation.node, about)
    chosen = {one.packet: one for one in [*carriers, *talk]}
    observations = [t for t in witness.observations if began_ps <= t.time_ps <= end_ps]
    actors = _actors(witness, violation, about, list(chosen.values()), network)
    late_packets = frozenset(one.packet for one in carriers if late in one.messages)
    events = _events(witness, chosen, observations, about, actors, (began_ps, end_ps))
    events += _late_copies(witness, chosen, late_packets, violation.node, late, end_ps)
    found = Chain(violation, events[:MOST_EVENTS], left_out=max(0, len(events) - MOST_EVENTS), path=path)
    found.names = {node: _name(node, network) for node in sorted(actors)}
    found.wanted = late_packets
    if isinstance(protocol, PerNode) and type(protocol).about is PerNode.about:
        unnamed = [one for one in sent if one.content is not None and not one.messages]
        found.unnamed = Counter(type(one.content).__name__ for one in unnamed)
        found.unnamed_example = _text(unnamed[0].content) if unnamed else ""
    return found


def _sent(witness: Witness, protocol: Protocol, began_ps: int, end_ps: int) -> list[Sent]:
    found = []
    for actions, contents in witness.sent:
        if not len(actions):
            continue
        rows = np.flatnonzero(np.asarray(actions.kind) == SEND)
        for at, row in enumerate(rows.tolist()):
            time_ps = int(actions.time_ps[row])
            if began_ps <= time_ps <= end_ps:
                content = contents[at] if at < len(contents) else None
                messages, nodes = about_of(protocol, content)
                found.append(
                    Sent(time_ps, int(actions.node[row]), int(actions.ref[row]), int(actions.peer[row]), content,
                         messages, nodes)
                )  # fmt: skip
    return found


def about_of(protocol: Protocol, content: Any) -> tuple[frozenset[int], frozenset[int]]:
    """Return the messages that a packet carries and the nodes that it mentions, as reported by the protocol."""
    if not isinstance(protocol, PerNode) or content is None:
        return frozenset(), frozenset()
    messages, nodes = protocol.about(content)
    return frozenset(messages), frozenset(nodes)


def _packets_about(sent: Iterable[Sent], node: int, about: frozenset[int]) -> list[Sent]:
    """Return the packets that mention the node, except those of frequent types."""
    found = [one for one in sent if node in one.nodes and not one.messages & about]
    often = Counter(type(one.content).__name__ for one in found)
    return [one for one in found if often[type(one.content).__name__] <= MOST_OF_A_KIND]


def _actors(
    witness: Witness, violation: Violation, about: frozenset[int], chosen: list[Sent], network: Network
) -> set[int]:
    actors = {violation.node, *(witness.source[m] for m in about)}
    actors |= {one.node for one in chosen}
    actors |= {one.peer for one in chosen if one.peer != BROADCAST_PEER}
    # without all other hosts, since there are many and only their packets matter
    if isinstance(network, MobileNetwork):
        stations = len(network.station_xy_mm)
        return {node for node in actors if node < stations} | {violation.node, *(witness.source[m] for m in about)}
    return actors


def _events(
    witness: Witness, chosen: dict[int, Sent], observations: list[Observation], about: frozenset[int], actors: set[int],
    between_ps: tuple[int, int],
) -> list[Event]:  # fmt: skip
    found = [
        Event(t.time_ps, WORDS[t.op], t.node, t.message, -1, "")
        for t in observations
        if t.node in actors and (t.message in about or t.op in (JOINED, LEFT))
    ]
    for one in chosen.values():
        if one.node in actors:
            found.append(Event(one.time_ps, "sent", one.node, one.packet, one.peer, _text(one.content)))
    found += _in_frames(witness, chosen, actors, between_ps)
    order = {"sent": 2, "delivered": 1, "broadcast": 1}
    return _only_moves(sorted(found, key=lambda e: (e.time_ps, order.get(e.what, 0), e.node, e.number)))


def _in_frames(
    witness: Witness, chosen: dict[int, Sent], actors: set[int], between_ps: tuple[int, int]
) -> list[Event]:  # fmt: skip
    """Return the engine's events in that time."""
    found, (began_ps, end_ps) = [], between_ps
    for window in witness.windows:
        if window.end_ps < began_ps or (len(window) and int(window.time_ps[0]) > end_ps):
            continue
        rows = zip(
            window.kind.tolist(), window.time_ps.tolist(), window.node.tolist(), window.ref.tolist(),
            window.arg.tolist(), strict=True,
        )  # fmt: skip
        for kind, time_ps, node, ref, arg in rows:
            if node in actors and began_ps <= time_ps <= end_ps:
                event = _event(kind, time_ps, node, ref, arg, chosen)
                if event is not None:
                    found.append(event)
    return found


def _late_copies(
    witness: Witness, chosen: dict[int, Sent], late: frozenset[int], node: int, message: int, end_ps: int
) -> list[Event]:  # fmt: skip
    """Return the first copies that arrive at the node or are lost after the chain's end, and the delivery."""
    copies = {packet: one for packet, one in chosen.items() if packet in late}
    found = _in_frames(witness, copies, {node}, (end_ps + 1, end_ps + LATER_PS))
    copies_of = [event for event in found if event.what in ("packet", "loss")][:5]
    delivered = [
        Event(t.time_ps, WORDS[t.op], t.node, t.message, -1, "")
        for t in witness.observations
        if (t.op, t.node, t.message) == (DELIVER, node, message) and end_ps < t.time_ps <= end_ps + LATER_PS
    ]
    return sorted([*copies_of, *delivered], key=lambda event: event.time_ps)


def _event(kind: int, time_ps: int, node: int, ref: int, arg: int, chosen: dict[int, Sent]) -> Event | None:
    if kind in (ARRIVAL, LOST) and ref in chosen:
        one = chosen[ref]
        return Event(time_ps, "packet" if kind == ARRIVAL else "loss", node, ref, one.node, _text(one.content))
    if kind == STATION:
        return Event(time_ps, "station", node, arg, -1, "")
    if kind == NODE:
        return Event(time_ps, "recover" if arg else "crash", node, -1, -1, "")
    return None


def _only_moves(events: list[Event]) -> list[Event]:
    """Return the events without positions whose nearest station is the same as before."""
    at: dict[int, int] = {}
    found = []
    for event in events:
        if event.what == "station":
            if at.get(event.node) == event.number:
                continue
            at[event.node] = event.number
        found.append(event)
    return found


def _text(content: Any) -> str:
    text = str(content)
    return text if len(text) <= 300 else text[:297] + "..."


def _name(node: int, network: Network) -> str:
    if isinstance(network, MobileNetwork):
        return f"station {node}" if node < len(network.station_xy_mm) else f"host {node}"
    return f"node {node}"
