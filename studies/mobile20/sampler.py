"""Sample, once a second, the sizes of all buffers, the traffic since the last sample and the positions of the hosts."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from causeway.network.movement import xyz
from causeway.network.networks import WIRE, MobileNetwork
from causeway.pycontrol.protocols.mobile.host import HostState
from causeway.pycontrol.protocols.mobile.meter import S_PS, Meter
from causeway.pycontrol.protocols.mobile.tcp_flooding import FloodingHost
from causeway.studies.mobile20.failures import VICTIM_STATION

if TYPE_CHECKING:
    from causeway.pycontrol.node import Node
    from causeway.pycontrol.protocol import Context

EVERY_PS = S_PS
CONNECTED, CONNECTING, DOWN = 0.0, 1.0, 2.0
"""The values of a host's series `state`."""


@dataclass
class Sampler:
    """A repeated job (`PerNode.every`) that records time series and computes their means.

    With a `map`, it also records the positions of stations and hosts, for an animation.
    """

    meter: Meter
    stations: int
    map: MobileNetwork | None = None
    sums: Counter[str] = field(default_factory=Counter)
    squares: float = 0.0
    """The sum of the squares of the stations' mean SBuffer."""
    rounds: int = 0
    largest: float = 0.0
    """The largest SBuffer of a station."""
    last_mean: float = 0.0
    """The stations' mean SBuffer at the end of the measured time."""
    _before: Counter[Any] = field(default_factory=Counter)

    def run(self, node: Node) -> None:
        """Take a sample."""
        nodes, context, now_ps = node.runtime.nodes, node.runtime.context, node.now_ps
        stations, hosts = nodes[: self.stations], nodes[self.stations :]
        sizes = {
            "sbuffer_station": [_in_flight(s) for s in stations],
            "rbuffer_station": [sum(len(h.RBuffer) for h in getattr(s, "h", {}).values()) for s in stations],
            "connections_station": [len(_get(s, "h") or _get(s, "hosts")) for s in stations],
            "sbuffer_host": [len(_get(h, "SBuffer")) for h in hosts],
            "rbuffer_host": [len(_get(h, "RBuffer")) for h in hosts],
        }
        means = {f"{name}_mean": sum(values) / len(values) for name, values in sizes.items()}
        if len(stations) > VICTIM_STATION:
            means["sbuffer_station_3"] = sizes["sbuffer_station"][VICTIM_STATION]
        for name, value in means.items():
            context.record("run", name, now_ps, value)
        for i, value in enumerate(sizes["sbuffer_station"]):
            context.record(f"station[{i}]", "sbuffer", now_ps, value)
        if self.meter.counting:
            self.rounds += 1
            self.sums.update(means)
            self.largest = max(self.largest, *sizes["sbuffer_station"])
            self.last_mean = means["sbuffer_station_mean"]
            self.squares += means["sbuffer_station_mean"] ** 2
        self._rates(context, now_ps)
        if self.map is not None:
            self._record_map(self.map, context)
            self._record_hosts(context, now_ps, hosts)

    def scalars(self) -> dict[str, float]:
        """Return means over the measured time, and the standard deviation of the stations' mean SBuffer."""
        if not self.rounds:
            return {}
        found = {name: total / self.rounds for name, total in self.sums.items()}
        varied = self.squares / self.rounds - found["sbuffer_station_mean"] ** 2
        return found | {
            "sbuffer_station_sd": math.sqrt(max(0.0, varied)), "sbuffer_station_max": self.largest,
            "sbuffer_station_end": self.last_mean,
        }  # fmt: skip

    def _rates(self, context: Context, now_ps: int) -> None:
        """Record the rates since the last sample."""
        meter = self.meter
        totals: Counter[Any] = Counter(
            deliveries=meter.deliveries, delay_ps=meter.delay_ps, losses=meter.losses, arrivals=meter.arrivals,
            handoffs=meter.handoffs,
        )  # fmt: skip
        for (interface, kind), count in meter.messages.items():
            where = "wire" if interface == WIRE else "air"
            totals[f"{where}_{kind}_per_s"] += count
            totals[f"{where}_{kind}_bytes_per_s"] += meter.bytes[interface, kind]
        change = Counter({name: total - self._before[name] for name, total in totals.items()})
        self._before = totals
        for name in totals:
            if str(name).endswith("_per_s") or name == "handoffs":
                context.record("run", name, now_ps, change[name])
        if change["deliveries"]:
            context.record("run", "delivery_delay_s", now_ps, change["delay_ps"] / S_PS / change["deliveries"])
        if copies := change["losses"] + change["arrivals"]:
            context.record("run", "loss_rate", now_ps, change["losses"] / copies)

    def _record_map(self, network: MobileNetwork, context: Context) -> None:
        """Record the positions, reaches and wires of the stations, once."""
        if ("station[0]", "x_m") in context.samples:
            return
        for i, (x_mm, y_mm, _) in enumerate(map(xyz, network.station_xy_mm)):
            values = {"x_m": x_mm / 1000, "y_m": y_mm / 1000, "reach_m": network.cell_radius_mm / 1000}
            for name, value in values.items():
                context.record(f"station[{i}]", name, 0, value)
        for a, b in network.wires:
            context.record(f"station[{a}]", "wired_to", 0, float(b))

    def _record_hosts(self, context: Context, now_ps: int, hosts: list[Any]) -> None:
        """Record the position, cell, state and buffer of every host."""
        for host in hosts:
            x_mm, y_mm = self.meter.position(host.id)
            module = f"host[{host.id - self.stations}]"
            context.record(module, "x_m", now_ps, x_mm / 1000)
            context.record(module, "y_m", now_ps, y_mm / 1000)
            cell, state = _cell_and_state(host)
            context.record(module, "cell", now_ps, cell)
            context.record(module, "state", now_ps, state)
            context.record(module, "rbuffer", now_ps, len(_get(host, "RBuffer")))


def _get(host: Any, name: str) -> Any:
    """Return an attribute that only the nodes of one protocol have; an empty tuple for other nodes."""
    return getattr(host, name, ())


def _in_flight(station: Any) -> int:
    """Return the messages that a station keeps for its hosts. On TCP, these are the copies in flight."""
    return station.in_flight if hasattr(station, "in_flight") else len(station.SBuffer)


def _cell_and_state(host: Any) -> tuple[float, float]:
    """Return the station of a host (-1: none) and the state of the host."""
    if getattr(host, "down", False):
        return -1.0, DOWN
    if isinstance(host, FloodingHost):
        return float(host.station), CONNECTED if host.connected else CONNECTING
    return float(host.id_C), CONNECTED if host.state is HostState.ESTAB else CONNECTING
