"""Batteries: the accounts equal a plain recount, an empty one makes its node fail, on every engine alike."""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import causeway as cw
from causeway.bridge import engines
from causeway.bridge.engine import RunSpec
from causeway.bridge.events import Act, Kind, column
from causeway.errors import RunError, UserError
from causeway.network.battery import Battery
from causeway.network.networks import constant_delay
from causeway.pycontrol import batteries
from causeway.pycontrol.loop import run_protocol
from tests.helpers import inet_probe, ns3_probe
from tests.helpers.drawn import examples

S, MS = 10**12, 10**9
L_PS = 2 * MS
needs_omnet = [pytest.mark.omnet, pytest.mark.skipif(inet_probe.WHY_NOT is not None, reason=str(inet_probe.WHY_NOT))]


class Talker(cw.Node):
    """Sends packets of random sizes at random times, and changes its load."""

    def on_start(self):
        self.tries, self.downs = [], []
        self.after(self.rng.randrange(50 * MS), self.talk)

    def talk(self):
        size = self.rng.randrange(1, 100)
        if self.rng.random() < 0.2 and self.id != 1:
            self.battery.load_w = self.rng.randrange(3) / 2
            self.tries.append((self.now_ps, "load", self.battery.load_w))
        self.tries.append((self.now_ps, "send", size))
        self.send(cw.EVERYONE if self.rng.random() < 0.7 else (self.id + 1) % self.node_count, None, size)
        self.after(self.rng.randrange(50 * MS), self.talk)

    def on_down(self):
        self.downs.append(self.now_ps)


class Watched(cw.PerNode):
    """Writes down what the engine reports and what the nodes really send."""

    def __init__(self, make=Talker):
        super().__init__(make)
        self.arrivals, self.sizes, self.sent = defaultdict(list), {}, defaultdict(list)

    def on_window(self, window):
        for row in np.flatnonzero(window.kind == Kind.ARRIVAL):
            self.arrivals[int(window.node[row])].append((int(window.time_ps[row]), int(window.ref[row])))
        actions = super().on_window(window)
        kind, node, ref = (column(actions, name) for name in ("kind", "node", "ref"))
        for row in np.flatnonzero(kind == Act.SEND):
            self.sizes[int(ref[row])] = int(column(actions, "size_bytes")[row])
            self.sent[int(node[row])].append(int(column(actions, "time_ps")[row]) - L_PS)
        return actions


def recount(battery: Battery, tries, arrivals, sizes, end_ps: int):
    """Return what was drawn, the times of the packets that could be paid, and when the battery was empty."""
    left = full = Fraction(battery.capacity_j)
    power, at, empty, paid = Fraction(battery.idle_w), Fraction(0), None, []
    received = [(t, "receive", sizes[packet]) for t, packet in arrivals]
    happened = sorted([*tries, *received], key=lambda one: (one[0], one[1] != "receive"))
    for t, what, value in [*happened, (end_ps, "", 0)]:
        drawn = power * (t - at) / S
        if drawn >= left and empty is None:
            empty = at + left / power * S
        left, at = left - min(left, drawn), Fraction(t)
        if left == 0:
            break
        if what == "load":
            power = Fraction(battery.idle_w) + Fraction(value)
            continue
        if not what:
            break
        each, byte = (Fraction(getattr(battery, name)) for name in (f"{what}_j", f"{what}_j_per_byte"))
        cost = each + byte * value
        if cost <= left and what == "send":
            paid.append(t)
        left -= min(cost, left)
        if left == 0 and empty is None:
            empty = Fraction(t)
    return full - left, paid, empty


def run(battery, nodes=4, engine="inline", seed=1, until=2 * S, cap=0, make=Talker, **fields):
    protocol = Watched(make)
    network = cw.AbstractNetwork(nodes, delay=constant_delay(5), battery=battery, **fields)
    spec = RunSpec("test", {}, seed, network, L_PS, until, cap=cap)
    return protocol, run_protocol(engines.get(engine), spec, protocol, [])


def shares(most):
    """Return numbers that are exact as floats."""
    return st.integers(0, most).map(lambda n: n / 1024)


@settings(max_examples=examples(40))
@given(
    st.builds(
        Battery, st.integers(1, 4000).map(lambda n: n / 1024), idle_w=st.sampled_from([0.0, 0.5, 1.0]),
        send_j=shares(40), send_j_per_byte=shares(1), receive_j=shares(20), receive_j_per_byte=shares(1),
    ),
    st.integers(1, 1000),
)  # fmt: skip
def test_the_energy_equals_a_plain_recount(battery: Battery, seed: int) -> None:
    """And what a node really sends is what its battery could pay; afterwards it is down."""
    protocol, result = run(battery, seed=seed)
    total = 0.0
    for node in protocol.nodes:
        used, paid, empty = recount(battery, node.tries, protocol.arrivals[node.id], protocol.sizes, 2 * S)
        assert node.battery.used_j == pytest.approx(float(used), rel=1e-12)
        assert result.engine_scalars[f"node[{node.id}]", "joules"] == node.battery.used_j
        assert protocol.sent[node.id] == paid
        assert len(node.downs) == (empty is not None and empty + 3 * L_PS < 2 * S) or (empty or 0) + 3 * L_PS >= 2 * S
        if node.downs:
            assert empty is not None and empty + L_PS <= node.downs[0] + 1 <= empty + 2 * L_PS + 2
        total += node.battery.used_j
    assert result.scalars["joules"] == pytest.approx(total)


def test_a_battery_that_pays_everything_fails_the_recount(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batteries.Accounts, "_pays", lambda *_: True)
    battery = Battery(0.5, send_j=0.25, receive_j=0.0625)
    protocol, _ = run(battery)
    node = protocol.nodes[0]
    _, paid, _ = recount(battery, node.tries, protocol.arrivals[0], protocol.sizes, 2 * S)
    assert protocol.sent[0] != paid


@pytest.mark.parametrize("engine", ["inline", pytest.param("omnet", marks=needs_omnet)])
@pytest.mark.parametrize("cap", [0, 1])
def test_the_digest_and_the_joules_are_equal_on_all_engines(engine: str, cap: int) -> None:
    battery = Battery(2.0, idle_w=0.5, send_j=0.01, receive_j=0.004, receive_j_per_byte=1e-4)
    _, expected = run((battery, None, battery, battery), until=4 * S, loss=0.1)
    _, found = run((battery, None, battery, battery), until=4 * S, loss=0.1, engine=engine, cap=cap)
    assert found.digest == expected.digest
    assert found.scalars["joules"] == expected.scalars["joules"] and found.scalars["empty_batteries"] == 3


class Idle(Talker):
    def talk(self):
        pass


class Drone(Idle):
    def on_start(self):
        super().on_start()
        self.after(S, self.take_off)

    def take_off(self):
        self.battery.load_w = 100.0
        self.started = self.now_ps


@pytest.mark.parametrize("probe", [
    pytest.param("inline", id="inline"),
    pytest.param("ns3", marks=ns3_probe.needs_ns3),
    pytest.param("omnet", marks=needs_omnet),
])  # fmt: skip
def test_a_node_fails_one_reaction_time_after_its_battery_is_empty(probe: str) -> None:
    battery = Battery(100.0, idle_w=2.0)
    if probe == "inline":
        network: cw.Network = cw.AbstractNetwork(2, battery=battery)
    else:
        network = cw.MobileNetwork(hosts=2, host_xy_mm=((0, 0, 5000), (5, 5)), battery=battery)
    found = cw.run(Drone, network, engine=probe, until=60 * S, reaction=L_PS)
    for node in found.nodes:
        left = Fraction(100) - Fraction(2) * node.started / S
        empty = node.started + left / 102 * S
        assert node.downs == [-(-empty.numerator // empty.denominator) + L_PS]
        assert node.battery.left_j == 0 and node.battery.used_j == 100.0
    assert found.scalars["empty_batteries"] == 2 and found.scalars["joules"] == 200.0


class Flyer(Idle):
    """Flies and hovers; node 1 follows a trace."""

    def on_start(self):
        super().on_start()
        self.reports = []
        if self.id == 0:
            self.move(30_000, 40_000, 10_000, z_mm=20_000)
            self.after(8 * S, self.move, 0, 0, 4_000)

    def on_station(self, station, x_mm, y_mm, z_mm=0):
        self.reports.append((self.now_ps, (x_mm, y_mm, z_mm)))


FLIGHT = [
    pytest.param("ns3", marks=ns3_probe.needs_ns3),
    pytest.param("omnet", marks=needs_omnet),
]


def fly(engine: str, capacity_j: float, until: int, make: type[cw.Node] = Flyer) -> cw.Run:
    battery = Battery(capacity_j, idle_w=2.0, move_w=50.0, move_j_per_m=0.3)
    network = cw.MobileNetwork(
        hosts=3, host_xy_mm=((0, 0, 0), (5, 5), (9, 9)), battery=battery, position_every_ps=100 * MS,
        traces=(None, cw.trace((2, 0, 0), (4, 7, 0), (6, 7, 0), (9, 0, 3)), None),
    )  # fmt: skip
    return cw.run(make, network, engine=engine, until=until, reaction=L_PS)


@pytest.mark.parametrize("engine", FLIGHT)
def test_a_way_costs_its_time_and_its_length(engine: str) -> None:
    """A recount in fractions from the reports; and the times and lengths are those of the ways, but for a report."""
    found = fly(engine, 10_000.0, 30 * S)
    for node, way_m, way_s in zip(found.nodes, (2 * 53.8516, 7 + 7.6158, 0), (5.385 + 13.463, 2 + 3, 0), strict=True):
        used = Fraction(2) * 30
        length = 0
        for (t0, a), (t1, b) in zip(node.reports, node.reports[1:], strict=False):
            mm = math.isqrt(sum((x - y) ** 2 for x, y in zip(a, b, strict=True)))
            used += (mm > 0) * 50 * Fraction(t1 - t0, S) + Fraction(3, 10) * Fraction(mm, 1000)
            length += mm
        assert node.battery.used_j == float(used)
        assert float(used) == pytest.approx(60 + 50 * way_s + 0.3 * way_m, abs=0.3 + 4 * 50 * 0.1)
        assert length == pytest.approx(1000 * way_m, abs=300)
    assert len(found.nodes[0].reports) > 250


@pytest.mark.omnet
@pytest.mark.ns3
def test_both_engines_draw_the_same_for_ways() -> None:
    if inet_probe.WHY_NOT or ns3_probe.ENGINE.missing():
        pytest.skip("it needs both engines")
    here, there = (fly(engine, 10_000.0, 30 * S) for engine in ("ns3", "omnet"))
    assert [a.battery.used_j == b.battery.used_j for a, b in zip(here.nodes, there.nodes, strict=True)] == [True] * 3


@pytest.mark.parametrize("engine", FLIGHT)
def test_a_node_whose_battery_is_empty_on_its_way_fails(engine: str) -> None:
    found = fly(engine, 100.0, 30 * S)
    (down,) = found.nodes[0].downs
    assert 1.7 * S < down < 2.1 * S, "52 W and 3 J a second, paid every 100 ms"
    assert found.nodes[0].battery.left_j == 0


@pytest.mark.ns3
def test_what_moves_without_reports_of_positions_is_refused() -> None:
    class Unmoved(cw.PerNode):
        passive = (Kind.STATION,)

    battery = Battery(1.0, move_w=1.0)
    for network in (
        cw.AbstractNetwork(2, battery=battery),
        cw.MobileNetwork(hosts=1, host_xy_mm=((0, 0),), battery=battery),
    ):
        with pytest.raises(UserError, match=r"use a MobileNetwork with position_every_ps, as in .*ms\(100\)$"):
            cw.run(Idle, network, until=S)
    mobile = cw.MobileNetwork(hosts=1, host_xy_mm=((0, 0),), battery=battery, position_every_ps=100 * MS)
    with pytest.raises(UserError, match="Unmoved declares positions passive"):
        cw.run(lambda: Unmoved(Idle), mobile, until=S)


def test_a_failed_node_draws_nothing_and_an_empty_one_that_recovers_fails_again() -> None:
    class Helped(Idle):
        def on_start(self):
            super().on_start()
            if self.id == 1:
                self.after(9 * S - 2 * L_PS, self.recover, 0)

    faults = cw.Faults(np.array([S, 5 * S]), np.array([0, 0], np.int32), np.array([0, 1], np.uint8))
    protocol, _ = run((Battery(3.0, idle_w=1.0), None), 2, until=12 * S, make=Helped, faults=faults)
    node = protocol.nodes[0]
    assert node.downs == [S, 7 * S + L_PS, 9 * S + L_PS]
    assert node.battery.used_j == 3.0


def test_a_new_process_has_a_new_battery() -> None:
    stays = cw.Stays(np.array([0, 0]), np.array([0, 5 * S]), np.array([2 * S, 8 * S]))
    found = cw.run(Idle, cw.AbstractNetwork(2, stays=stays, battery=(Battery(4.0, idle_w=1.0), None)), until=12 * S)
    assert found.scalars["joules"] == 5.0 and found.scalars["empty_batteries"] == 0


def test_the_series_has_the_joules_at_every_interval() -> None:
    battery = Battery(2.5, idle_w=0.5, series_every_ps=S)
    _, found = run(battery, 1, make=Idle, until=7 * S)
    times, values = found.samples["node[0]", "joules"]
    assert times == [S, 2 * S, 3 * S, 4 * S, 5 * S], "then nothing is left to happen"
    assert values == [0.5, 1.0, 1.5, 2.0, 2.5]


def test_a_lookahead_does_not_change_what_a_battery_does() -> None:
    """A node may fail at any arrival, so engines must stop at each."""

    class Patient(Talker):
        def on_start(self):
            self.declare_lookahead(3)
            super().on_start()

    battery = Battery(0.5, idle_w=0.1, send_j=0.01, receive_j=0.01)
    plain, patient = run(battery)[1], run(battery, make=Patient)[1]
    assert plain.digest == patient.digest and plain.scalars["joules"] == patient.scalars["joules"]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Battery(0), "Battery: capacity_j is 0; allowed: a number above 0"),
        (lambda: Battery(True), "Battery: capacity_j is True; allowed: a number above 0"),
        (lambda: Battery(float("nan")), "Battery: capacity_j is nan; allowed: a number above 0"),
        (lambda: Battery(1, idle_w=-1), "Battery: idle_w is -1; allowed: a number, 0 and up"),
        (lambda: Battery(1, send_j="1"), "Battery: send_j is '1'; allowed: a number, 0 and up"),
        (lambda: Battery(1, receive_j_per_byte=float("inf")), "Battery: receive_j_per_byte is inf; allowed"),
        (lambda: Battery(1, series_every_ps=0.5), r"Battery: series_every_ps is 0.5; allowed: 0 \(never\), or a milli"),
        (lambda: Battery(1, idle_w=4e-13), "Battery: idle_w is 4e-13; allowed: 1e-12 and up"),
        (lambda: Battery(1e-30), "Battery: capacity_j is 1e-30; allowed: 1e-24 and up"),
        (lambda: cw.AbstractNetwork(2, battery=5), "AbstractNetwork: battery is 5; allowed: a Battery, as in"),
        (lambda: cw.AbstractNetwork(2, battery=(None,)), r"battery is \(None,\); .* for each of its 2 nodes or hosts"),
        (lambda: cw.MobileNetwork(hosts=1, battery=(None, None)), "for each of its 1 nodes or hosts"),
    ],
)  # fmt: skip
def test_a_wrong_battery_is_refused_in_one_line(make, message: str) -> None:
    with pytest.raises(UserError, match=message) as error:
        make()
    assert "\n" not in str(error.value)


def test_what_has_no_battery_says_so() -> None:
    class Curious(cw.Node):
        def on_start(self):
            self.battery.load_w = 1

    class Negative(cw.Node):
        def on_start(self):
            self.battery.load_w = -1

    with pytest.raises(RunError, match="battery: node 0 has no battery; give its network one"):
        cw.run(Curious, cw.AbstractNetwork(2))
    with pytest.raises(RunError, match="load_w"):
        cw.run(Negative, cw.AbstractNetwork(2, battery=Battery(1.0)))


def test_vectorized_protocols_have_no_batteries() -> None:
    from causeway.pycontrol.protocol import Protocol

    with pytest.raises(UserError, match="Protocol is vectorized, so its nodes cannot have batteries"):
        cw.run(Protocol, cw.AbstractNetwork(2, battery=Battery(1.0)))


class Sleeper(cw.Node):
    """Draws little energy."""


class Payer(cw.Node):
    """Pays for three packets."""

    def on_start(self):
        for _ in range(3):
            self.send(cw.EVERYONE, None, 1)


class Misspeller(cw.Node):
    """Sets a load by a name that there is not."""

    def on_start(self):
        self.battery.loadw = 3.0


def test_less_than_a_microwatt_is_drawn() -> None:
    for watts in 4e-7, 1.5e-6:
        network = cw.AbstractNetwork(1, battery=Battery(1.0, idle_w=watts))
        assert cw.run(Sleeper, network, until=10 * S).scalars["joules"] == pytest.approx(10 * watts, rel=1e-9)


def test_energies_add_up_as_decimal_numbers_do() -> None:
    """Three times 0.1 J are 0.3 J, and numbers of numpy are those that they print."""
    run_ = cw.run(Payer, cw.AbstractNetwork(2, battery=Battery(0.3, send_j=0.1)), until=S)
    assert run_.scalars["packets"] == 6
    for kind in float, np.float32, np.int64:
        network = cw.AbstractNetwork(1, battery=Battery(kind(5), idle_w=kind(1)))
        assert cw.run(Sleeper, network, until=9 * S).scalars["joules"] == 5.0


def test_a_misspelt_load_is_refused() -> None:
    with pytest.raises(RunError, match="loadw"):
        cw.run(Misspeller, cw.AbstractNetwork(1, battery=Battery(1.0)), until=S)
