"""The clocks and their detectors on OMNeT++: the same digest as inline, both ways of writing them."""

from __future__ import annotations

import pytest

from causeway.bridge import engines
from causeway.pycontrol.protocols.clocks.node import ProbabilisticProcesses, VectorProcesses
from causeway.pycontrol.protocols.clocks.vector import VectorClock
from causeway.pycontrol.protocols.clocks.vectorized import ProbabilisticClock
from causeway.pycontrol.protocols.hash.node import HashDetectorProcesses
from causeway.pycontrol.protocols.hash.vectorized import HashDetector
from tests.helpers.clock_runs import run

pytestmark = [pytest.mark.omnet]
FEW = {"nodes": 10, "rate_per_s": 60, "messages": 120}
PROTOCOLS = {
    "probabilistic": (lambda: ProbabilisticClock(16, 2), lambda: ProbabilisticProcesses(16, 2)),
    "mostefaoui": (lambda: ProbabilisticClock(16, 2, True), lambda: ProbabilisticProcesses(16, 2, True)),
    "vector": (lambda: VectorClock(), lambda: VectorProcesses()),
    "hash": (lambda: HashDetector(16, 2, 50), lambda: HashDetectorProcesses(16, 2, 50)),
    "hash, tested again": (
        lambda: HashDetector(16, 2, 50, retest=True), lambda: HashDetectorProcesses(16, 2, 50, retest=True),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PROTOCOLS)
def test_columns_and_nodes_agree_on_both_engines(name):
    if why := engines.get("omnet").missing():
        pytest.skip(why)
    columns, nodes = PROTOCOLS[name]
    digests = {run(make(), engine=engine, **FEW).digest for make in (columns, nodes) for engine in ("inline", "omnet")}
    assert len(digests) == 1
