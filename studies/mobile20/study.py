"""A scalable causal broadcast that tolerates dynamics of mobile networks (technical report, 2020).

Seven stations, one in the middle of six (or of more rings), and hosts that stand or walk among them. A run consists of
`warmup_s` for joining; `duration_s` of the experiment, the only part that is measured; and a silence of at most
`drain_s`, until all messages have arrived.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field, model_validator

from causeway.analysis.plots import Headline, Plot, Scene, State
from causeway.bridge.events import Kind
from causeway.network.hexagons import Place, hexagonal_places, tree_of
from causeway.network.networks import MobileNetwork
from causeway.pycontrol.node import Node, PerNode
from causeway.pycontrol.protocols.mobile import Host, Meter, Station, Timing, tree_neighbours
from causeway.pycontrol.protocols.mobile.messages import what_about
from causeway.pycontrol.protocols.mobile.tcp_flooding import FloodingHost, FloodingStation
from causeway.studies.mobile20 import senders
from causeway.studies.mobile20.failures import VICTIM_STATION, Failures
from causeway.studies.mobile20.quiescence import EVERY_PS as REST_EVERY_PS
from causeway.studies.mobile20.quiescence import Rest
from causeway.studies.mobile20.sampler import CONNECTED, CONNECTING, DOWN, EVERY_PS, Sampler
from causeway.studies.mobile20.start_positions import host_places
from causeway.studies.mobile20.walks import turning
from causeway.studies.study import MS_PS, S_PS, Params, Study

if TYPE_CHECKING:
    from causeway.explore.checks import Checks

HOSTS_PER_CELL = 10
CELLS = (7, 19, 37, 61, 127)
"""One cell, with 1, 2, 3, 4 and 6 rings around it."""
SEVEN = 7
OF_THREE = ((0, 1), (0, 2), (0, 4), (1, 3), (1, 5), (1, 6))
"""The wires of seven stations, each with up to three more. The numbering is that of the authors' later program: two
neighbours, the station opposite the first one, then the others."""

EARLIER = {
    "retry_max_ps": 600 * MS_PS, "retry_min_ps": 600 * MS_PS, "host_retry_ps": 1500 * MS_PS,
    "station_ack_ps": 1000 * MS_PS,
}  # fmt: skip
"""The times of an older file beside the authors' later program: stations retry after 600 ms, hosts after 1,500 ms, and
stations acknowledge every 1,000 ms."""

SIZE_BYTES = 100
"""Size of an application message."""
SPEED_MM_S = 1_389
"""5 km/h, the speed of a walking host."""

FIRST_FAILURE_S = 15
"""The time from the beginning of the measured time to the first failure, in seconds."""
RATES = {"static": 5.6, "static_tcp": 5.6, "load": 35.0, "dynamic": 25.0, "faults": 25.0}
"""Broadcasts per second of the whole system, as in Section V."""

WARMUP_S = {"static_tcp": 60}
"""Experiments that need more than 5 s for joining."""
DRAIN_S = 600
"""The time that suffices for a cell that is overloaded at the last broadcast."""

Radio = Literal["unitdisk", "csma", "acking", "wifi"]
"""The radios with which the study was run. The chosen engine must support the chosen radio."""
Experiment = Literal["static", "static_tcp", "load", "dynamic", "faults"]


class Mobile20Params(Params):
    """The parameters of mobile20: one experiment of Section V."""

    experiment: Experiment = "static"
    cells: int = Field(
        7, ge=1, le=1_000, description="number of stations, in rings around the first: 7 (the paper), 19, 37, 61, 127"
    )
    hosts: int = Field(70, ge=1, le=10_000, description="number of hosts; default: ten per cell")
    rate: float = Field(
        0.0, ge=0, le=1e4, description="broadcasts per second of all hosts together; default: the paper's"
    )
    intervals: Literal["exponential", "staggered"] = Field(
        "exponential",
        description="intervals between broadcasts; staggered: hosts take turns, as in the authors' later program",
    )
    duration_s: int = Field(60, ge=1, le=86_400, description="simulated time that is measured")
    radio: Radio = Field(
        "unitdisk",
        description="radio model; acking: no medium access control, as in the authors' later program; INET only",
    )
    radio_bps: int = Field(0, ge=0, le=10**10, description="bit rate of the radio; 0: the engine's default")
    warmup_s: int = Field(
        0, ge=0, le=86_400, description="time in which hosts join before the first broadcast; 0: 5, for static_tcp 60"
    )
    drain_s: int = Field(0, ge=0, le=86_400, description="maximum time of the silence at the end of the run; 0: 600")
    spacing_m: float = Field(
        208.0, ge=1, le=10_000, description="distance between neighbouring stations; cells have a radius of 120 m"
    )
    placement: Literal["cells", "anywhere"] = Field(
        "cells",
        description="start positions of hosts; cells: equally many per cell, within 115 m; anywhere: at any place in "
        "the cells",
    )
    tree: Literal["star", "three"] = Field(
        "star",
        description="wires between stations; star: from the middle, ring by ring; three: at most three children per "
        "station, as the authors' generator",
    )
    acks: Literal["owed", "periodic", "turns", "intervals"] = Field(
        "owed",
        description="acknowledgements; owed: when one is due; periodic: as printed; turns: as printed, by hosts in "
        "turns; intervals: not in the paper, also for messages out of order",
    )
    retry: Literal["pending", "age", "earlier", "later"] = Field(
        "pending",
        description="interval of retransmissions; pending: 1 s to 200 ms, by the number of pending messages; age: by "
        "the message's age; earlier: the authors' earlier file; later: their later program with its acknowledgements",
    )
    wire_acks: Literal["delayed", "at_once"] = Field(
        "delayed",
        description="acknowledgements of TCP on the wires: within 200 ms, as the paper says, or at once; INET only",
    )
    tcp_spread_ms: int = Field(
        10_000, ge=1, le=3_600_000, description="hosts on TCP open their connections at random times in this interval"
    )
    outstanding: int = Field(
        150, ge=1, le=1_000_000, description="maximum number of unacknowledged messages of a station"
    )
    retry_full: int = Field(
        0,
        ge=0,
        le=1_000_000,
        description="retry=pending: number of pending messages at which the interval is 200 ms; 0: outstanding",
    )
    reach_m: float = Field(120.0, ge=1, le=10_000, description="range of the radio, and radius of a cell")
    walk: Literal["legs", "turning"] = Field(
        "legs",
        description="walks of hosts; legs: to one random point of the cells after the other; turning: a new direction "
        "every 5 s, as in the authors' later program",
    )
    covered: bool = Field(True, description="hosts that walk stay inside the cells")
    victims: Literal["connected", "start"] = Field(
        "connected",
        description="hosts that fail; connected: to station 3 at that time; start: those that began in the cell of "
        "station 3",
    )
    failure_s: int = Field(3, ge=1, le=3600, description="length of the first failure; the later ones are longer")
    forever: bool = Field(False, description="hosts that fail do not recover")
    forget_s: float = Field(
        0.0, ge=0, le=3600, description="time after which a station forgets a silent host (T of the paper); 0: never"
    )
    late_ack: bool = Field(
        False, description="a host that recovers acknowledges after 2 to 3 s, as in the authors' later program"
    )
    reaction_us: int = Field(1000, ge=1, le=100_000, description="reaction time of a node, L")
    trace: bool = Field(False, description="record the positions of hosts, for the animation")

    @model_validator(mode="before")
    @classmethod
    def _rate_and_hosts(cls, values: Any) -> Any:
        """Add defaults that depend on other parameters: the rate of the experiment, the hosts of the cells."""
        if not isinstance(values, dict):
            return values
        rate = RATES.get(values.get("experiment", "static"), 0.0)
        with_defaults = {"rate": rate, **values}
        if "cells" in values and "hosts" not in values and str(values["cells"]).isdecimal():
            with_defaults["hosts"] = HOSTS_PER_CELL * int(values["cells"])
        return with_defaults

    @model_validator(mode="after")
    def _fits_the_cells(self) -> Mobile20Params:
        if self.experiment == "faults" and self.cells <= VICTIM_STATION:
            raise ValueError(f"the hosts of station {VICTIM_STATION} fail, so cells must be larger than this number")
        if self.experiment == "faults" and self.duration_s <= FIRST_FAILURE_S:
            raise ValueError(
                f"duration_s={self.duration_s} ends before the first failure, which comes after {FIRST_FAILURE_S} s"
            )
        if not self.rate and (self.intervals == "staggered" or self.retry == "later"):
            raise ValueError("rate=0 gives no intervals between broadcasts; choose a rate above 0")
        if self.placement != "cells" and (self.walk == "turning" or self.victims == "start"):
            raise ValueError("walk=turning and victims=start need placement=cells, where each host has a first cell")
        if self.walk == "turning" and not self.covered:
            raise ValueError("walk=turning stays inside the cells; set covered=true, or choose walk=legs")
        if self.tree == "three" and self.cells != SEVEN:
            raise ValueError(f"tree=three connects {SEVEN} cells; set cells={SEVEN} or tree=star")
        return self

    @property
    def stations(self) -> tuple[Place, ...]:
        """Return the positions of the stations, in millimetres."""
        return hexagonal_places(self.cells, self.spacing_m * 1000)

    @property
    def wires(self) -> tuple[tuple[int, int], ...]:
        """Return the wires between stations, which form a tree."""
        return tree_of(self.stations) if self.tree == "star" else OF_THREE

    @property
    def walks(self) -> bool:
        """Return whether hosts walk."""
        return self.experiment in ("dynamic", "faults")

    @property
    def tcp(self) -> bool:
        """Return whether hosts and stations use flooding over TCP."""
        return self.experiment == "static_tcp"

    @property
    def from_ps(self) -> int:
        """Return the beginning of the measured time."""
        return (self.warmup_s or WARMUP_S.get(self.experiment, 5)) * S_PS

    @property
    def to_ps(self) -> int:
        """Return the end of the measured time."""
        return self.from_ps + self.duration_s * S_PS


READINGS: tuple[dict[str, Any], ...] = (
    {}, {"wire_acks": "at_once"}, {"tree": "three"}, {"radio": "csma"}, {"retry": "age"}, {"retry": "earlier"},
    {"acks": "turns"}, {"intervals": "staggered"},
)  # fmt: skip
"""Readings of the text and of the authors' programs, one at a time (docs/lab/radio.md)."""

OLDER_FILE: dict[str, Any] = {
    "radio": "acking", "radio_bps": 1_000_000, "retry": "earlier", "acks": "periodic", "wire_acks": "at_once",
}  # fmt: skip
"""The authors' older file as a whole. It has a radio range of 125 m; ours remains 120 m."""

UNBOUNDED_WINDOW = {"outstanding": 1_000_000, "retry_full": 150}
"""No limit on the number of messages in flight from a station. As by default, retransmissions are fastest at 150
pending messages."""

JOINT: tuple[dict[str, Any], ...] = tuple(
    {"tree": tree, "radio": radio, "radio_bps": mbps * 1_000_000, "wire_acks": wires, "retry": retry}
    for tree in ("star", "three")
    for radio in ("unitdisk", "csma", "acking")
    for mbps in (1, 2, 3, 4)
    for wires in ("at_once", "delayed")
    for retry in ("pending", "earlier")
)
"""The joint search: all combinations of values that the text leaves open and that the authors' files set differently.
"""
JOINT_EXPERIMENTS: dict[str, dict[str, Any]] = {
    e: {"experiment": e, "rate": RATES[e], "duration_s": 6} for e in ("static", "load", "dynamic")
}
"""6 s only screen the combinations."""
JOINT_BEST: dict[str, Any] = {"wire_acks": "at_once"}
"""Its nearest reading: the default, but for the wires."""
SCENE = Scene(
    place="station", thing="host", at="cell", state="state",
    states=(
        State(CONNECTED, "dot", "connected"),
        State(CONNECTING, "ring", "connecting"),
        State(DOWN, "cross", "down"),
    ),
    place_size="sbuffer", place_size_meaning="SBuffer", thing_size="rbuffer", thing_size_meaning="RBuffer",
    charts={
        "sbuffer_station_mean": "SBuffer of the stations, mean (messages)",
        "rbuffer_host_mean": "RBuffer of the hosts, mean (messages)",
        "delivery_delay_s": "Delivery delay (s)",
        "loss_rate": "Loss rate",
        "handoffs": "Handoffs a second",
    },
)  # fmt: skip
"""The animation of a run with trace=true."""


def _points(**fixed: Any) -> list[dict[str, Any]]:
    """Return a point for each experiment. Failures that grow by 1 s need 250 s."""
    return [{"experiment": e, **({"duration_s": 250} if e == "faults" else {}), **fixed} for e in RATES]


class Mobile20Study(Study):
    """The experiments of Section V."""

    name = "mobile20"
    title = "Causal broadcast for mobile hosts, against flooding over TCP"
    paper = "mobile20"
    published = "published.csv"
    Params = Mobile20Params
    sweeps: ClassVar[Mapping[str, Any]] = {
        "smallest": [{"hosts": 7, "duration_s": 1, "warmup_s": 1, "drain_s": 1}],
        "demo": [{"experiment": e, "duration_s": 20, "trace": True} for e in ("static", "dynamic")],
        "paper": _points(),
        "paper-acking": _points(radio="acking"),
        "paper-wifi": _points(radio="wifi"),
        "paper-literal": _points(spacing_m=180.0, placement="anywhere"),
        "acks": [
            {"experiment": e, "acks": acks}
            for e in ("static", "load", "dynamic")
            for acks in ("owed", "periodic", "intervals")
        ],
        "tcp-setup": [
            {"experiment": "static_tcp", "radio": "acking", "tcp_spread_ms": ms, "warmup_s": 150}
            for ms in (100, 10_000)
        ],
        "tcp-rate": [
            {"experiment": e, "radio": "acking", "radio_bps": mbps * 1_000_000}
            for mbps in (1, 2, 4, 20)
            for e in ("static_tcp", "static", "load")
        ],
        "readings": [{"experiment": e, **reading} for reading in READINGS for e in ("static", "load")],
        "joint": [{**reading, **experiment} for reading in JOINT for experiment in JOINT_EXPERIMENTS.values()],
        "joint-best": [{"experiment": e, **JOINT_BEST} for e in JOINT_EXPERIMENTS],
        "older-file": _points(**OLDER_FILE),
        "text": _points(spacing_m=180.0, placement="anywhere", acks="periodic"),
        "victims": [
            {"experiment": "faults", "duration_s": 250, "wire_acks": wires, **how}
            for wires in ("delayed", "at_once")
            for how in ({"victims": "start"}, {"victims": "start", "late_ack": True})
        ],
        "walks": [{"experiment": "dynamic", "walk": walk} for walk in ("legs", "turning")],
        "reach": [{"experiment": e, "reach_m": m} for m in (120.0, 125.0, 130.0) for e in ("static", "load")],
        "window": [
            {"experiment": "load", "outstanding": most, "retry_full": full}
            for most in (150, 400, 1_000_000)
            for full in (150, 400)
        ],
        "tcp-load": [{"experiment": "static_tcp", "rate": rate, "drain_s": 60} for rate in (5.6, 11.2, 17.5, 35.0)],
        "forever": [
            {"experiment": "faults", "forever": True, "forget_s": after, "duration_s": 60, "drain_s": 1}
            for after in (0.0, 10.0)
        ],
        "uncovered": [{"experiment": "dynamic", "covered": c, "drain_s": 30} for c in (True, False)],
        "instability": [
            {"experiment": "faults", "failure_s": length, "duration_s": 44, "drain_s": 30, **UNBOUNDED_WINDOW}
            for length in (4, 8, 16, 24)
        ],
        "mobility": [{"experiment": e, "rate": 25.0} for e in ("static", "dynamic")],
        "rates": [{"experiment": "static", "rate": rate} for rate in (5.6, 10.0, 15.0, 20.0, 25.0, 30.0, 35.0)],
        "cells": [{"cells": cells, "duration_s": 20} for cells in CELLS],
        "hosts": [{"experiment": "dynamic", "hosts": hosts} for hosts in (35, 70, 140, 280)],
        "versions": [{"experiment": e, "rate": 5.6, "duration_s": 20} for e in ("static", "dynamic")],
    }
    headlines = (
        Headline("delay", "delivery_delay_s", "s", "mean time from broadcast to delivery, over hosts"),
        Headline("loss", "loss_application", "", "share of the application's copies that receivers in reach lose"),
        Headline("sent", "sent_per_delivery", "packets", "sent for each delivery"),
        Headline("SBuffer", "sbuffer_station_mean", "messages", "messages that a station keeps for its hosts, mean"),
        Headline("violations", "violations", "deliveries", "out of causal order"),
        Headline("missing", "missing", "deliveries", "not delivered at the end"),
    )
    scene = SCENE
    plots = (
        Plot("Messages in a station's SBuffer, by rate", "mobile20", "sbuffer_station_mean", "rate", "radio",
             {"experiment": "static"}, "mobile20, Section V-A"),
        Plot("Messages in a station's SBuffer, by cells", "mobile20", "sbuffer_station_mean", "cells",
             "experiment", {"duration_s": 20}, x_label="cells (stations)", y_label="messages", log_x=True),
        Plot("Delivery delay, by cells", "mobile20", "delivery_delay_s", "cells", "experiment",
             {"duration_s": 20}, x_label="cells (stations)", y_label="s", log_x=True),
        Plot("SBuffer of the stations over time", "mobile20", "sbuffer_station_mean", series="experiment",
             paper="mobile20, Fig. 6a, 7a, 8a", kind="time", y_label="messages"),
        Plot("RBuffer of the hosts over time", "mobile20", "rbuffer_host_mean", series="experiment",
             paper="mobile20, Fig. 6c, 7a", kind="time", y_label="messages"),
        Plot("SBuffer of the station whose hosts fail, over time", "mobile20", "sbuffer_station_3", series="radio",
             where={"experiment": "faults"}, paper="mobile20, Fig. 8b", kind="time", y_label="messages"),
        Plot("Messages of stations to their cells, over time", "mobile20", "air_App_sh_per_s", series="experiment",
             paper="mobile20, Fig. 6d, 7b", kind="time", y_label="messages per second"),
        Plot("Acknowledgements of hosts over time", "mobile20", "air_ack_h_per_s", series="experiment",
             paper="mobile20, Fig. 6d, 7b", kind="time", y_label="messages per second"),
        Plot("Delivery delay over time", "mobile20", "delivery_delay_s", series="experiment", kind="time",
             y_label="s"),
        Plot("Loss rate over time", "mobile20", "loss_rate", series="experiment", kind="time"),
    )  # fmt: skip

    def network(self, params: Mobile20Params, seed: int) -> MobileNetwork:
        """Return stations with wires between them, and hosts that stand or walk."""
        stations = params.stations
        load = (params.cells, params.hosts, params.rate, SIZE_BYTES, params.from_ps, params.to_ps)
        reach_mm = round(params.reach_m * 1000)
        starts = host_places(stations, params.hosts, seed) if params.placement == "cells" else ()
        turns = params.walks and params.walk == "turning"
        until_s = params.to_ps // S_PS
        return MobileNetwork(
            station_xy_mm=stations,
            host_xy_mm=() if turns else starts,
            traces=turning(stations, starts, reach_mm, SPEED_MM_S, until_s, seed) if turns else (),
            cell_radius_mm=reach_mm,
            covered_only=params.covered,
            wires=params.wires,
            wire_delayed_acks=params.wire_acks == "delayed",
            hosts=params.hosts,
            workload=senders.poisson(*load) if params.intervals == "exponential" else senders.in_turn(*load, seed),
            radio=params.radio,
            radio_bps=params.radio_bps,
            speed_mm_s=SPEED_MM_S if params.walks else 0,
            position_every_ps=S_PS if params.walks else 0,
            host_tcp=params.tcp,
        )

    def protocol(self, params: Mobile20Params) -> MobileRun:
        """Return the nodes of a run, and their meter."""
        return MobileRun(params, self.network(params, 0) if params.trace else None)

    def checks(self, params: Mobile20Params) -> Checks:
        """Return the settings of `causeway check mobile20`."""
        from causeway.studies.mobile20 import exploration

        return exploration.checks(params)

    def reaction_ps(self, params: Mobile20Params) -> int:
        """Return the reaction time, which is a parameter."""
        return params.reaction_us * (MS_PS // 1000)

    def duration_ps(self, params: Mobile20Params) -> int:
        """Return the latest possible end of the run: the measured time and the longest silence."""
        return params.to_ps + (params.drain_s or DRAIN_S) * S_PS

    def scalars(self, params: Mobile20Params, scalars: dict[str, float]) -> dict[str, float]:
        """Add the simulator's counts on the wireless channel during the whole run.

        `loss_all` is the share of copies in reach that were lost, including acknowledgements and copies that no host
        needs. On TCP, the number of frames sent is added, too: segments and their acknowledgements.
        """
        if "loss_rate" in scalars:
            scalars["loss_all"] = scalars.pop("loss_rate")
        if params.tcp and scalars["deliveries"]:
            frames, size = (scalars[f"station_{what}"] + scalars[f"host_{what}"] for what in ("frames", "bytes"))
            scalars["sent_per_delivery"] = frames / scalars["deliveries"]
            scalars["sent_per_s"], scalars["sent_bytes_per_s"] = frames / params.duration_s, size / params.duration_s
        return scalars


def _timing(params: Mobile20Params) -> Timing:
    if params.retry == "later":
        return _later_program_timing(params)
    return Timing(
        outstanding=params.outstanding,
        idle_acks=params.acks in ("periodic", "turns"),
        ack_turns=params.hosts if params.acks == "turns" else 0,
        ack_intervals=params.acks == "intervals",
        retry_by_age=params.retry == "age",
        retry_full=params.retry_full,
        late_first_ack=params.late_ack,
        forget_ps=round(params.forget_s * S_PS),
        **(EARLIER if params.retry == "earlier" else {}),
    )


def _began_in_cell(params: Mobile20Params) -> tuple[int, ...]:
    """Return the hosts that began in the cell of station 3, if victims are drawn among them."""
    if params.victims == "connected":
        return ()
    return tuple(range(params.cells + VICTIM_STATION, params.cells + params.hosts, params.cells))


def _later_program_timing(params: Mobile20Params) -> Timing:
    """Return the times of the authors' later program.

    All times depend on the load, hosts acknowledge intervals, and the number of unacknowledged messages is unbounded.
    """
    base_ps = round(50 * S_PS / params.rate)
    return Timing(
        ack_ps=2 * base_ps, station_ack_ps=base_ps, idle_acks=True, ack_turns=params.hosts, ack_intervals=True,
        retry_max_ps=base_ps, retry_min_ps=base_ps // 2, retry_by_age=True, host_retry_ps=2 * base_ps,
        outstanding=1_000_000,
    )  # fmt: skip


class MobileRun(PerNode):
    """The nodes of one run, with their meter, sampler and failures."""

    passive = (Kind.LOST,)

    def __init__(self, params: Mobile20Params, map_: MobileNetwork | None) -> None:
        self.params = params
        self.meter = Meter(params.from_ps, params.to_ps)
        self.sampler = Sampler(self.meter, params.cells, map_)
        self.failures = Failures(
            params.to_ps, first_length_ps=params.failure_s * S_PS, of_start=_began_in_cell(params),
            forever=params.forever,
        )  # fmt: skip
        self._neighbours = tree_neighbours(params.cells, params.wires)
        self._timing = _timing(params)
        super().__init__(self._node)
        self.every(EVERY_PS, self.sampler.run)
        self.every(REST_EVERY_PS, Rest().run, first_ps=params.to_ps)
        if params.experiment == "faults":
            first_ps = params.from_ps + FIRST_FAILURE_S * S_PS
            self.every(self.failures.every_ps, self.failures.run, node=VICTIM_STATION, first_ps=first_ps)

    def about(self, content: Any) -> tuple[Iterable[int], Iterable[int]]:
        """Return the messages that a packet carries and the nodes that it mentions."""
        return what_about(content)

    def scalars(self) -> Mapping[str, float]:
        """Return the scalars of the nodes, the meter, the sampler and the failures."""
        found = {**super().scalars(), **self.meter.scalars(self.params.duration_s * S_PS), **self.sampler.scalars()}
        series = self.context.samples.get((f"station[{VICTIM_STATION}]", "sbuffer"), ([], []))
        return found | self.failures.scalars(series)

    def _node(self, id_: int) -> Node:
        station = id_ < self.params.cells
        if self.params.tcp and station:
            return FloodingStation(self.meter, self._neighbours[id_])
        if self.params.tcp:
            return FloodingHost(self.meter, self.params.tcp_spread_ms * MS_PS)
        if station:
            return Station(self._timing, self.meter, self._neighbours[id_])
        return Host(self._timing, self.meter)
