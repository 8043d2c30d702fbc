"""Entries spread evenly over the processes, and that every protocol that may use them does."""

from __future__ import annotations

import numpy as np
import pytest

from causeway.pycontrol.protocols.clocks.entries import choose_entries, draw_even_entries
from causeway.pycontrol.protocols.clocks.node import ProbabilisticProcesses
from causeway.pycontrol.protocols.clocks.vectorized import ProbabilisticClock
from causeway.pycontrol.protocols.hash.node import HashDetectorProcesses
from causeway.pycontrol.protocols.hash.vectorized import HashDetector
from tests.helpers.clock_runs import run


@pytest.mark.parametrize(
    ("nodes", "size", "entries"), [(200, 50, 4), (200, 50, 2), (7, 5, 3), (3, 4, 4), (13, 7, 6), (10, 50, 2), (9, 4, 1)]
)
def test_numbers_of_processes_that_share_an_entry_differ_by_at_most_one(nodes, size, entries):
    for seed in range(20):
        f = draw_even_entries(seed, nodes, size, entries)
        used = np.bincount(f.ravel(), minlength=size)
        assert f.shape == (nodes, entries) and len(used) == size
        assert (np.diff(f, axis=1) > 0).all(), "distinct, ascending"
        assert used.max() - used.min() <= 1


def test_even_entries_are_drawn_from_the_seed_and_favour_no_process_and_no_entry():
    rows = np.array([draw_even_entries(seed, 10, 4, 1)[:, 0] for seed in range(1000)])
    assert len({tuple(row) for row in rows.tolist()}) > 900
    share = np.array([[(rows[:, p] == x).mean() for x in range(4)] for p in range(10)])
    assert abs(share - 0.25).max() < 0.06, "four standard deviations"
    assert (draw_even_entries(3, 10, 4, 1) == rows[3][:, None]).all()


def test_two_processes_share_all_entries_as_often_as_in_a_random_deal():
    """Dealing must not keep rows apart: the chance that one message counts where another does is what makes errors."""
    each, cards = 8, 400  # 200 processes, 2 of 50 entries
    same = 2 * (each - 1) ** 2 / ((cards - 2) * (cards - 3))
    twins = (2 * (each - 1) * (each - 2) + 48 * each * (each - 1)) / ((cards - 2) * (cards - 3))
    expected = 60 * 199 * 100 * same / (1 - twins)
    shared = 0
    for seed in range(60):
        f = choose_entries(seed, 200, 50, 2, True)
        _, count = np.unique(f, axis=0, return_counts=True)
        shared += int((count * (count - 1) // 2).sum())
    assert shared == pytest.approx(expected, rel=0.12), "three standard deviations"


@pytest.mark.parametrize("detect", [False, True])
def test_columns_and_nodes_with_even_entries_give_the_same_digest(detect):
    columns, nodes = (run(kind(12, 2, detect, even=True)) for kind in (ProbabilisticClock, ProbabilisticProcesses))
    assert columns.digest == nodes.digest != run(ProbabilisticClock(12, 2, detect)).digest


@pytest.mark.slow
def test_the_hash_detector_with_even_entries_gives_the_same_digest_written_either_way():
    few = {"nodes": 12, "messages": 120}
    columns, nodes = (run(kind(12, 2, 200, even=True), **few) for kind in (HashDetector, HashDetectorProcesses))
    assert columns.digest == nodes.digest != run(HashDetector(12, 2, 200), **few).digest
