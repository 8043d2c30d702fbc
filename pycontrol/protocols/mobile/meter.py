"""Counts what the paper's evaluation counts, over all nodes of a run, and samples what it draws.

The meter sees and takes nothing: no node reads it. Counting is confined to [from_ps, to_ps).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from causeway.bridge.network import WIRE, WIRELESS, WIRELESS_TCP

S_PS = 10**12
HEADER_BYTES = {WIRELESS: 8 + 20 + 20, WIRE: 20 + 20 + 20, WIRELESS_TCP: 20 + 20 + 20}
"""UDP or TCP, IPv4, MAC: the headers of Section V, added to every message in the counts of bytes."""


@dataclass
class Meter:
    """One for a run."""

    from_ps: int = 0
    to_ps: int = 1 << 62
    clock: Any = None
    """What knows the time (`now_ps`): the nodes set it when they start."""
    messages: Counter[tuple[int, str]] = field(default_factory=Counter)
    bytes: Counter[tuple[int, str]] = field(default_factory=Counter)
    born_ps: dict[int, int] = field(default_factory=dict)
    deliveries: int = 0
    delay_ps: int = 0
    arrivals: int = 0
    losses: int = 0
    """Copies of application messages that reached, or did not reach, a node in the sender's reach: hosts for what
    stations send, stations for what hosts send."""
    arrivals_needed: int = 0
    losses_needed: int = 0
    """Those of them whose receiver was to get the message from that sender, and had not got it yet."""
    handoffs: int = 0
    handoff_ps: int = 0
    list_lengths: Counter[str] = field(default_factory=Counter)
    longest_m_nd: int = 0
    joined_ps: int = 0
    """The longest time that a host took to connect over TCP."""
    md_copies: int = 0
    md_ids: int = 0
    cell_of: dict[int, int] = field(default_factory=dict)
    place: dict[int, tuple[int, int]] = field(default_factory=dict)

    # ---- told by the nodes ----------------------------------------------------------------------------------------
    @property
    def counting(self) -> bool:
        return bool(self.from_ps <= self.clock.now_ps < self.to_ps)

    def sent(self, message: Any, interface: int) -> None:
        """A node sends a message."""
        if self.counting:
            self.messages[interface, message.kind] += 1
            self.bytes[interface, message.kind] += message.size_bytes + HEADER_BYTES[interface]
            if message.kind == "App_sh":
                self.md_copies += 1
                self.md_ids += len(message.M_d)

    def broadcast(self, message: int) -> None:
        """The application broadcasts."""
        self.born_ps[message] = self.clock.now_ps

    def delivered(self, message: int) -> None:
        """A host delivers."""
        born_ps = self.born_ps[message]
        if self.from_ps <= born_ps < self.to_ps:
            self.deliveries += 1
            self.delay_ps += self.clock.now_ps - born_ps

    def arrived(self, needed: bool) -> None:
        """A copy of an application message reached a node."""
        if self.from_ps <= self.clock.now_ps < self.to_ps:
            self.arrivals += 1
            self.arrivals_needed += needed

    def lost(self, needed: bool) -> None:
        """A copy of an application message did not reach a node in reach, and the engine knows it."""
        if self.counting:
            self.losses += 1
            self.losses_needed += needed

    def joined(self, took_ps: int) -> None:
        """A host's connection over TCP stands, so long after it was asked for (in the whole run)."""
        self.joined_ps = max(self.joined_ps, took_ps)

    def handed_off(self, not_delivered: int, requested: int, received: int) -> None:
        """A previous station gave a host away."""
        if self.counting:
            self.longest_m_nd = max(self.longest_m_nd, not_delivered)
            self.list_lengths.update(m_nd=not_delivered, msg_req=requested, msg_rcv=received)

    def handoff_done(self, took_ps: int) -> None:
        """A new station has taken a host over."""
        if self.counting:
            self.handoffs += 1
            self.handoff_ps += took_ps

    def moved(self, node: int, x_mm: int, y_mm: int, station: int) -> None:
        """A host is somewhere else."""
        self.place[node] = (x_mm, y_mm)
        self.cell_of[node] = station

    def position(self, node: int) -> tuple[int, int]:
        """Where a host is."""
        return self.place.get(node, (0, 0))

    # ---- asked at the end -----------------------------------------------------------------------------------------
    def scalars(self, duration_ps: int) -> Mapping[str, float]:
        """Totals as rates, ratios and means; what cannot be computed is absent."""
        seconds = duration_ps / S_PS
        found = {"broadcasts": float(len(self.born_ps)), "deliveries_counted": float(self.deliveries)}
        for (interface, kind), count in sorted(self.messages.items()):
            where = "wire" if interface == WIRE else "air"
            found[f"{where}_{kind}_per_s"] = count / seconds
            found[f"{where}_{kind}_bytes_per_s"] = self.bytes[interface, kind] / seconds
        wire, wire_bytes = self._on_wire(self.messages), self._on_wire(self.bytes)
        found["sent_per_s"] = self.sent_air() / seconds
        found["sent_bytes_per_s"] = (self.bytes.total() - wire_bytes) / seconds
        found["wire_per_s"] = wire / seconds
        found["wire_bytes_per_s"] = wire_bytes / seconds
        found["handoffs"] = float(self.handoffs)
        if self.handoffs:
            found["handoff_m_nd_max"] = float(self.longest_m_nd)
        if self.joined_ps:
            found["tcp_setup_max_s"] = self.joined_ps / S_PS
        ratios = {
            "delivery_delay_s": (self.delay_ps / S_PS, self.deliveries),
            "sent_per_delivery": (self.sent_air(), self.deliveries),
            "loss_application": (self.losses, self.losses + self.arrivals),
            "loss_needed": (self.losses_needed, self.losses_needed + self.arrivals_needed),
            "handoff_s": (self.handoff_ps / S_PS, self.handoffs),
            "md_mean": (self.md_ids, self.md_copies),
            **{f"handoff_{name}_mean": (total, self.handoffs) for name, total in self.list_lengths.items()},
        }
        return found | {name: top / bottom for name, (top, bottom) in ratios.items() if bottom}

    def sent_air(self) -> int:
        """Messages sent over the air."""
        return self.messages.total() - self._on_wire(self.messages)

    @staticmethod
    def _on_wire(counts: Counter[tuple[int, str]]) -> int:
        return sum(count for (interface, _), count in counts.items() if interface == WIRE)
