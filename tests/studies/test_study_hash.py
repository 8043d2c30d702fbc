"""The study hash: its points, its readings, and the words for what cannot be."""

from __future__ import annotations

import numpy as np
import pytest

from causeway.bridge.errors import UserError
from causeway.pycontrol.protocol import BROADCAST, DELIVER, FLAGGED
from causeway.studies.campaign import Job
from causeway.studies.hash.readings import SenderOrder, steady
from causeway.studies.hash.study import HashParams, HashStudy
from causeway.studies.parameters import make_params
from causeway.studies.runner import run_job

FEW = {"processes": 30, "messages": 150, "clock_size": 20}
NEEDED = {
    "messages", "deliveries", "arrivals_out_of_order", "violations", "messages_violated", "flagged",
    "flagged_and_violated", "requests",
}  # fmt: skip


def test_the_published_points_are_in_the_sweeps():
    sweeps = HashStudy.sweeps
    points = {name: [HashParams(**point) for point in sweeps[name]] for name in sweeps}
    assert [p.detector for p in points["table1"]] == ["none", "mostefaoui", "hash"]
    assert {(p.processes, p.rate, p.clock_size, p.messages) for p in points["table1"]} == {(200, 100, 50, 100_000)}
    assert [p.processes for p in points["table2"]] == [500, 1000, 2000, 3000, 5000]
    assert {(p.rate, p.clock_size, p.entries, p.detector) for p in points["table2"]} == {(110, 50, 2, "hash")}
    assert {p.clock_size for p in points["figure1"]} == {20, 25, 50}


@pytest.mark.parametrize("detector", ["none", "mostefaoui", "hash"])
def test_every_detector_gives_all_scalars(detector):
    found = run_job(Job("hash", {**FEW, "detector": detector}, 1, "inline")).scalars
    assert found.keys() >= NEEDED
    assert found["deliveries"] == 30 * 150
    assert (found["violations"] > 0) is (detector != "hash")
    assert (found["flagged"] > 0) is (detector != "none")
    assert (found["requests"] > 0) is (detector == "hash")


def test_a_vector_clock_makes_no_errors():
    found = run_job(Job("hash", {**FEW, "clock": "vector"}, 1, "inline")).scalars
    assert found["violations"] == 0 and found["arrivals_out_of_order"] > 0


@pytest.mark.parametrize(
    ("wrong", "words"),
    [({"entries": 60}, "60 entries per process do not fit a clock_size of 50"), ({"remember": 100}, "power of two")],
)
def test_what_cannot_be_is_refused_in_words(wrong, words):
    with pytest.raises(UserError, match=words):
        make_params(HashStudy(), wrong)


def test_steady_senders_keep_the_rate_and_nearly_the_interval():
    script = steady(50, 25.0, 1000, 7, 1)
    assert (np.diff(script.time_ps) >= 0).all() and set(script.node.tolist()) == set(range(50))
    assert script.time_ps[-1] == pytest.approx(40e12, rel=0.05)
    own = np.diff(script.time_ps[script.node == 3])
    assert own.min() > 1.7e12 and own.max() < 2.3e12


def test_sender_order_counts_deliveries_before_an_earlier_message_of_the_same_sender():
    order = SenderOrder(3, 3)
    rows = [
        (BROADCAST, 0, 0), (DELIVER, 0, 0), (BROADCAST, 0, 1), (DELIVER, 0, 1), (BROADCAST, 1, 2), (DELIVER, 1, 2),
        (DELIVER, 1, 1), (FLAGGED, 2, 1), (DELIVER, 2, 1), (DELIVER, 1, 0), (DELIVER, 2, 0), (DELIVER, 2, 2),
    ]  # fmt: skip
    op, node, message = (np.array(c) for c in zip(*rows, strict=True))
    order.observe(op.astype(np.uint8), None, node.astype(np.int32), message.astype(np.int64))
    assert list(order.scalars().values()) == [2, 1, 1]
