"""Study mobile20 on the real simulators: no owed message is lost, and all quantities of the paper are measured."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from causeway.bridge import engines
from causeway.bridge.recording import describe, frames
from causeway.studies.runner import Job, RunResult, run_job
from tests.helpers.omnet_pairs import choose, pairs

pytestmark = pytest.mark.slow
RECORDINGS = sorted((Path(__file__).parents[1] / "recordings").glob("mobile20-inet-*.frames"))
SAME_FRAMES = ("OMNeT++ 6.1, INET 4.5.4", "OMNeT++ 6.2.0, INET 4.6.0")
"""The versions on which mobile20 has the frames of the recordings, which were made with the first."""
ENGINES = [pytest.param("ns3", marks=pytest.mark.ns3), pytest.param("omnet", marks=pytest.mark.omnet)]
MEASURED = (
    "delivery_delay_s", "loss_needed", "loss_application", "loss_all", "sent_per_delivery",
    "sent_per_s", "sent_bytes_per_s", "sbuffer_station_mean",
    "rbuffer_host_mean", "sbuffer_host_mean", "rbuffer_station_mean", "connections_station_mean", "handoffs",
)  # fmt: skip


def run(engine: str, experiment: str, **parameters: object) -> RunResult:
    if why := engines.get(engine).missing():
        pytest.skip(f"{engine}: {why}")
    small = {"hosts": 21, "rate": 5, "duration_s": 8, "drain_s": 10, "experiment": experiment}
    return run_job(Job("mobile20", {**small, **parameters}, 5, engine))


@pytest.mark.parametrize("radio", ["unitdisk", "wifi"])
@pytest.mark.parametrize("experiment", ["static", "dynamic", "load"])
@pytest.mark.parametrize("engine", ENGINES)
def test_nothing_is_late_twice_or_lost(engine: str, experiment: str, radio: str) -> None:
    scalars = run(engine, experiment, radio=radio).scalars
    assert (scalars["violations"], scalars["duplicates"], scalars["missing"]) == (0, 0, 0)
    assert scalars["deliveries"] == 21 * scalars["messages"] > 0
    assert all(name in scalars for name in MEASURED)


@pytest.mark.parametrize("acks", ["periodic", "turns", "intervals"])
@pytest.mark.parametrize("engine", ENGINES)
def test_nothing_is_lost_under_other_rules_of_acknowledgement(engine: str, acks: str) -> None:
    scalars = run(engine, "dynamic", acks=acks).scalars
    assert (scalars["violations"], scalars["duplicates"], scalars["missing"]) == (0, 0, 0)


@pytest.mark.omnet
@pytest.mark.parametrize("experiment", ["dynamic", "load", "static_tcp"])
def test_without_medium_access_nothing_owed_is_lost_either(experiment: str) -> None:
    scalars = run("omnet", experiment, radio="acking", rate=1).scalars
    assert (scalars["violations"], scalars["duplicates"]) == (0, 0)
    assert scalars["deliveries"] == 21 * scalars["messages"] > 0


@pytest.mark.omnet
def test_handshakes_that_begin_together_on_a_radio_without_medium_access_take_longer_than_75_s() -> None:
    """Their segments collide at each repetition, and INET gives up a connection after 75 s."""
    parameters = {"radio": "acking", "rate": 1, "warmup_s": 120, "hosts": 70}
    together = run("omnet", "static_tcp", tcp_spread_ms=20, **parameters).scalars
    apart = run("omnet", "static_tcp", **parameters).scalars
    assert together["tcp_setup_max_s"] > 75 > 10 > apart["tcp_setup_max_s"] > 0
    assert together["tcp_broken"] > 0 == apart["tcp_broken"]


@pytest.mark.parametrize("engine", ENGINES)
def test_the_literal_geometry_still_runs(engine: str) -> None:
    scalars = run(engine, "dynamic", spacing_m=180.0, placement="anywhere").scalars
    assert (scalars["violations"], scalars["duplicates"], scalars["missing"]) == (0, 0, 0)


@pytest.mark.omnet
@pytest.mark.ns3
@pytest.mark.parametrize("placement", ["cells", "anywhere"])
def test_hosts_begin_at_the_same_places_on_both_engines(placement: str) -> None:
    found = [run(engine, "static", placement=placement, trace=True).outcome.samples for engine in ("omnet", "ns3")]
    for host in range(21):
        (here, there) = ([s[f"host[{host}]", axis][1][0] for axis in ("x_m", "y_m")] for s in found)
        assert all(abs(a - b) <= 0.002 for a, b in zip(here, there, strict=True))


@pytest.mark.parametrize("engine", ENGINES)
def test_a_failed_host_gets_all_it_missed(engine: str) -> None:
    found = run(engine, "faults", duration_s=20)
    assert found.scalars["failures"] == 1
    assert (found.scalars["violations"], found.scalars["duplicates"], found.scalars["missing"]) == (0, 0, 0)
    times, sizes = found.outcome.samples["station[3]", "sbuffer"]
    at = {round(t / 10**12): size for t, size in zip(times, sizes, strict=True)}
    assert at[22] > sizes[-1] == 0, "while the host is down its station keeps what it misses, and later no more"


@pytest.mark.parametrize("engine", ENGINES)
def test_flooding_over_tcp_delivers_in_order(engine: str) -> None:
    scalars = run(engine, "static_tcp", rate=1).scalars
    assert (scalars["violations"], scalars["duplicates"]) == (0, 0)
    assert scalars["deliveries"] > 0.9 * 21 * scalars["messages"]
    assert scalars["sent_per_delivery"] > 1, "frames on the air: every copy is one at least"


@pytest.mark.parametrize("engine", ENGINES)
def test_the_batching_of_events_changes_nothing(engine: str) -> None:
    if why := engines.get(engine).missing():
        pytest.skip(f"{engine}: {why}")
    small = {"experiment": "dynamic", "hosts": 14, "rate": 4, "duration_s": 5, "drain_s": 5}
    digests = {run_job(Job("mobile20", small, 2, engine, cap=cap)).outcome.digest for cap in (0, 1, 7)}
    assert len(digests) == 1


@pytest.mark.omnet
@pytest.mark.parametrize("versions", SAME_FRAMES)
@pytest.mark.parametrize("path", RECORDINGS, ids=lambda p: p.stem)
def test_inet_sends_the_recorded_frames_again(
    path: Path, versions: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every window of events and every answer, byte for byte; a handshake and an end name versions and times."""
    recorded = describe(path)
    assert recorded.engine_version in SAME_FRAMES
    pair = next((pair for pair in pairs() if pair.text == versions), None)
    if pair is None:
        pytest.skip(f"{versions} is not here")
    choose(pair, monkeypatch)
    parameters = {"wire_acks": "at_once", **json.loads(recorded.setup.parameters_json)}
    run_job(Job("mobile20", parameters, recorded.setup.seed, "omnet", record_to=str(tmp_path / "now.frames")))
    assert describe(tmp_path / "now.frames").engine_version == versions
    now, then = list(frames(tmp_path / "now.frames")), list(frames(path))
    assert len(now) == len(then) > 2000
    assert now[2:-1] == then[2:-1]
