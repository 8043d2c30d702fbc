"""The networks a study can ask for, in words every engine understands.

The abstract network
--------------------
N processes; any process sends a packet to any other, or to all others at once.

- A SEND in effect at t leaves at `max(t, cpu_free) + send_ps + send_ps_per_byte * size`; the sender's CPU serves its
  packets one after the other, in order of (t, packet). A broadcast is served once.
- The copy for receiver r travels for a delay drawn from (seed, packet, r), at least 1 ns, in whole ns; it is lost with
  probability `loss`, drawn likewise (a LOST event tells it at the instant it would have reached the receiver).
- The receiver's CPU serves copies one after the other, in order of (instant they reach it, packet), `recv_ps` each;
  the ARRIVAL event comes when it is done.
- Trouble (`bridge/trouble.py`): a copy that leaves while a cut or a partition stands between the two is lost.
- A node that is down sends nothing (a SEND in effect while it is down is dropped, and so is a packet that had not
  left when it went down), gets nothing (a copy whose ARRIVAL falls while it is down vanishes), and none of its timers
  or broadcasts comes up.

The mobile network
------------------
Stations joined by wires, hosts that move in one wireless channel. What happens on it is the packet-level simulator's
business; the fields say what to build. Interfaces: 0 UDP over the wireless channel (peer -1: local broadcast), 1 TCP
over the wires, 2 TCP over the wireless channel. Hosts stand, walk, follow traces (`bridge/traces.py`), or go where the
protocol sends them (the action MOVE): from then on they do nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri  # not scipy.stats: every command would wait half a second for it

from causeway.bridge.errors import UserError, shown_type
from causeway.bridge.random import QUANTILE_BINS
from causeway.bridge.schema import pb
from causeway.bridge.traces import Trace
from causeway.bridge.trouble import Trouble
from causeway.bridge.workload import Faults, Workload

WIRELESS: int = pb.Interface.WIRELESS
WIRE: int = pb.Interface.WIRE
WIRELESS_TCP: int = pb.Interface.WIRELESS_TCP
MS_NS = 1_000_000.0


def _probabilities() -> NDArray[np.float64]:
    points = np.arange(QUANTILE_BINS + 1) / QUANTILE_BINS
    points[0], points[-1] = 0.5 / QUANTILE_BINS, 1 - 0.5 / QUANTILE_BINS
    return points


def normal_delay(mean_ms: float, sd_ms: float, minimum_ms: float = 0.0) -> NDArray[np.float64]:
    """Return the quantiles, in ns, of a normal delay; what falls below the minimum is the minimum."""
    for name, value in (("mean_ms", mean_ms), ("sd_ms", sd_ms), ("minimum_ms", minimum_ms)):
        if not value >= 0:  # NaN too
            raise UserError(f"the {name} of a normal_delay is {value}; allowed: 0 and up")
    quantiles = ndtri(_probabilities()) if sd_ms > 0 else np.zeros(QUANTILE_BINS + 1)
    return np.maximum(minimum_ms, mean_ms + sd_ms * quantiles) * MS_NS


def constant_delay(delay_ms: float) -> NDArray[np.float64]:
    """Quantiles, in ns, of a constant delay."""
    return np.full(QUANTILE_BINS + 1, delay_ms * MS_NS)


def uniform_delay(low_ms: float, high_ms: float) -> NDArray[np.float64]:
    """Quantiles, in ns, of a uniform delay."""
    return (low_ms + (high_ms - low_ms) * np.arange(QUANTILE_BINS + 1) / QUANTILE_BINS) * MS_NS


def _check_trouble(trouble: object) -> None:
    """Refuse a single trouble in place of a tuple of troubles."""
    if not isinstance(trouble, tuple | list):
        raise UserError(
            f"the network's trouble is {shown_type(trouble)}; allowed: a tuple of Cut, Jammer and Partition, "
            "as in trouble=(Partition(...),)"
        )


@dataclass(frozen=True)
class AbstractNetwork:
    """N processes, any-to-any packets with a delay model."""

    nodes: int
    delay_quantiles_ns: NDArray[np.float64]
    workload: Workload
    loss: float = 0.0
    send_ps: int = 0
    send_ps_per_byte: int = 0
    recv_ps: int = 0
    faults: Faults = field(default_factory=Faults)
    trouble: tuple[Trouble, ...] = ()
    """Cuts and partitions; there is no place for a jammer."""

    def __post_init__(self) -> None:
        _check_trouble(self.trouble)


@dataclass(frozen=True)
class MobileNetwork:
    """Stations (nodes 0..S-1) on wires, hosts (the nodes after them) on one wireless channel. Without stations it is an
    ad hoc network: then `host_xy_mm`, `traces` or `area_mm` say where hosts are."""

    station_xy_mm: tuple[tuple[int, int], ...]
    wires: tuple[tuple[int, int], ...]
    hosts: int
    workload: Workload
    faults: Faults = field(default_factory=Faults)
    cell_radius_mm: int = 120_000
    """How far a radio reaches, and so who is in a cell. How far it disturbs, and its power, scale with it."""
    wire_bps: int = 10_000_000
    wire_delay_ps: int = 10_000_000_000
    wire_delayed_acks: bool = False
    """TCP on the wires acknowledges within 200 ms, not at once. On INET a message then waits until the one before it is
    acknowledged (Nagle's algorithm). ns-3's TCP always acknowledges so, and never waits."""
    radio: str = "unitdisk"
    radio_bps: int = 0
    """0: the radio's own default."""
    speed_mm_s: int = 0
    covered_only: bool = True
    position_every_ps: int = 0
    host_tcp: bool = False
    host_xy_mm: tuple[tuple[int, int], ...] = ()
    """Where each host starts. Empty: anywhere in the cells, drawn by the engine from the seed (the same on all)."""
    host_speeds_mm_s: tuple[int, ...] = ()
    """How fast each host walks (0: it stands). Empty: `speed_mm_s`."""
    traces: tuple[Trace | None, ...] = ()
    """The trace of each host; None: it stands or walks like the others. Empty: there are none."""
    area_mm: tuple[int, ...] = ()
    """x, y of two corners: where hosts walk (and start) without stations, or with `covered_only=False`. Empty: a box
    around the cells."""
    trouble: tuple[Trouble, ...] = ()
    places_every_ps: int = 0
    """How often the run's record says where every node is (`causeway run --animate`). No node sees it."""

    def __post_init__(self) -> None:
        _check_trouble(self.trouble)
        if len(self.host_xy_mm) not in (0, self.hosts):
            raise UserError(
                f"host_xy_mm has {len(self.host_xy_mm)} places for {self.hosts} hosts; give each one, or none at all"
            )
        for name, what in (("host_speeds_mm_s", "speeds"), ("traces", "traces")):
            given = len(getattr(self, name))
            if given not in (0, self.hosts):
                raise UserError(f"{name} has {given} {what} for {self.hosts} hosts; give each one, or none at all")

    @property
    def nodes(self) -> int:
        return len(self.station_xy_mm) + self.hosts


@dataclass(frozen=True)
class InetNetwork:
    """Somebody's own INET network, unedited: its ini file says what it is, and which of its hosts take part.

    Interface 0 is UDP, wherever INET's routes lead; interfaces 1 and 2 are TCP. Where `hosts` is "", the ini file
    itself names the nodes (`causeway-nodes`, or applications of type ProtocolApp).
    """

    nodes: int
    """How many hosts take part: nodes 0, 1, ... in the order of their NED paths."""
    ini: str
    workload: Workload
    config: str = "General"
    hosts: str = ""
    """Patterns of NED paths, separated by spaces: "**.host[*]"."""
    run: int = 0
    """Which of the runs of the configuration: a combination of its iteration variables."""
    ned_path: tuple[str, ...] = ()
    """Roots of NED packages. Empty: the folder of the ini file, and INET's own examples, tutorials and showcases."""
    libs: tuple[str, ...] = ()
    """More model libraries, without lib and .so."""
    faults: Faults = field(default_factory=Faults)
    places_every_ps: int = 0
    """As of a MobileNetwork."""


Network = AbstractNetwork | MobileNetwork | InetNetwork
