"""The abstract network on OMNeT++ gives bit-identical runs to the inline engine, however windows are cut."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from causeway.bridge import engines
from causeway.bridge.engine import Finish, RunSpec
from causeway.errors import RunError, UserError
from causeway.network.faults import Partition
from causeway.network.links import Links, random_edges
from causeway.network.networks import AbstractNetwork, constant_delay, normal_delay, uniform_delay
from causeway.network.workload import Faults, Script, Segment, Workload
from causeway.pycontrol.checker import CausalityChecker
from causeway.pycontrol.loop import Outcome, passive_mask, run_protocol
from causeway.pycontrol.node import PerNode
from causeway.pycontrol.protocol import Context, Protocol
from causeway.pycontrol.protocols.clocks.vector import VectorClock
from causeway.pycontrol.protocols.clocks.vectorized import ProbabilisticClock
from tests.bridge.test_inline_engine import MS, Chatter, specs
from tests.helpers.drawn import examples
from tests.helpers.reference_engine import ReferenceEngine

pytestmark = [pytest.mark.omnet]


@pytest.fixture(autouse=True, scope="module")
def omnet_is_here() -> None:
    if why := engines.get("omnet").missing():
        pytest.skip(why)


def load(nodes: int, rate: float, messages: int, **more) -> Workload:
    return Workload(nodes, messages=messages, segments=(Segment(0, rate),), size_bytes=100, **more)


def chatter(spec: RunSpec) -> Protocol:
    return PerNode(Chatter, spec.network.nodes - 1)


FAULTS = Faults(
    np.array([400, 700, 1500, 1500]) * MS, np.array([3, 3, 0, 7], np.int32), np.array([0, 1, 0, 0], np.uint8)
)
SCRIPT = Script(np.arange(90) // 3 * 10 * MS, np.arange(90, dtype=np.int32) % 7, np.full(90, 200, np.int32))
LATENCIES = np.array([[0, 10, 40, np.inf], [10, 0, 25, 80], [45, 25, 0, 30], [np.inf, 80, 30, 0]])
POINTS: dict[str, tuple[AbstractNetwork, object]] = {
    "vector clock": (
        AbstractNetwork(30, delay=normal_delay(100, 20), workload=load(30, 100, 300)), lambda spec: VectorClock(),
    ),
    "probabilistic clock": (
        AbstractNetwork(200, delay=normal_delay(100, 20), workload=load(200, 100, 200)),
        lambda spec: ProbabilisticClock(50, 2),
    ),
    "probabilistic clock, busy CPUs": (
        AbstractNetwork(
            60, delay=uniform_delay(5, 200), workload=load(60, 200, 300),
            send_ps=MS, send_ps_per_byte=10**6, recv_ps=MS // 2
        ),
        lambda spec: ProbabilisticClock(20, 3),
    ),
    "per node": (AbstractNetwork(20, delay=normal_delay(30, 10), workload=load(20, 100, 200)), chatter),
    "per node, loss and busy CPUs": (
        AbstractNetwork(
            20, delay=normal_delay(30, 10), workload=load(20, 100, 200), loss=0.1, send_ps=MS // 10, recv_ps=MS
        ),
        chatter,
    ),
    "per node, failures": (
        AbstractNetwork(
            12, delay=uniform_delay(1, 50), workload=load(12, 100, 200), send_ps=3 * MS, recv_ps=2 * MS, faults=FAULTS
        ),
        chatter,
    ),
    "per node, links with queues": (
        AbstractNetwork(
            12, delay=uniform_delay(0, 5), workload=load(12, 200, 200), send_ps=MS // 10, recv_ps=MS // 10,
            network_faults=(Partition((0, 1), (5, 6), 200 * MS, 500 * MS, one_way=True),),
            links=Links(
                LATENCIES, loss=0.05, bps=np.where(LATENCIES > 20, 200_000, 0), queue_bytes=300,
                site=np.arange(12) % 4,
            ),
        ),
        chatter,
    ),
    "per node, a random graph": (
        AbstractNetwork(
            30, delay=uniform_delay(0, 5), workload=load(30, 100, 100),
            links=Links.graph(30, random_edges(30, 4, seed=7), delay_ms=8),
        ),
        chatter,
    ),
    "per node, script with ties": (
        AbstractNetwork(7, delay=constant_delay(10), workload=Workload(7, script=SCRIPT), send_ps=MS, recv_ps=MS),
        chatter,
    ),
}  # fmt: skip


def run(engine: str, point: str, seed: int = 3, cap: int = 0, **changes) -> Outcome:
    network, make = POINTS[point]
    spec = RunSpec("test", {}, seed, network, MS, cap=cap, **changes)
    protocol = make(spec)  # type: ignore[operator]
    spec = dataclasses.replace(spec, passive_kinds=passive_mask(protocol))
    return run_protocol(engines.get(engine), spec, protocol, [CausalityChecker(network.nodes)])


@pytest.mark.parametrize("point", POINTS)
def test_inline_and_omnet_have_the_same_digest_and_scalars(point: str) -> None:
    inline, omnet = run("inline", point), run("omnet", point)
    assert omnet.events > 1000
    assert omnet.digest == inline.digest
    assert omnet.scalars == inline.scalars
    assert (omnet.finish.reason, omnet.finish.end_ps) == (inline.finish.reason, inline.finish.end_ps)


@pytest.mark.parametrize("point", ["probabilistic clock, busy CPUs", "per node, failures"])
def test_the_digest_on_omnet_does_not_depend_on_the_cap(point: str) -> None:
    whole = run("omnet", point)
    windows = [whole.windows]
    for cap in (16, 1):
        capped = run("omnet", point, cap=cap)
        assert capped.digest == whole.digest
        windows.append(capped.windows)
    assert windows == sorted(windows)
    assert windows[-1] > windows[0]


def test_the_same_seed_gives_the_same_digest_and_another_seed_another() -> None:
    first = run("omnet", "per node")
    assert first.digest == run("omnet", "per node").digest
    assert first.digest != run("omnet", "per node", seed=4).digest


def test_a_run_ends_at_its_duration_as_it_does_inline() -> None:
    inline, omnet = (run(engine, "per node", duration_ps=777 * MS) for engine in ("inline", "omnet"))
    assert omnet.digest == inline.digest
    assert (omnet.finish.reason, omnet.finish.end_ps) == (inline.finish.reason, inline.finish.end_ps)


def seen(spec: RunSpec) -> list[tuple[int, int, int, int, int]]:
    """All events of a run on OMNeT++, in the order in which the controller sees them."""
    protocol = PerNode(Chatter, spec.network.nodes - 1)
    protocol.start(Context(spec.network.nodes, spec.seed, spec.reaction_ps))
    session = engines.get("omnet").open(spec)
    rows = []
    try:
        while not isinstance(window := session.next(), Finish):
            columns = (window.time_ps, window.kind, window.node, window.ref, window.arg)
            rows += list(zip(*(c.tolist() for c in columns), strict=True))
            actions = protocol.on_window(window)
            if window.reply:
                session.answer(actions)
    finally:
        session.close()
    return rows


@settings(max_examples=examples(60), phases=[Phase.generate])
@given(specs(), st.sampled_from([0, 1, 3]))
def test_omnet_shows_the_same_events_as_the_plain_reference(spec: RunSpec, cap: int) -> None:
    protocol = PerNode(Chatter, spec.network.nodes - 1)
    protocol.start(Context(spec.network.nodes, spec.seed, spec.reaction_ps))
    assert seen(dataclasses.replace(spec, cap=cap)) == ReferenceEngine(spec).run(protocol)


def test_an_error_in_the_model_is_reported_with_its_last_lines() -> None:
    network, _ = POINTS["per node"]
    spec = RunSpec("test", {}, 1, network, MS, options={"set": {"network": "causeway.NoSuchNetwork"}})
    with pytest.raises(RunError, match=r"the simulator \(omnet\) died: exit status 1; its last lines: .*NoSuchNetwork"):
        engines.get("omnet").open(spec)


def test_unknown_options_are_refused() -> None:
    spec = RunSpec("test", {}, 1, POINTS["per node"][0], MS, options={"inni": "x"})
    with pytest.raises(UserError, match="engine omnet has no option 'inni'"):
        engines.get("omnet").open(spec)
