"""The networks that a study can describe, independent of engines.

The abstract network
--------------------

N processes; any process sends a packet to any other, or to all others at once.

- A packet of a SEND that takes effect at t leaves at `max(t, cpu_free) + send_ps + send_ps_per_byte * size`. The
  sender's CPU serves packets one after the other, in order of (t, packet). A broadcast is served once.
- The copy for receiver r travels for a delay drawn from (seed, packet, r), at least 1 ns, in whole ns. It is lost with
  probability `loss`, drawn in the same way. A LOST event reports a loss at the instant at which the copy would have
  reached the receiver.
- With `links`, a copy goes over the link from its sender's site to its receiver's, whose latency is added to the delay.
  Where there is no link, a packet for one node is lost, and a packet for everyone has no copy. A link with a bandwidth
  sends copies one after the other, in order of (instant they leave, sender, packet). A copy is lost if more than
  `queue_bytes` bytes are unsent before it, the rest of the copy that is being sent included. A link loses copies with a
  probability of its own; lost copies also use its bandwidth.
- The receiver's CPU serves copies one after the other, in order of (instant of arrival, packet), `recv_ps` each. The
  ARRIVAL event occurs at the end of this service.
- Link failures and partitions (`network/faults.py`): a copy is lost if one separates the two nodes when the copy
  leaves.
- A node that is down sends nothing: a SEND that takes effect while it is down is dropped, and so is a packet that had
  not left when the node failed. It receives nothing: a copy whose ARRIVAL would occur while it is down is dropped. It
  has no timers and no broadcasts.

The mobile network
------------------

Stations are connected by wires, and hosts move on one wireless channel. A
packet-level simulator runs the network; the fields describe how to build it. Interfaces: 0 UDP over the wireless
channel (peer -1: local broadcast), 1 TCP over the wires, 2 TCP over the wireless channel. Hosts stand, walk, follow
traces (`network/movement.py`), or move as the protocol commands (the action MOVE); after the first command they follow
only commands. Positions may have heights: ranges are then distances in space, and walks keep the height of their start.
"""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri  # not scipy.stats, which would add half a second to every command

from causeway.deprecated import former_arguments
from causeway.errors import UserError, shown_type
from causeway.network.battery import Batteries, Battery, batteries_by_node
from causeway.network.faults import NetworkFault
from causeway.network.field_shapes import WHOLE, check, check_shapes, checked_arguments, instance_of, is_number
from causeway.network.hexagons import hexagonal_places, tree_of
from causeway.network.links import Links
from causeway.network.movement import Place, Trace
from causeway.network.random import QUANTILE_BINS
from causeway.network.stays import Stays
from causeway.network.traffic import Sumo
from causeway.network.workload import Faults, Workload
from causeway.proto.contract import pb

WIRELESS: int = pb.Interface.WIRELESS
WIRE: int = pb.Interface.WIRE
WIRELESS_TCP: int = pb.Interface.WIRELESS_TCP
MS_NS = 1_000_000.0
WORKLOAD = instance_of(Workload, "Workload(nodes, messages=..., segments=(Segment(0, rate),))")


def _probabilities() -> NDArray[np.float64]:
    points = np.arange(QUANTILE_BINS + 1) / QUANTILE_BINS
    points[0], points[-1] = 0.5 / QUANTILE_BINS, 1 - 0.5 / QUANTILE_BINS
    return points


@checked_arguments
def normal_delay(mean_ms: float, sd_ms: float, minimum_ms: float = 0.0) -> NDArray[np.float64]:
    """Return the quantiles, in ns, of a normal delay. Values below the minimum become the minimum."""
    for name, value in (("mean_ms", mean_ms), ("sd_ms", sd_ms), ("minimum_ms", minimum_ms)):
        if not is_number(value) or not value >= 0:  # NaN is refused, too
            raise UserError(f"the {name} of a normal_delay is {value}; allowed: 0 and up")
    quantiles = ndtri(_probabilities()) if sd_ms > 0 else np.zeros(QUANTILE_BINS + 1)
    return np.maximum(minimum_ms, mean_ms + sd_ms * quantiles) * MS_NS


@checked_arguments
def constant_delay(delay_ms: float) -> NDArray[np.float64]:
    """Return the quantiles, in ns, of a constant delay."""
    _check_delay("constant_delay", delay_ms=delay_ms)
    return np.full(QUANTILE_BINS + 1, delay_ms * MS_NS)


@checked_arguments
def uniform_delay(low_ms: float, high_ms: float) -> NDArray[np.float64]:
    """Return the quantiles, in ns, of a uniform delay."""
    _check_delay("uniform_delay", low_ms=low_ms, high_ms=high_ms)
    return (low_ms + (high_ms - low_ms) * np.arange(QUANTILE_BINS + 1) / QUANTILE_BINS) * MS_NS


def _check_delay(kind: str, **times_ms: float) -> None:
    for name, value in times_ms.items():
        if not is_number(value):
            raise UserError(f"the {name} of a {kind} is {value!r}; allowed: a number of milliseconds")


def _check_faults_of_network(network_faults: object) -> None:
    """Refuse a single fault in place of a tuple of them."""
    if not isinstance(network_faults, tuple | list):
        raise UserError(
            f"network_faults is {shown_type(network_faults)}; allowed: a tuple of LinkFailure, Jammer and Partition, "
            "as in network_faults=(Partition(...),)"
        )


def _check_stays(network: AbstractNetwork | MobileNetwork | InetNetwork) -> None:
    if network.stays is not None:
        check(network, "stays", instance_of(Stays, "Stays.poisson(nodes, per_s=5, mean_s=20, seed=seed)"))


def _with_own_nodes(network: AbstractNetwork | MobileNetwork | InetNetwork, nodes: int, first_host: int = 0) -> None:
    """Fill in the nodes of a workload that gets them from its network."""
    if isinstance(network.workload, Workload) and WHOLE.fits(nodes):
        object.__setattr__(network, "workload", network.workload.on(nodes, first_host))


@former_arguments(
    "nodes delay workload loss send_ps send_ps_per_byte recv_ps faults network_faults",
    most=1, former_names={"delay_quantiles_ns": "delay", "trouble": "network_faults"},
)  # fmt: skip
@checked_arguments
@dataclass(frozen=True)
class AbstractNetwork:
    """N processes, any-to-any packets with a delay model: `AbstractNetwork(20, loss=0.3)`."""

    nodes: int
    _: KW_ONLY
    delay: NDArray[np.float64] = field(default_factory=lambda: normal_delay(100, 20))
    """The delay of a copy of a packet: `constant_delay`, `uniform_delay` or `normal_delay`, by default
    `normal_delay(100, 20)`: 100 ms on average, with a standard deviation of 20 ms."""
    workload: Workload = field(default_factory=Workload)
    loss: float = 0.0
    send_ps: int = 0
    send_ps_per_byte: int = 0
    recv_ps: int = 0
    faults: Faults = field(default_factory=Faults)
    network_faults: tuple[NetworkFault, ...] = ()
    """Link failures and partitions; a jammer needs a mobile network."""
    links: Links | None = None
    """Links with latencies, losses and bandwidths of their own. By default, any node reaches any other with `delay`."""
    stays: Stays | None = None
    """The stays of nodes that come and go (`Stays.poisson`). By default, all nodes are present all the time."""
    battery: Batteries = None
    """The battery of every node, or a tuple with a battery or None for each. By default, energy is not counted."""
    node_xy_mm: tuple[Place, ...] = ()
    """The position of each node on the map of an animation: x and y, or x, y and the height z. Packets do not depend on
    it."""
    places_every_ps: int = 0
    """Anything but 0: packets, losses and failures of nodes are recorded for an animation (`causeway run --animate`),
    which needs `node_xy_mm`."""

    def __post_init__(self) -> None:
        check_shapes(self)
        check(self, "nodes", WHOLE)
        if len(self.node_xy_mm) not in (0, self.nodes):
            raise UserError(
                f"node_xy_mm has {len(self.node_xy_mm)} positions for {self.nodes} nodes; allowed: one for each node, "
                "or none"
            )
        if self.places_every_ps and not self.node_xy_mm:
            raise UserError("AbstractNetwork: places_every_ps records an animation, which needs node_xy_mm; set both")
        if self.links is not None:
            check(self, "links", instance_of(Links, "Links(latencies_ms)"))
            self.links.site_of(self.nodes)
        check(self, "workload", WORKLOAD)
        _check_stays(self)
        _check_faults_of_network(self.network_faults)
        _with_own_nodes(self, self.nodes)
        _ = self.batteries

    @property
    def batteries(self) -> dict[int, Battery]:
        """The battery of each node that has one."""
        return batteries_by_node(self, self.battery, range(self.nodes))

    @property
    def longest_delay_ps(self) -> int | None:
        """The longest time between the departure and the arrival of a copy, or None if copies wait in queues."""
        if self.send_ps or self.send_ps_per_byte or self.recv_ps:
            return None
        own_ps = 1000 * math.ceil(float(np.max(self.delay, initial=0)) + 1)
        if self.links is None:
            return own_ps
        return None if self.links.bandwidths.size else own_ps + self.links.longest_delay_ps


@former_arguments(
    "station_xy_mm wires hosts workload faults cell_radius_mm wire_bps wire_delay_ps",
    former_names={"trouble": "network_faults"},
)
@checked_arguments
@dataclass(frozen=True, kw_only=True)
class MobileNetwork:
    """Stations (nodes 0..S-1) connected by wires, and hosts (the next nodes) on one wireless channel.

    Without stations it is an ad hoc network; `host_xy_mm`, `traces` or `area_mm` then place the hosts.
    """

    station_xy_mm: tuple[Place, ...] = ()
    """The position of each station: x and y, or x, y and the height z."""
    wires: tuple[tuple[int, int], ...] = ()
    """Pairs of stations."""
    hosts: int = 0
    workload: Workload = field(default_factory=Workload)
    faults: Faults = field(default_factory=Faults)
    cell_radius_mm: int = 120_000
    """The range of a radio and the radius of a cell. Interference range and transmission power are proportional to it.
    """
    wire_bps: int = 10_000_000
    wire_delay_ps: int = 10_000_000_000
    wire_delayed_acks: bool = False
    """TCP on the wires acknowledges within 200 ms instead of at once. On INET, a message then waits until the previous
    one is acknowledged (Nagle's algorithm). ns-3's TCP always acknowledges in this way, but its messages never wait."""
    radio: str = "unitdisk"
    radio_bps: int = 0
    """The bit rate of the wireless channel; 0: the default of the radio."""
    speed_mm_s: int = 0
    covered_only: bool = True
    position_every_ps: int = 0
    host_tcp: bool = False
    host_xy_mm: tuple[Place, ...] = ()
    """The start position of each host: x and y, or x, y and the height z. If it is empty, positions in the cells are
    drawn from the seed, the same on all engines."""
    host_speeds_mm_s: tuple[int, ...] = ()
    """The speed of each host (0: it stands). If it is empty, all hosts have `speed_mm_s`."""
    traces: tuple[Trace | None, ...] = ()
    """The trace of each host, or None for a host that stands or walks like the others. If it is empty, no host has a
    trace."""
    area_mm: tuple[int, ...] = ()
    """The x and y of two corners: the area where hosts walk (and start) without stations, or with `covered_only=False`.
    If it is empty, the area is a box around the cells."""
    network_faults: tuple[NetworkFault, ...] = ()
    places_every_ps: int = 0
    """The interval at which the positions of all nodes are recorded (`causeway run --animate`). Nodes do not notice
    this."""
    stays: Stays | None = None
    """The stays of nodes that come and go (`Stays.poisson`). By default, all nodes are present all the time."""
    movement: Sumo | None = None
    """A simulation of SUMO whose vehicles are the hosts: `Sumo("city.sumocfg")`. It needs a station, whose timer drives
    its steps, and as many hosts as there are vehicles at once."""
    battery: Batteries = None
    """The battery of every host, or a tuple with a battery or None for each. By default, energy is not counted."""

    def __post_init__(self) -> None:
        check_shapes(self)
        check(self, "workload", WORKLOAD)
        _check_stays(self)
        check(self, "hosts", WHOLE)
        _check_faults_of_network(self.network_faults)
        if self.movement is not None:
            self._check_movement()
        if len(self.host_xy_mm) not in (0, self.hosts):
            raise UserError(
                f"host_xy_mm has {len(self.host_xy_mm)} positions for {self.hosts} hosts; allowed: one for each host, "
                f"or none"
            )
        for name, what in (("host_speeds_mm_s", "speeds"), ("traces", "traces")):
            count = len(getattr(self, name))
            if count not in (0, self.hosts):
                raise UserError(
                    f"{name} has {count} {what} for {self.hosts} hosts; allowed: one for each host, or none"
                )
        _with_own_nodes(self, self.nodes, len(self.station_xy_mm))
        _ = self.batteries

    @property
    def batteries(self) -> dict[int, Battery]:
        """The battery of each host that has one."""
        return batteries_by_node(self, self.battery, range(len(self.station_xy_mm), self.nodes))

    def _check_movement(self) -> None:
        """Refuse what contradicts SUMO."""
        check(self, "movement", instance_of(Sumo, 'Sumo("city.sumocfg")'))
        if not self.station_xy_mm:
            raise UserError("MobileNetwork: movement=Sumo(...) needs a station, as in station_xy_mm=((0, 0),)")
        for name in ("traces", "stays", "host_speeds_mm_s", "speed_mm_s"):
            if getattr(self, name):
                raise UserError(f"MobileNetwork: {name} and movement=Sumo(...) contradict each other; remove one")

    @property
    def vehicle_nodes(self) -> tuple[int, ...]:
        """The nodes that are vehicles of SUMO."""
        return () if self.movement is None else tuple(range(len(self.station_xy_mm), self.nodes))

    @property
    def first_places_mm(self) -> tuple[Place, ...]:
        """The start of each host, where it is known: `host_xy_mm`, or (0, 0) until a vehicle comes."""
        return self.host_xy_mm or (((0, 0),) * self.hosts if self.movement is not None else ())

    @classmethod
    @checked_arguments
    def hexagons(cls, *, cells: int = 7, spacing: int = 208_000, hosts: int, **fields: Any) -> MobileNetwork:
        """Return a network with one station in the centre and rings of 6, 12, 18, ... around it, wired as a tree.

        Args:
            cells: The number of stations; 1, 7, 19, 37, ... make complete rings.
            spacing: The distance between neighbours in mm (`metres(208)`). With the default, cells of the usual radius
                (120 m) just cover the plane.
            hosts: The number of hosts.
            fields: Any other field of a MobileNetwork, such as `radio` or `speed_mm_s`.
        """
        if not WHOLE.fits(spacing):
            raise UserError(
                f"hexagons: spacing is {spacing!r}; allowed: whole millimetres, as metres(208) returns them"
            )
        places = hexagonal_places(cells, spacing)
        return cls(station_xy_mm=places, wires=tree_of(places), hosts=hosts, **fields)

    @property
    def nodes(self) -> int:
        """The number of stations and hosts."""
        return len(self.station_xy_mm) + self.hosts


@former_arguments("nodes ini workload config hosts run ned_path libs faults places_every_ps", most=1)
@checked_arguments
@dataclass(frozen=True)
class InetNetwork:
    """A user's own INET network, unmodified. Its ini file describes it and selects the hosts that are nodes.

    Interface 0 is UDP over INET's routes; interfaces 1 and 2 are TCP. If `hosts` is "", the ini file itself selects the
    nodes (`causeway-nodes`, or applications of type ProtocolApp).
    """

    nodes: int = 0
    """The number of hosts that are nodes 0, 1, ..., in the order of their NED paths. By default, all hosts that `hosts`
    or the ini file selects: INET builds the network once before the run and counts them."""
    _: KW_ONLY
    ini: str
    workload: Workload = field(default_factory=Workload)
    config: str = "General"
    hosts: str = ""
    """Patterns of NED paths, separated by spaces: "**.host[*]"."""
    run: int = 0
    """The number of the configuration's run: a combination of its iteration variables."""
    ned_path: tuple[str, ...] = ()
    """Roots of NED packages. If it is empty: the folder of the ini file, and INET's own examples, tutorials and
    showcases."""
    libs: tuple[str, ...] = ()
    """Further model libraries, without lib and .so."""
    models: tuple[str, ...] = ()
    """Projects of models whose NED folders and library are found: "simu5g" (SIMU5G_ROOT, or simu5g* beside INET)."""
    faults: Faults = field(default_factory=Faults)
    places_every_ps: int = 0
    """See `MobileNetwork`."""
    stays: Stays | None = None
    """The stays of nodes that come and go (`Stays.poisson`). By default, all nodes are present all the time."""
    movement: Sumo | None = None
    """A simulation of SUMO that moves hosts: `Sumo("city.sumocfg")`. The mobility module of these hosts is
    `SumoMobility`, and there are as many as vehicles at once."""
    vehicles: tuple[int, ...] = ()
    """The nodes that are SUMO's vehicles, as in `range(20)`. By default, all nodes."""

    def __post_init__(self) -> None:
        if isinstance(self.vehicles, range):
            object.__setattr__(self, "vehicles", tuple(self.vehicles))
        check_shapes(self)
        check(self, "nodes", WHOLE)
        check(self, "run", WHOLE)
        check(self, "workload", WORKLOAD)
        _check_stays(self)
        if self.movement is not None or self.vehicles:
            self._check_movement()
        _with_own_nodes(self, self.nodes)

    def _check_movement(self) -> None:
        """Refuse what contradicts SUMO."""
        check(self, "movement", instance_of(Sumo, 'Sumo("city.sumocfg")'))
        if self.stays is not None:
            raise UserError("InetNetwork: stays and movement=Sumo(...) contradict each other; remove one")
        wrong = [node for node in self.vehicles if not WHOLE.fits(node) or not 0 <= node < (self.nodes or math.inf)]
        if wrong or len(set(self.vehicles)) < len(self.vehicles):
            shown = f"has {wrong[0]!r}" if wrong else "has a node twice"
            raise UserError(f"InetNetwork: vehicles {shown}; allowed: numbers of nodes, as in range(20), each once")

    @property
    def vehicle_nodes(self) -> tuple[int, ...]:
        """The nodes that are vehicles of SUMO."""
        return () if self.movement is None else self.vehicles or tuple(range(self.nodes))


Network = AbstractNetwork | MobileNetwork | InetNetwork
