"""The shared generator draws what it says it draws."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from causeway.errors import UserError
from causeway.network.networks import normal_delay, uniform_delay
from causeway.network.random import draw_ps, draw_unit
from causeway.network.workload import NEVER, Script, Segment, Workload, WorkloadTables, next_broadcast


def chain(workload: Workload, seed: int, count: int) -> list[tuple[int, int]]:
    t = WorkloadTables.of(workload)
    out: list[tuple[int, int]] = []
    time_ps = 0
    for i in range(count):
        time_ps, node = next_broadcast(t, seed, i, time_ps)
        if time_ps == NEVER:
            break
        out.append((int(time_ps), int(node)))
    return out


def test_a_table_gives_back_the_distribution_it_was_made_of():
    normal, uniform = normal_delay(100, 20), uniform_delay(0, 10)
    draws = np.array([draw_ps(normal, 7, 1, i, 3) for i in range(50_000)]) / 1e9
    assert abs(draws.mean() - 100) < 0.5  # 5.6 standard errors
    assert abs(draws.std() - 20) < 0.4
    flat = np.array([draw_ps(uniform, 7, 1, i, 3) for i in range(20_000)]) / 1e9
    assert 0 <= flat.min() < 0.01
    assert 9.99 < flat.max() <= 10


def test_streams_and_counters_are_independent():
    a = np.array([draw_unit(1, 1, i, 0) for i in range(20_000)])
    b = np.array([draw_unit(1, 2, i, 0) for i in range(20_000)])
    c = np.array([draw_unit(1, 1, 0, i) for i in range(20_000)])
    for x, y in ((a, b), (a, c), (a[:-1], a[1:])):
        assert abs(np.corrcoef(x, y)[0, 1]) < 0.03


def test_the_chain_has_the_rate_of_each_segment():
    second = 10**12
    workload = Workload(10, segments=(Segment(0, 50.0), Segment(100 * second, 0.0), Segment(200 * second, 200.0)))
    times = np.array([t for t, _ in chain(workload, 3, 25_000)]) / second
    assert abs((times < 100).sum() / 100 - 50) < 3.5  # 5 standard deviations
    assert ((times >= 100) & (times < 200)).sum() == 0
    late = times[(times >= 200) & (times < 300)]
    assert abs(len(late) / 100 - 200) < 7.1


def test_hot_nodes_send_their_share():
    workload = Workload(100, segments=(Segment(0, 100.0, hot_share=0.6, hot_nodes=10),))
    nodes = np.array([n for _, n in chain(workload, 5, 20_000)])
    assert abs((nodes < 10).mean() - (0.6 + 0.4 * 0.1)) < 0.02


def test_a_silent_workload_never_broadcasts():
    assert chain(Workload(5), 1, 3) == []


def test_a_load_may_begin_later_than_the_run():
    later = Workload(10, segments=(Segment(2 * 10**12, 50.0),))
    silent_first = Workload(10, segments=(Segment(0, 0.0), Segment(2 * 10**12, 50.0)))
    assert chain(later, 3, 100) == chain(silent_first, 3, 100)
    assert min(time_ps for time_ps, _ in chain(later, 3, 100)) >= 2 * 10**12


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"segments": (Segment(0, 5.0),)}, "a workload has a script and segments; remove one"),
        ({"size_bytes": 100}, "a workload has a script and size_bytes; remove one"),
        ({"messages": 1}, "a workload has messages=1 and a script of 2"),
    ],
)
def test_nothing_beside_a_script_is_ignored(more: dict[str, Any], words: str) -> None:
    script = Script(np.array([1, 2]), np.array([0, 0]), np.array([8, 8]))
    with pytest.raises(UserError, match=words):
        Workload(3, script=script, **more)
    assert Workload(3, script=script, messages=2).script is script
