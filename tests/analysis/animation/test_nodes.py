"""The animation of a run that recorded the positions of its nodes, from the run to the page."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

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
from tests.analysis.animation.test_scene import data_of, ints, write_run
from tests.bridge.test_movement_of_engines import both
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
