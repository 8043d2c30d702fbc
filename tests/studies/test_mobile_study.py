"""Study mobile20: what it builds, and recorded INET runs that must replay to the frame."""

from __future__ import annotations

from collections.abc import Iterator
from math import dist
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from causeway.bridge.errors import RunError
from causeway.bridge.recording import CONTROLLER, describe, frames
from causeway.cli.replay import replay_file
from causeway.pycontrol.node import NEVER_AGAIN
from causeway.pycontrol.protocols.mobile import Host, Meter, Station, Timing
from causeway.pycontrol.protocols.mobile.connection import Connection
from causeway.pycontrol.protocols.mobile.host import State
from causeway.pycontrol.protocols.mobile.messages import Data
from causeway.pycontrol.protocols.mobile.tcp_flooding import FloodingHost, FloodingStation
from causeway.studies import registry
from causeway.studies.mobile20.failures import Failures
from causeway.studies.mobile20.rest import Rest
from causeway.studies.mobile20.study import RATES, WIRES, Mobile20Params, station_places
from causeway.studies.registry import PUBLISHED
from tests.worlds.published_numbers import load_published

RECORDINGS = sorted((Path(__file__).parents[1] / "recordings").glob("mobile20-inet-*.frames"))
S_PS = 10**12


def test_neighbouring_cells_overlap_and_cover_the_middle() -> None:
    places = station_places(180.0)
    distances = sorted(dist(a, b) for i, a in enumerate(places) for b in places[:i])
    assert all(abs(d - 180_000) < 2 for d in distances[:12]), "twelve pairs of neighbours in the hexagon"
    assert distances[0] < 120_000 * 3**0.5, "no hole between three cells"


def test_the_wires_are_a_tree() -> None:
    reached = {0}
    for _ in WIRES:
        reached |= {b for a, b in WIRES if a in reached} | {a for a, b in WIRES if b in reached}
    assert len(WIRES) == len(reached) - 1 == 6


@pytest.mark.parametrize("experiment", RATES)
def test_only_the_measured_time_is_loaded(experiment: str) -> None:
    study, params = registry.get("mobile20"), Mobile20Params(experiment=experiment)
    segments = study.network(params, 1).workload.segments
    assert [s.rate_per_s for s in segments] == [0.0, RATES[experiment], 0.0]
    assert [s.start_ps for s in segments] == [0, params.from_ps, params.to_ps]
    assert study.duration_ps(params) > params.to_ps + 10 * S_PS, "time for what is on its way"


def test_every_published_number_names_a_point_and_a_scalar() -> None:
    mine = load_published(PUBLISHED)
    mine = mine[mine["paper"] == "mobile20"]
    assert len(mine) >= 30
    for parameters in mine["parameters"]:
        Mobile20Params(**parameters)


def test_recovery_is_counted_from_the_end_of_a_failure() -> None:
    failures = Failures(end_ps=100 * S_PS, log=[(15 * S_PS, 18 * S_PS), (45 * S_PS, 49 * S_PS)])
    times = np.arange(1, 80) * S_PS
    sizes = np.full(79, 10.0)
    sizes[14:20] = 50.0  # 15 s to 20 s: small again at 21 s, 3 s after the end
    sizes[44:] = 90.0  # never again before the next would come
    found = failures.scalars((times.tolist(), sizes.tolist()))
    assert found == {"failures": 2.0, "failures_unrecovered": 1.0, "recovery_s": 3.0}


def test_there_are_recordings() -> None:
    assert {p.stem for p in RECORDINGS} == {f"mobile20-inet-{e}" for e in ("static", "dynamic", "faults")}
    assert all(p.stat().st_size < 1_000_000 for p in RECORDINGS)


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda p: p.stem)
def test_a_recorded_inet_run_replays_exactly(path: Path) -> None:
    assert "INET" in describe(path).engine_version
    replay_file(path, Console(quiet=True))


def test_a_recording_with_a_changed_answer_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from causeway.pycontrol.protocols.mobile import Timing

    monkeypatch.setattr(Timing, "jittered_ps", staticmethod(lambda wait_ps, random: wait_ps))
    with pytest.raises(RunError, match="frame"):
        replay_file(RECORDINGS[0], Console(quiet=True))


def test_a_recording_holds_answers_too() -> None:
    assert any(direction == CONTROLLER for direction, _ in frames(RECORDINGS[0]))


def station() -> Station:
    return Station(Timing(), Meter(), [])


def connected(host: Host | FloodingHost) -> Host | FloodingHost:
    if isinstance(host, Host):
        host.state = State.ESTAB
    else:
        host.connected = True
    return host


QUIET = [station(), connected(Host(Timing(), Meter())), FloodingStation(Meter(), []), connected(FloodingHost(Meter()))]


def busy_nodes() -> Iterator[object]:
    data = Data(0, 100)
    (keeps := station()).SBuffer.insert((7, 0), data)
    (waits := station()).h[7] = Connection(0, 0, 0, H_lock=True)
    (hands_over := station()).h[7] = Connection(0, 0, 0, m_nd=[((7, 0), data)])
    yield from (keeps, waits, hands_over)
    yield Host(Timing(), Meter())  # not connected
    (sends := connected(Host(Timing(), Meter()))).SBuffer[0] = data
    yield sends
    (on_its_way := FloodingStation(Meter(), [])).in_flight = 1
    yield on_its_way
    yield FloodingHost(Meter())  # not connected
    (floods := connected(FloodingHost(Meter()))).SBuffer[0] = data
    yield floods


@pytest.mark.parametrize("busy", [*busy_nodes()])
def test_a_run_goes_on_while_anything_may_still_arrive(busy: object) -> None:
    ends: list[bool] = []
    host = SimpleNamespace(nodes=[*QUIET, busy], context=SimpleNamespace(reaction_ps=1))
    node: Any = SimpleNamespace(host=host, stop=lambda: ends.append(True))
    rest = Rest()
    assert all(rest.run(node) != NEVER_AGAIN for _ in range(10)), "busy: it looks again"
    assert not ends
    host.nodes = QUIET
    assert [rest.run(node) == NEVER_AGAIN for _ in range(3)] == [False, False, True], (
        "three quiet looks in a row end it"
    )
    assert ends == [True]
