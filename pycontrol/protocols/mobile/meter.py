"""The counters of the paper's evaluation, over all nodes of a run.

No node reads the meter. It counts only within [from_ps, to_ps).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from causeway.network.networks import WIRE, WIRELESS, WIRELESS_TCP

S_PS = 10**12
HEADER_BYTES = {WIRELESS: 8 + 20 + 20, WIRE: 20 + 20 + 20, WIRELESS_TCP: 20 + 20 + 20}
"""The headers of Section V (UDP or TCP, IPv4, MAC), which are added to every message in the counts of bytes."""


@dataclass
class Meter:
    """The counters of one run."""

    from_ps: int = 0
    to_ps: int = 1 << 62
    clock: Any = None
    """The object whose `now_ps` is the time. The nodes set it when they start."""
    messages: Counter[tuple[int, str]] = field(default_factory=Counter)
    bytes: Counter[tuple[int, str]] = field(default_factory=Counter)
    born_ps: dict[int, int] = field(default_factory=dict)
    deliveries: int = 0
    delay_ps: int = 0
    arrivals: int = 0
    losses: int = 0
    """`arrivals` counts copies of application messages that reached a node in reach (hosts for messages of stations,
    stations for messages of hosts), and `losses` copies that did not reach it."""
    arrivals_needed: int = 0
    losses_needed: int = 0
    """The part of `losses` whose receivers needed the message from that sender and did not have it yet."""
    frames_heard: int = 0
    frames_addressed: int = 0
    """The number of messages of stations that hosts received, also from other cells, and of those that their own
    stations sent them."""
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

    # ---- called by the nodes --------------------------------------------------------------------------------------
    @property
    def counting(self) -> bool:
        """True within [from_ps, to_ps)."""
        return bool(self.from_ps <= self.clock.now_ps < self.to_ps)

    def sent(self, message: Any, interface: int) -> None:
        """Count a message that a node sends."""
        if self.counting:
            self.messages[interface, message.kind] += 1
            self.bytes[interface, message.kind] += message.size_bytes + HEADER_BYTES[interface]
            if message.kind == "App_sh":
                self.md_copies += 1
                self.md_ids += len(message.M_d)

    def broadcast(self, message: int) -> None:
        """Record the time of a broadcast."""
        self.born_ps[message] = self.clock.now_ps

    def delivered(self, message: int) -> None:
        """Count the delivery of a message at a host, and its delay."""
        born_ps = self.born_ps[message]
        if self.from_ps <= born_ps < self.to_ps:
            self.deliveries += 1
            self.delay_ps += self.clock.now_ps - born_ps

    def arrived(self, needed: bool) -> None:
        """Count a copy of an application message that reached a node."""
        if self.from_ps <= self.clock.now_ps < self.to_ps:
            self.arrivals += 1
            self.arrivals_needed += needed

    def heard(self) -> None:
        """Count a message of any station that reached a host."""
        self.frames_heard += self.counting

    def addressed(self, hosts: int) -> None:
        """Count a message of a station to the hosts of its cell."""
        self.frames_addressed += hosts * self.counting

    def lost(self, needed: bool) -> None:
        """Count a copy of an application message that did not reach a node in reach, as the engine reports."""
        if self.counting:
            self.losses += 1
            self.losses_needed += needed

    def joined(self, took_ps: int) -> None:
        """Record the time that a host took to connect over TCP, in the whole run."""
        self.joined_ps = max(self.joined_ps, took_ps)

    def handed_off(self, not_delivered: int, requested: int, received: int) -> None:
        """Count the messages of a handoff at the previous station."""
        if self.counting:
            self.longest_m_nd = max(self.longest_m_nd, not_delivered)
            self.list_lengths.update(m_nd=not_delivered, msg_req=requested, msg_rcv=received)

    def handoff_done(self, took_ps: int) -> None:
        """Count a handoff that is finished at the new station."""
        if self.counting:
            self.handoffs += 1
            self.handoff_ps += took_ps

    def moved(self, node: int, x_mm: int, y_mm: int, station: int) -> None:
        """Record the position and station of a host."""
        self.place[node] = (x_mm, y_mm)
        self.cell_of[node] = station

    def position(self, node: int) -> tuple[int, int]:
        """Return the position of a host."""
        return self.place.get(node, (0, 0))

    # ---- called at the end ----------------------------------------------------------------------------------------
    def scalars(self, duration_ps: int) -> Mapping[str, float]:
        """Return rates, ratios and means, except those that are undefined."""
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
            "loss_of_own_hosts": (self.frames_addressed - self.frames_heard, self.frames_addressed),
            "handoff_s": (self.handoff_ps / S_PS, self.handoffs),
            "md_mean": (self.md_ids, self.md_copies),
            **{f"handoff_{name}_mean": (total, self.handoffs) for name, total in self.list_lengths.items()},
        }
        return found | {name: top / bottom for name, (top, bottom) in ratios.items() if bottom}

    def sent_air(self) -> int:
        """Return the number of messages sent by radio."""
        return self.messages.total() - self._on_wire(self.messages)

    @staticmethod
    def _on_wire(counts: Counter[tuple[int, str]]) -> int:
        return sum(count for (interface, _), count in counts.items() if interface == WIRE)
