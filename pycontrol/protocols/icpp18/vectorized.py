"""Causal broadcast with aggregation over VCube trees (paper icpp18): the vectorized implementation.

The hot path is `kernel.py`. The reference implementation is `node.py`; both give the same digest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from causeway.bridge.events import Actions, Kind, Window, joined, no_actions
from causeway.errors import RunError, UserError
from causeway.network.random import STREAM_PROTOCOL, draw_unit
from causeway.pycontrol.protocol import Context, Protocol
from causeway.pycontrol.protocols.icpp18 import kernel
from causeway.pycontrol.protocols.icpp18.kernel import MESSAGE_CLASSES
from causeway.pycontrol.protocols.icpp18.state import Config, Icpp18State
from causeway.pycontrol.protocols.vcube.tree import dimension
from causeway.pycontrol.state_arrays import allocate, size_of, with_room
from causeway.pycontrol.tape import Tape, events_of, take

SIZE_CLASSES = 64
STREAM_SPEED = STREAM_PROTOCOL + 2
BROADCAST_KIND = int(Kind.BROADCAST)


@dataclass(frozen=True)
class Wire:
    """The sizes of messages and packets on the wire (Sections 5 and 5.2)."""

    message_bytes: int = 50
    header_bytes: int = 20
    entry_bytes: int = 4
    """Bytes of a clock entry. Only entries that changed since the last broadcast are sent (Birman's compression)."""
    mtu_bytes: int = 1500
    send_ps: int = 0
    """The time that a sender's CPU needs for a packet (`AbstractNetwork.send_ps`). The network simulates the queue; the
    protocol computes the same waiting times for its statistics."""


class CausalAggregation(Protocol):
    """All nodes of a run."""

    def __init__(
        self, per_node: int, aggregate: bool, single_tree: bool, wire: Wire, keep_times: bool = False,
        slow_ps: int = 0, warmup: int = 0,
    ) -> None:  # fmt: skip
        """Set the parameters of a run.

        Args:
            per_node: The maximum number of broadcasts of a node in the run.
            aggregate: Send messages together (the paper's algorithm), or each one alone.
            single_tree: Use the tree of one root for all messages: the paper's baseline.
            wire: The sizes on the wire.
            keep_times: Keep the reception and delivery time of every copy of a message.
            slow_ps: The maximum additional time of a node before it sends. Each node has its own.
            warmup: The first broadcasts of each node that are left out of the counts of dependencies.

        Raises:
            UserError: A message does not fit the MTU.
        """
        self.per_node, self.keep_times, self.slow_ps, self.warmup = per_node, keep_times, slow_ps, warmup
        self.config = (aggregate, single_tree, *_sizes(wire))

    def start(self, context: Context) -> None:
        """Allocate the arrays."""
        super().start(context)
        dimension(context.nodes)
        self._config = Config(context.nodes, context.reaction_ps, *self.config)
        self._s = _make_state(context.nodes, self.per_node, self.keep_times)
        self._s.slow_ps[:] = [
            int(self.slow_ps * draw_unit(context.seed, STREAM_SPEED, node, 0)) for node in range(context.nodes)
        ]
        self._tape = allocate(Tape, reported=1 << 14, act=1 << 14)

    def on_window(self, window: Window) -> Actions:
        """Broadcast, receive, forward and deliver messages."""
        self._refuse_too_many(window)
        actions, done = [], 0
        events = events_of(window)
        while done < len(window):
            at = kernel.handle(self._config, self._s, self._tape, events, done)
            actions.append(take(self._tape, self.context))
            if at < len(window):
                self._make_room(stuck=at == done)
            done = at
        if len(actions) == 1:
            return actions[0]
        return joined(actions) if actions else no_actions()

    def _refuse_too_many(self, window: Window) -> None:
        """Refuse more broadcasts of a node than the arrays have room for, since the kernel does not check bounds."""
        broadcasting = window.node[window.kind == BROADCAST_KIND]
        if not len(broadcasting):
            return
        sent = self._s.sent + np.bincount(broadcasting, minlength=self.context.nodes)
        if (sent > self.per_node).any():
            node = int(np.argmax(sent > self.per_node))
            raise RunError(
                f"window {window.number} is wrong: it contains broadcast {sent[node]} of node {node}; allowed: "
                f"{self.per_node} of each node in this run"
            )

    def _make_room(self, stuck: bool) -> None:
        """Grow arrays that are nearly full, and the tape (which is empty) if a single event does not fit."""
        if stuck:
            self._tape = with_room(
                self._tape, reported=size_of(self._tape, "reported") + 1, act=size_of(self._tape, "act") + 1
            )
        margin = 4 * size_of(self._tape, "act")
        packet, _, bundled = self._s.next.item()
        self._s = with_room(self._s, packet=packet + margin, bundled=bundled + 4 * margin)

    def scalars(self) -> Mapping[str, float]:
        """Return the counters and means of the run."""
        return summary(self._s, self.warmup * self.context.nodes)


def _sizes(wire: Wire) -> tuple[int, int, int, int, int]:
    if wire.header_bytes + wire.message_bytes + wire.entry_bytes > wire.mtu_bytes:
        raise UserError(
            f"a message of {wire.message_bytes} bytes, its header of {wire.header_bytes} and an entry of its clock of "
            f"{wire.entry_bytes} do not fit an mtu of {wire.mtu_bytes}; increase mtu, or decrease message_size"
        )
    return wire.message_bytes, wire.header_bytes, wire.entry_bytes, wire.mtu_bytes, wire.send_ps


def _make_state(n: int, per_node: int, keep_times: bool) -> Icpp18State:
    return allocate(
        Icpp18State, node=n, message=n * per_node, packet=1 << 16, bundled=1 << 16, keeper=n if keep_times else 0,
        by_messages=MESSAGE_CLASSES, by_size=SIZE_CLASSES,
    )  # fmt: skip


def summary(s: Icpp18State, before: int = 0) -> dict[str, float]:
    """Return the run's scalars, with the dependencies of messages from slot `before` on.

    Latencies are means in ps; shares are percentages.
    """
    count = {name: float(s.counts[name][0]) for name in s.counts.dtype.names or ()}
    packets, received = max(1.0, count["packets"]), max(1.0, count["received"])
    aggregated = max(1.0, count["aggregated"])
    later = s.entries[before:]
    dependencies = later[later > 0] - 1
    messages = max(1, len(dependencies))
    scalars = {
        "packets": count["packets"],
        "messages": count["messages"],
        "messages_carried": count["carried"],
        "packets_aggregated": count["aggregated"],
        "aggregated_share": 100 * count["aggregated"] / packets,
        "largest_aggregate": count["largest"],
        "packets_full": count["full"],
        "bytes": count["bytes"],
        "reception_latency_ps": count["reception_ps"] / received,
        "delivery_latency_ps": count["delivery_ps"] / max(1.0, count["delivered"]),
        "reception_latency_max_ps": count["max_reception_ps"],
        "delivery_latency_max_ps": count["max_delivery_ps"],
        "messages_held": count["held"],
        "forwards_postponed": count["postponed"],
        "packets_twice": count["duplicates"],
        "queue_wait_ps": count["queue_ps"] / packets,
        "independent_share": 100 * float((dependencies == 0).sum()) / messages,
        "dependencies_max": float(dependencies.max(initial=0)),
        "messages_of_dependencies_max": float((dependencies == dependencies.max(initial=0)).sum()),
        "dependencies_mean": float(dependencies.sum()) / messages,
        "buffered_max": float(s.max_waiting.max()),
        "nodes_buffering_to_50": float((s.max_waiting <= 50).sum()),
        "nodes_buffering_over_250": float((s.max_waiting > 250).sum()),
    }
    for name, low, high in (("1_4", 1, 4), ("5_9", 5, 9), ("10_12", 10, 12), ("over_12", 13, 1 << 30)):
        some = ((dependencies >= low) & (dependencies <= high)).sum()
        scalars[f"dependencies_{name}"] = 100 * float(some) / messages
    for m in range(1, 6):
        scalars[f"packets_of_{m}"] = 100 * float(s.by_messages[m]) / packets
        scalars[f"aggregates_of_{m}"] = 100 * float(s.by_messages[m]) / aggregated if m > 1 else 0.0
    scalars["packets_of_15_in_all"] = float(s.by_messages[15])
    scalars["packets_of_6_up"] = 100 * float(s.by_messages[6:].sum()) / packets
    scalars["aggregates_of_6_up"] = 100 * float(s.by_messages[6:].sum()) / aggregated
    for c in range(4):
        scalars[f"packets_to_{100 * (c + 1)}_bytes"] = 100 * float(s.by_size[c]) / packets
    scalars["packets_over_400_bytes"] = 100 * float(s.by_size[4:].sum()) / packets
    scalars["packets_over_1400_bytes"] = 100 * float(s.by_size[14:].sum()) / packets
    for m in (6, 7, 11, 12):
        scalars[f"nodes_aggregating_to_{m}"] = float((s.max_aggregated <= m).sum())
    return scalars
