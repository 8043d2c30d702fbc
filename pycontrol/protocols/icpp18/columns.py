"""Causal broadcast with aggregation over VCube trees (paper icpp18, Algorithms 1 and 2), over columns.

A node does not forward a message to a child that could not deliver it yet because of another message that this very
node will forward to it: it waits for that one and sends both in one packet. The hot path is in `kernel.py`; the
same algorithm written as one process, as the paper has it, is `node.py`: it gives the same digest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from causeway.bridge.errors import RunError, UserError
from causeway.bridge.events import Actions, Kind, Window, joined, no_actions, sends
from causeway.pycontrol.protocol import Context, Protocol
from causeway.pycontrol.protocols.icpp18 import kernel
from causeway.pycontrol.protocols.icpp18.kernel import COUNTS, MESSAGE_CLASSES, Config, Out, State
from causeway.pycontrol.protocols.vcube.tree import dimension

SIZE_CLASSES = 64
BROADCAST_KIND = int(Kind.BROADCAST)


@dataclass(frozen=True)
class Wire:
    """How big things are on the wire (Sections 5 and 5.2)."""

    message_bytes: int = 50
    header_bytes: int = 20
    entry_bytes: int = 4
    """Of an entry of a compressed vector clock (Birman): those that changed since the last broadcast are sent."""
    mtu_bytes: int = 1500


class CausalAggregation(Protocol):
    """All nodes."""

    def __init__(self, per_node: int, aggregate: bool, single_tree: bool, wire: Wire, keep_times: bool = False) -> None:
        """`per_node`: no node broadcasts more often than that in the run. `keep_times`: of every copy of a message."""
        self.per_node, self.keep_times = per_node, keep_times
        self.config = (aggregate, single_tree, *_bytes(wire))

    def start(self, context: Context) -> None:
        super().start(context)
        dimension(context.nodes)
        self._config = Config(context.reaction_ps, *self.config)
        self._s = _make_state(context.nodes, self.per_node, self.keep_times)
        self._bundles = np.zeros(1 << 16, np.int32)
        self._out = _make_out(1 << 14)

    def on_window(self, window: Window) -> Actions:
        self._refuse_too_many(window)
        actions, done = [], 0
        while done < len(window):
            at = kernel.handle(
                self._config, self._s, self._bundles, self._out, done, window.kind, window.time_ps, window.node,
                window.ref, self.context.nodes, int(Kind.ARRIVAL), int(Kind.BROADCAST),
            )  # fmt: skip
            actions.append(self._take())
            if at < len(window):
                self._make_room(stuck=at == done)
            done = at
        if len(actions) == 1:
            return actions[0]
        return joined(actions) if actions else no_actions()

    def _refuse_too_many(self, window: Window) -> None:
        """The state has room for so many broadcasts of a node, and the kernel looks at no bounds."""
        asked = window.node[window.kind == BROADCAST_KIND]
        if not len(asked):
            return
        sent = self._s.sent + np.bincount(asked, minlength=self.context.nodes)
        if (sent > self.per_node).any():
            node = int(np.argmax(sent > self.per_node))
            raise RunError(
                f"window {window.number} is wrong: it brings node {node} to {sent[node]} broadcasts; allowed: "
                f"{self.per_node} of each node in this run"
            )

    def _take(self) -> Actions:
        """What is in `_out`: observers are told, the sends go back."""
        out, (rows, told) = self._out, self._out.rows.tolist()
        self._out.rows[:] = 0
        if told:
            self.context.observe(out.op[:told], out.op_time[:told], out.op_node[:told], out.op_message[:told])
        if not rows:
            return no_actions()
        return sends(
            out.send_time[:rows].copy(), out.send_node[:rows].copy(), out.send_packet[:rows].copy(),
            out.send_peer[:rows].copy(), out.send_size[:rows].copy(),
        )  # fmt: skip

    def _make_room(self, stuck: bool) -> None:
        """`_out` is empty again; grow whatever is nearly full, and `_out` itself if it was too small for one event."""
        s = self._s
        if stuck:
            self._out = _make_out(2 * len(self._out.op))
        margin = 4 * len(self._out.op)
        if s.next[0] + margin > len(s.content):
            self._s = s._replace(content=_doubled(s.content, margin))
        if s.next[2] + 4 * margin > len(self._bundles):
            self._bundles = _doubled(self._bundles, 4 * margin)

    def scalars(self) -> Mapping[str, float]:
        return summary(self._s)


def _bytes(wire: Wire) -> tuple[int, int, int, int]:
    if wire.header_bytes + wire.message_bytes + wire.entry_bytes > wire.mtu_bytes:
        raise UserError(
            f"a message of {wire.message_bytes} bytes does not fit an MTU of {wire.mtu_bytes}: raise mtu or lower size"
        )
    return wire.message_bytes, wire.header_bytes, wire.entry_bytes, wire.mtu_bytes


def _make_state(n: int, per_node: int, keep_times: bool) -> State:
    slots = n * per_node
    words = (slots + 63) // 64
    return State(
        depends=np.zeros((slots, words), np.uint64), size=np.zeros(slots, np.int32), entries=np.zeros(slots, np.int32),
        id_of=np.zeros(slots, np.int64), born_ps=np.zeros(slots, np.int64), sent=np.zeros(n, np.int32),
        received=np.zeros((n, words), np.uint64), known=np.zeros((n, words), np.uint64),
        vector_max=np.zeros((n, n), np.int32), delivered=np.zeros((n, words), np.uint64),
        changed=np.zeros((n, n), np.uint8), changes=np.zeros(n, np.int32), pending=np.zeros((n, slots), np.int32),
        blocker=np.zeros((n, slots), np.int32), waiting=np.zeros(n, np.int32), max_waiting=np.zeros(n, np.int32),
        max_aggregated=np.zeros(n, np.int32), content=np.zeros(1 << 16, np.int32), counts=np.zeros(COUNTS, np.int64),
        next=np.zeros(3, np.int64), by_messages=np.zeros(MESSAGE_CLASSES, np.int64),
        by_size=np.zeros(SIZE_CLASSES, np.int64),
        kept=np.zeros((n if keep_times else 0, slots, len(kernel.KEPT)), np.int64),
    )  # fmt: skip


def _make_out(rows: int) -> Out:
    return Out(
        np.empty(rows, np.int64), np.empty(rows, np.int32), np.empty(rows, np.int64), np.empty(rows, np.int32),
        np.empty(rows, np.int32), np.empty(rows, np.uint8), np.empty(rows, np.int64), np.empty(rows, np.int32),
        np.empty(rows, np.int64), np.zeros(2, np.int64),
    )  # fmt: skip


def _doubled(array: np.ndarray, at_least: int) -> np.ndarray:
    return np.concatenate([array, np.zeros(max(len(array), at_least), array.dtype)])


def summary(s: State) -> dict[str, float]:
    """The run's scalars. Latencies are means in ps; shares are percentages."""
    count = s.counts.astype(float)
    packets, received = max(1.0, count[kernel.PACKETS]), max(1.0, count[kernel.RECEIVED])
    aggregated = max(1.0, count[kernel.AGGREGATED])
    dependencies = s.entries[s.entries > 0] - 1
    messages = max(1, len(dependencies))
    scalars = {
        "packets": count[kernel.PACKETS],
        "messages": count[kernel.MESSAGES],
        "messages_carried": count[kernel.CARRIED],
        "packets_aggregated": count[kernel.AGGREGATED],
        "aggregated_share": 100 * count[kernel.AGGREGATED] / packets,
        "largest_aggregate": count[kernel.LARGEST],
        "packets_full": count[kernel.FULL],
        "bytes": count[kernel.BYTES],
        "reception_latency_ps": count[kernel.RECEPTION_PS] / received,
        "delivery_latency_ps": count[kernel.DELIVERY_PS] / max(1.0, count[kernel.DELIVERED]),
        "reception_latency_max_ps": count[kernel.MAX_RECEPTION_PS],
        "delivery_latency_max_ps": count[kernel.MAX_DELIVERY_PS],
        "messages_held": count[kernel.HELD],
        "forwards_postponed": count[kernel.POSTPONED],
        "packets_twice": count[kernel.DUPLICATES],
        "independent_share": 100 * float((dependencies == 0).sum()) / messages,
        "dependencies_max": float(dependencies.max(initial=0)),
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
    scalars["packets_of_6_up"] = 100 * float(s.by_messages[6:].sum()) / packets
    scalars["aggregates_of_6_up"] = 100 * float(s.by_messages[6:].sum()) / aggregated
    for c in range(4):
        scalars[f"packets_to_{100 * (c + 1)}_bytes"] = 100 * float(s.by_size[c]) / packets
    scalars["packets_over_400_bytes"] = 100 * float(s.by_size[4:].sum()) / packets
    scalars["packets_over_1400_bytes"] = 100 * float(s.by_size[14:].sum()) / packets
    for m in (6, 7, 11, 12):
        scalars[f"nodes_aggregating_to_{m}"] = float((s.max_aggregated <= m).sum())
    return scalars
