"""The animation of a run that recorded the positions of its nodes, from the run to the page."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import causeway as cw
from causeway.analysis import animation, report, store
from causeway.bridge.events import Kind, Window, pack_position
from causeway.errors import RunError, UserError
from causeway.network.faults import Jammer, LinkFailure, Partition
from causeway.network.movement import trace
from causeway.network.networks import WIRELESS, AbstractNetwork, MobileNetwork, constant_delay
from causeway.network.workload import Workload
from causeway.pycontrol import overload
from causeway.pycontrol.animation_samples import Places, wanted
from causeway.pycontrol.node import EVERYONE
from causeway.studies.runner import PLACES_EVERY_PS, Job
from tests.analysis.animation.test_scene import data_of, ints, write_run
from tests.bridge.test_movement_of_engines import both
from tests.helpers.browser import browser, faults, show
from tests.helpers.movement_probe import ZIGZAG, Chatty, S, ad_hoc

NETWORK = MobileNetwork(
    station_xy_mm=((0, 0), (100_000, 0)), wires=((0, 1),), hosts=2,
    traces=(trace((0, 1, 2), (3, 4, 5)), None), places_every_ps=S,
    network_faults=(Jammer(1000, 2000, 3000, S, 2 * S), LinkFailure(0, 1, S, 3 * S), Partition((0,), (2, 3), S, 4 * S)),
)  # fmt: skip


def window(*rows: tuple[Kind, int, int, int, int]) -> Window:
    kind, time_ps, node, ref, arg = zip(*rows, strict=True)
    types = (np.uint8, np.int64, np.int32, np.int64, np.int32)
    return Window(
        1, 10 * S, False, *(np.array(c, t) for c, t in zip((kind, time_ps, node, ref, arg), types, strict=True))
    )


def test_places_are_taken_out_of_the_windows_and_the_rest_stays() -> None:
    places = Places(NETWORK)
    kept = places.take(window(
        (Kind.LOST, S, 2, 7, WIRELESS), (Kind.PLACE, S, 2, pack_position(-5000, 6001), 0), (Kind.STATION, S, 3, 0, 1),
    ))  # fmt: skip
    assert kept.kind.tolist() == [Kind.LOST, Kind.STATION] and kept.node.tolist() == [2, 3]
    found = places.samples()
    assert found["place[2]", "x_m"] == ([S], [-5.0]) and found["place[2]", "y_m"] == ([S], [6.001])
    assert found["place[2]", "lost"] == ([S], [0.0]) and found["place[3]", "at"] == ([S], [1.0])
    assert found["place[0]", "station"] == ([0], [120.0]) and found["place[0]", "wired_to"] == ([0], [1.0])
    assert found["place[2]", "trace_x_m"] == ([0, 3 * S], [1.0, 4.0])
    assert found["trouble[0]", "jammer"] == ([S] * 3, [1.0, 2.0, 3.0]) and found["trouble[1]", "until"][0] == [3 * S]
    assert found["trouble[2]", "other"] == ([S, S], [2.0, 3.0])


def test_a_standing_node_keeps_its_first_and_last_instant() -> None:
    places = Places(NETWORK)
    at = [(1, 0), (2, 0), (3, 0), (4, 0), (5, 9), (6, 9)]
    places.take(window(*((Kind.PLACE, t * S, 0, pack_position(x * 1000, 0), 0) for t, x in at)))
    times, xs = places.samples()["place[0]", "x_m"]
    assert [t // S for t in times] == [1, 4, 5, 6] and xs == [0, 0, 9, 9], "where it sets out from is known, too"


@both
def test_recording_an_animation_does_not_change_the_run(probe, tmp_path: Path) -> None:
    net = ad_hoc((ZIGZAG, None), network_faults=(Jammer(0, 0, 50_000, 3 * S, 4 * S),))
    _, plain = probe.run(net, 6, Chatty)
    _, recorded = probe.run(replace(net, places_every_ps=S // 2), 6, Chatty)
    assert recorded.digest == plain.digest
    series = {key: list(zip(*points, strict=True)) for key, points in recorded.samples.items()}
    write_run(tmp_path, series, unit_ps=1)
    (name,) = [name for _, name in animation.write_all(tmp_path, (), tmp_path)[0]]
    data = data_of((tmp_path / name).read_text())
    first, second = data["nodes"]
    assert ints(first["t"]) == [500 * i for i in range(12)]
    assert ints(first["x"])[:3] == [10_000, 22_500, 35_000] and set(ints(second["x"])) == {5_000}
    assert len(ints(first["trace"]["x"])) == len(ZIGZAG)
    assert data["events"]["told"]["count"] == 2 * 60
    assert data["events"]["lost"]["count"] > 0
    assert data["trouble"] == [{"jammer": [0.0, 0.0, 50.0], "until": 4000, "from": 3000}]
    assert f'href="{name}"' in report.write(tmp_path).read_text()


def test_a_run_that_was_not_recorded_has_no_page_and_says_how_to_get_one(tmp_path: Path) -> None:
    write_run(tmp_path, {("run", "loss_rate"): [(1, 0.5), (2, 0.25)]})
    assert animation.write_all(tmp_path, (), tmp_path) == ([], [])
    with pytest.raises(UserError, match=r"run r did not record the positions of its nodes; run it with --animate 0\.5"):
        animation.write_nodes(tmp_path, "r", tmp_path / "page.html")
    assert store.has_run(tmp_path, "r")


def test_only_runs_that_ask_for_it_are_recorded() -> None:
    assert wanted(NETWORK) and not wanted(replace(NETWORK, places_every_ps=0))
    assert not wanted(AbstractNetwork(2, delay=constant_delay(1), workload=Workload(2)))
    assert EVERYONE == -1


def test_more_positions_than_can_be_kept_are_an_error_that_names_the_option(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overload, "MOST_RECORDED", 10)
    places = Places(NETWORK)
    ten = window(*((Kind.PLACE, S, node % 4, pack_position(0, 0), 0) for node in range(10)))
    places.take(ten)
    with pytest.raises(RunError, match=r"at 10 s: 20 positions and packets are recorded .*; choose .*--animate"):
        places.take(ten)


PLACES = ((0, 0), (5_000, 6_001), (-9_000, 0), (1, 2))


class Relay(cw.Node):
    """Passes a rumour on to the next node, and says what it has heard."""

    def on_start(self) -> None:
        self.record("heard", 0)
        if self.id == 0:
            self.send(1, "rumour")
            self.send(cw.EVERYONE, "hello", 50)

    def on_packet(self, content: str, sender: int, interface: int) -> None:
        self.record("heard", len(content))
        if content == "rumour" and self.id < 3:
            self.send(self.id + 1, content)


def abstract(**fields: Any) -> AbstractNetwork:
    faults = (Partition((3,), (0, 1, 2), 0, 10 * S),)
    return AbstractNetwork(4, delay=constant_delay(100), network_faults=faults, node_xy_mm=PLACES, **fields)


@pytest.mark.parametrize("engine", ["inline", pytest.param("omnet", marks=pytest.mark.omnet)])
def test_nodes_of_an_abstract_network_are_drawn_where_the_user_places_them(engine: str, tmp_path: Path) -> None:
    found = cw.run(Relay, abstract(places_every_ps=1), engine=engine)
    found.animate(tmp_path / "page.html")
    data = data_of((tmp_path / "page.html").read_text())
    assert [(ints(n["x"]), ints(n["y"])) for n in data["nodes"]] == [([x], [y]) for x, y in PLACES]
    sent, lost = data["events"]["sent"], data["events"]["lost"]
    assert list(zip(ints(sent["node"]), ints(sent["value"]), strict=True)) == [(0, 1), (1, 2), (2, 3)]
    assert ints(lost["node"]) == [3, 3] and data["events"]["told"]["count"] == 1
    assert [series["name"] for series in data["series"]] == ["heard"]
    assert data["trouble"][0]["one"] == [3] and not any("z" in node for node in data["nodes"])
    shown = (tmp_path / "page.html").read_text().partition("<body>")[2].partition('<script type="application/json"')[0]
    assert "A dot is a node" in shown and "station" not in shown


@pytest.mark.parametrize("engine", ["inline", pytest.param("omnet", marks=pytest.mark.omnet)])
def test_positions_in_an_abstract_network_do_not_change_the_run(engine: str) -> None:
    plain = cw.run(Relay, replace(abstract(), node_xy_mm=()), engine=engine)
    placed, recorded = (cw.run(Relay, abstract(places_every_ps=every), engine=engine) for every in (0, S))
    assert plain.digest == placed.digest == recorded.digest
    assert "place[0]" not in set(placed.frame("samples")["module"]) < set(recorded.frame("samples")["module"])
    assert plain.digest == cw.run(Relay, abstract(places_every_ps=S)).digest, "and engines agree"


def test_heights_in_an_abstract_network_are_drawn_for_all_nodes(tmp_path: Path) -> None:
    places = ((0, 0), (1, 2, 3_000), (3, 4), (5, 6))
    cw.run(Relay, replace(abstract(places_every_ps=S), node_xy_mm=places)).animate(tmp_path / "page.html")
    assert [ints(n["z"]) for n in data_of((tmp_path / "page.html").read_text())["nodes"]] == [[0], [3000], [0], [0]]


def test_nodes_that_come_and_go_are_told_from_nodes_that_fail(tmp_path: Path) -> None:
    stays, faults = cw.Stays([1], [S], [2 * S]), cw.Faults(np.array([S]), np.array([2]), np.array([0]))
    network = cw.AbstractNetwork(4, node_xy_mm=PLACES, places_every_ps=S, stays=stays, faults=faults)
    cw.run(cw.Node, network, until=3 * S).animate(tmp_path / "page.html")
    nodes = data_of((tmp_path / "page.html").read_text())["nodes"]
    assert [node.get("comes", 0) for node in nodes] == [0, 1, 0, 0]
    assert [ints(node["up"]["v"]) if "up" in node else [] for node in nodes] == [[], [0, 1, 0], [0], []]


def test_an_animation_of_an_abstract_network_without_positions_is_refused_and_names_the_field() -> None:
    with pytest.raises(UserError, match="nodes have no positions; set its node_xy_mm, or omit --animate"):
        Job("dcs23", {}, 1, "inline", options={PLACES_EVERY_PS: S}).network()


@pytest.mark.slow
def test_the_map_of_an_abstract_network_is_painted_by_what_nodes_have_heard(tmp_path: Path) -> None:
    cw.run(Relay, abstract(places_every_ps=S)).animate(tmp_path / "page.html")
    with browser() as driver:
        show(driver, tmp_path / "page.html")
        assert driver.execute_script("return $('paint').value") == "heard"
        driver.execute_script("at = 150; select(1)")
        assert "node 1: x 5.000 m, y 6.001 m; broadcasts 0, packets to one node 1" in driver.execute_script(
            "return $('facts').textContent"
        )
        colours = [driver.execute_script(f"return colourOf(nodes[{node}], recorded[0])") for node in (1, 3)]
        assert colours[0] != colours[1], "node 1 has heard something, and node 3 has not"
        assert faults(driver) == []
