"""Repeated jobs of a study: exact simulated times, apart from the protocol."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from causeway.bridge.engine import RunSpec
from causeway.bridge.engines.inline import InlineEngine
from causeway.network.networks import AbstractNetwork, constant_delay
from causeway.network.workload import Workload
from causeway.pycontrol.loop import run_protocol
from causeway.pycontrol.node import Node, PerNode
from causeway.pycontrol.repeated import NEVER_AGAIN

MS_PS = 10**9
REACTION_PS = 3 * MS_PS


class Quiet(Node):
    """Has one timer of its own, and reports every other timer."""

    def __init__(self) -> None:
        super().__init__()
        self.reported: list[tuple[object, int]] = []

    def on_start(self) -> None:
        self.set_timer("own", 40 * MS_PS)

    def on_timer(self, key: object) -> None:
        self.reported.append((key, self.now_ps))


def run(*jobs: tuple[int, Callable[[Node], int | None], dict[str, Any]]) -> PerNode:
    protocol = PerNode(Quiet)
    for period_ps, handler, more in jobs:
        protocol.every(period_ps, handler, **more)
    network = AbstractNetwork(3, delay=constant_delay(1.0), workload=Workload(3))
    run_protocol(InlineEngine(), RunSpec("every", {}, 1, network, REACTION_PS, duration_ps=100 * MS_PS), protocol, [])
    return protocol


def test_a_job_runs_at_multiples_of_its_period_for_any_reaction_time():
    times: list[int] = []
    run((20 * MS_PS, lambda node: times.append(node.now_ps), {}))
    assert times[:4] == [20 * MS_PS, 40 * MS_PS, 60 * MS_PS, 80 * MS_PS]


def test_a_job_begins_at_its_time_and_its_node():
    seen: list[tuple[int, int]] = []
    run((30 * MS_PS, lambda node: seen.append((node.id, node.now_ps)), {"node": 2, "first_ps": 10 * MS_PS}))
    assert seen[:3] == [(2, 10 * MS_PS), (2, 40 * MS_PS), (2, 70 * MS_PS)]


def test_a_job_may_return_its_next_time_or_end():
    times: list[int] = []

    def handler(node: Node) -> int | None:
        times.append(node.now_ps)
        return [5 * MS_PS, None, NEVER_AGAIN][len(times) - 1]

    run((20 * MS_PS, handler, {}))
    assert times == [20 * MS_PS, 25 * MS_PS, 45 * MS_PS]


def test_jobs_and_timers_of_the_protocol_are_independent():
    first: list[int] = []
    second: list[int] = []
    protocol = run(
        (20 * MS_PS, lambda node: first.append(node.now_ps), {}),
        (20 * MS_PS, lambda node: second.append(node.now_ps), {}),
    )
    assert first == second and len(first) >= 4
    assert [node.reported for node in protocol.nodes] == [[("own", 43 * MS_PS)]] * 3
