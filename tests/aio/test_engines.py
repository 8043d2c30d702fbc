"""The same program on every installed engine."""

from __future__ import annotations

from pathlib import Path

import pytest

from causeway.bridge import engines
from causeway.studies import registry
from causeway.studies.parameters import make_params
from causeway.studies.runner import Job, run_job

EXAMPLE = str(Path(__file__).parents[2] / "examples" / "chatter.py")


def _run(engine: str, parameters: dict, cap: int = 0):
    study = registry.get(EXAMPLE)
    network = study.network(make_params(study, parameters), 1)
    if (why := engines.get(engine).missing(network)) is not None:
        pytest.skip(f"{engine}: {why}")
    return run_job(Job(EXAMPLE, parameters, 1, engine, cap)).outcome


@pytest.mark.omnet
def test_on_the_abstract_network_omnet_and_inline_do_the_same_to_the_bit():
    parameters = {"nodes": 6, "loss": 0.1}
    assert _run("omnet", parameters).digest == _run("inline", parameters).digest


@pytest.mark.parametrize(
    "engine", [pytest.param("ns3", marks=pytest.mark.ns3), pytest.param("omnet", marks=pytest.mark.omnet)]
)
def test_walking_hosts_hear_each_other_at_every_cap(engine):
    parameters = {"nodes": 8, "network": "walking", "duration_s": 20}
    first, second = _run(engine, parameters), _run(engine, parameters, cap=1)
    assert first.digest == second.digest
    assert first.scalars["mains_ended"] == 8
    neighbours = [values[-1] for (_, name), (_, values) in first.samples.items() if name == "neighbours"]
    assert len(neighbours) == 8 and sum(neighbours) > 8


@pytest.mark.parametrize(
    "engine", [pytest.param("ns3", marks=pytest.mark.ns3), pytest.param("omnet", marks=pytest.mark.omnet)]
)
def test_walking_hosts_have_the_room_that_spacing_gives_them(engine):
    """In a square of 16 m every node gets answers of all others; in one of 1,600 m hardly any node is in reach."""
    answers = {}
    for spacing_m in (4, 400):
        parameters = {"nodes": 16, "network": "walking", "duration_s": 10, "spacing_m": spacing_m}
        samples = _run(engine, parameters).samples
        answers[spacing_m] = sum(len(values) for (_, name), (_, values) in samples.items() if name == "round_trip_s")
    assert answers[4] > 10 * answers[400] > 0, answers
