"""The study hash: its points, its readings, and the messages for impossible parameters."""

from __future__ import annotations

import numpy as np
import pytest

from causeway.errors import UserError
from causeway.pycontrol.protocol import BROADCAST, DELIVER, FLAGGED
from causeway.studies.campaign import Job
from causeway.studies.hash.readings import JITTER_MS, DirectErrors, entries_of, reach_of, staggered, steady
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
    assert [p.processes for p in points["table2"]] == [500, 1000, 2000, 3000, 5000] * 4
    assert {(p.rate, p.clock_size, p.entries, p.detector) for p in points["table2"]} == {(110, 50, 2, "hash")}
    assert {p.hash_limit for p in points["table2"]} == {100, 200, 400, 1000}
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
    [
        ({"entries": 60}, "60 entries per process do not fit a clock_size of 50"),
        ({"remember": 100}, "power of two"),
        ({"quiet": True}, "needs one_request"),
        ({"search": "near", "remember": 32}, "remember=32 is below twice the reach, 25 messages"),
        ({"search": "near", "remember": 2**15}, "what is near each message would have"),
    ],
)
def test_contradicting_parameters_are_refused_in_words(wrong, words):
    with pytest.raises(UserError, match=words):
        make_params(HashStudy(), wrong)


def test_steady_senders_keep_the_rate_and_nearly_the_interval():
    script = steady(50, 25.0, 1000, 7, 1)
    assert (np.diff(script.time_ps) >= 0).all() and set(script.node.tolist()) == set(range(50))
    assert script.time_ps[-1] == pytest.approx(40e12, rel=0.05)
    own = np.diff(script.time_ps[script.node == 3])
    assert own.min() > 1.7e12 and own.max() < 2.3e12


def test_staggered_senders_take_turns_and_keep_their_own_order():
    script = staggered(50, 25.0, 1000, 7, 1)
    assert len(script.time_ps) == 1000 and (np.diff(script.time_ps) >= 0).all() and script.time_ps[0] >= 0
    assert np.bincount(script.node).tolist() == [20] * 50, "once a period each"
    slot_ps = np.arange(1000) * 40 * 10**9
    off = np.array([script.time_ps[script.node == p] - slot_ps[p::50] for p in range(50)])[1:]
    assert abs(off.mean()) < 1e9 and off.std() == pytest.approx(JITTER_MS * 1e9, rel=0.1)
    assert not (staggered(50, 25.0, 1000, 7, 2).time_ps == script.time_ps).all()


def test_senders_faster_than_their_jitter_still_keep_their_own_order():
    script = staggered(4, 400.0, 300, 7, 1)
    assert len(script.time_ps) == 300
    assert all((np.diff(script.time_ps[script.node == p]) >= 0).all() for p in range(4))


def test_the_authors_rule_gives_four_entries_in_table_1():
    assert entries_of(50, 100, 100) == 4 and entries_of(20, 100, 100) == 2 and entries_of(50, 20, 100) == 4
    params = HashParams(entries=0)
    assert HashStudy().protocol(params).entries == 4
    assert [p.get("entries") for p in HashStudy.sweeps["table1"]] == [4, 4, 4]


def test_staggered_senders_and_even_entries_are_table_1():
    for point in HashStudy.sweeps["table1"]:
        params = HashParams(**point)
        assert (params.intervals, params.entries_draw) == ("staggered", "even")
        assert HashStudy().protocol(params).even
    assert {HashParams(**p).intervals for p in HashStudy.sweeps["table1_exponential"]} == {"exponential"}


@pytest.mark.parametrize("detector", ["mostefaoui", "hash"])
def test_the_order_and_the_entries_of_senders_change_the_results(detector):
    digests = [
        run_job(Job("hash", {**FEW, "detector": detector, **given}, 1, "inline")).outcome.digest
        for given in ({}, {"intervals": "staggered"}, {"entries_draw": "even"})
    ]
    assert len(set(digests)) == 3


def test_the_near_search_reaches_back_as_the_authors_program_does():
    assert reach_of(110) == 26.5
    params = HashParams(search="near", rate=110, entries=2)
    assert params.near == HashStudy().protocol(params.model_copy(update={"detector": "hash"})).choices.near == 53
    assert HashParams().near == HashStudy().protocol(HashParams(detector="hash")).choices.near == 0


def test_the_other_order_of_search_makes_more_requests():
    given_ = {**FEW, "detector": "hash", "intervals": "staggered", "messages": 400}
    near_how = {"search": "near", "hash_limit": 8}
    counts, near = (run_job(Job("hash", {**given_, **how}, 1, "inline")).scalars for how in ({}, near_how))
    assert near["requests"] > counts["requests"] and near["missing"] == 0


def counted(nodes, *rows):
    errors = DirectErrors(nodes)
    op, node, message = (np.array(c) for c in zip(*rows, strict=True))
    errors.observe(op.astype(np.uint8), None, node.astype(np.int32), message.astype(np.int64))
    return [*errors.scalars().values()]


SENT = [(BROADCAST, 0, 0), (DELIVER, 0, 0), (DELIVER, 1, 0), (BROADCAST, 1, 1), (DELIVER, 1, 1)]


def test_direct_errors_are_deliveries_that_lack_what_the_sender_had_delivered():
    assert counted(3, *SENT, (DELIVER, 2, 0), (DELIVER, 2, 1)) == [0, 0]
    assert counted(3, *SENT, (DELIVER, 2, 1), (DELIVER, 2, 0)) == [1, 1], "the late one is not wrong itself"
    assert counted(3, *SENT, (FLAGGED, 2, 1), (DELIVER, 2, 1), (DELIVER, 2, 0)) == [1, 0]


def test_direct_errors_include_the_order_of_one_sender():
    again = [(BROADCAST, 0, 0), (DELIVER, 0, 0), (BROADCAST, 0, 1), (DELIVER, 0, 1), (DELIVER, 1, 1), (DELIVER, 1, 0)]
    assert counted(2, *again) == [1, 1]


def test_direct_errors_exclude_deliveries_that_were_already_early_at_the_sender():
    """Process 2 answers 1 before it has a message of 0, on which that depends: at 3, its answer lacks only that 1."""
    early = [(DELIVER, 2, 1), (BROADCAST, 2, 2), (DELIVER, 2, 2), (DELIVER, 3, 1), (DELIVER, 3, 2), (DELIVER, 3, 0)]
    assert counted(4, *SENT, *early) == [2, 2], "1's message at 2 and at 3, but not 2's at 3"
