"""When a message is sent again and when it is acknowledged, in the readings that a study can choose."""

from __future__ import annotations

from random import Random

import pytest

from causeway.pycontrol.protocols.mobile import Timing
from causeway.studies import registry
from causeway.studies.mobile20.study import SEVEN, Mobile20Params
from tests.helpers.mobile_model import MS_PS, S_PS, BadChannel, Model

PERIOD_PS = 500 * MS_PS


@pytest.mark.parametrize(("by_age", "waits_ms"), [(False, [840, 840, 840]), (True, [226, 600, 1000])])
def test_a_message_waits_by_how_many_are_pending_or_by_its_age(by_age: bool, waits_ms: list[int]) -> None:
    timing = Timing(retry_by_age=by_age)
    assert [timing.retry_at_ps(place, 30) // MS_PS for place in (1, 15, 30)] == waits_ms


def test_one_message_alone_waits_longest() -> None:
    assert Timing(retry_by_age=True).retry_at_ps(1, 1) == Timing().retry_max_ps


def test_nodes_acknowledge_in_turn() -> None:
    """At any time, the next turn of a node is at its own place in the period, and at least half a period later."""
    timing = Timing(ack_turns=10)
    for node in range(10):
        for now_ps in (0, 123 * MS_PS, 7 * S_PS + node):
            wait_ps = timing.ack_wait_ps(PERIOD_PS, node, now_ps, Random(node))
            off_ps = (now_ps + wait_ps - PERIOD_PS * node // 10 + PERIOD_PS // 2) % PERIOD_PS - PERIOD_PS // 2
            assert abs(off_ps) < 50 * MS_PS, "give or take five deviations"
            assert PERIOD_PS // 2 - 50 * MS_PS < wait_ps < 3 * PERIOD_PS // 2 + 50 * MS_PS


def test_no_acknowledgement_comes_before_the_declared_lookahead() -> None:
    timing, random = Timing(ack_turns=70), Random(1)
    waits = [timing.ack_wait_ps(PERIOD_PS, n, n * 31 * MS_PS, random) for n in range(1000)]
    assert min(waits) >= timing.soonest_ack_ps


READINGS = {
    "age": {"retry": "age"},
    "earlier": {"retry": "earlier"},
    "turns": {"acks": "turns"},
    "later": {"retry": "later", "rate": 35.0},
}


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("seed", range(3))
def test_everything_arrives_and_buffers_become_empty_with_any_timing(reading: str, seed: int) -> None:
    timing = registry.get("mobile20").protocol(Mobile20Params(**READINGS[reading]))._timing
    random = Random(seed)
    model = Model([(0, 1), (0, 2)], 5, BadChannel(random, loss=0.3, spread_ps=30 * MS_PS), timing)
    for host in model.host_ids:
        model.move(host, host % 3)
        model.join(host)
    for _ in range(60):
        model.run(random.randrange(200) * MS_PS)
        host = random.choice(list(model.host_ids))
        model.move(host, random.randrange(3)) if random.random() < 0.2 else model.broadcast(host)
    model.heal(30 * S_PS)
    assert model.complaints() == []


def test_in_the_later_program_all_times_go_with_the_load() -> None:
    """At 50 broadcasts a second: a second for the newest message, half a second for the oldest; acknowledgements and a
    host's own messages every two."""
    timing = registry.get("mobile20").protocol(Mobile20Params(retry="later", rate=50.0))._timing
    assert [timing.retry_at_ps(place, 10) for place in (10, 0)] == [S_PS, S_PS // 2]
    assert (timing.ack_ps, timing.station_ack_ps, timing.own_retry_ps(1)) == (2 * S_PS, S_PS, 2 * S_PS)
    assert timing.ack_intervals and timing.idle_acks


@pytest.mark.parametrize("name", ["star", "three"])
def test_every_layout_of_wires_is_a_tree(name: str) -> None:
    wires, reached = Mobile20Params(tree=name).wires, {0}
    for _ in wires:
        reached |= {b for a, b in wires if a in reached} | {a for a, b in wires if b in reached}
    assert len(wires) == len(reached) - 1 == SEVEN - 1
    study = registry.get("mobile20")
    assert study.network(Mobile20Params(tree=name), 1).wires == wires
    assert sum(map(len, study.protocol(Mobile20Params(tree=name))._neighbours)) == 2 * len(wires)
