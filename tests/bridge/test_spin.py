"""Who has a core of its own spins; who is interrupted often does not, for a while."""

from __future__ import annotations

from itertools import accumulate, chain, repeat

from causeway.bridge.spin import LOOK, MOST_INTERRUPTIONS, REST, Spin


def spins(interruptions: list[int], frames: int) -> list[bool]:
    """For each frame whether it spins, where looks find so many interruptions since the last one, then none."""
    found = chain(accumulate([0, *interruptions]), repeat(sum(interruptions)))
    spin = Spin(0.1, lambda: next(found))
    return [spin.next_s() > 0 for _ in range(frames)]


def test_a_few_interruptions_are_the_kernels_own():
    assert all(spins([MOST_INTERRUPTIONS] * 10, 10 * LOOK))


def test_many_end_it_for_a_while_and_then_it_is_tried_again():
    said = spins([0, MOST_INTERRUPTIONS + 1], 4 * LOOK + REST)
    first = said.index(False)
    assert LOOK < first <= 2 * LOOK + 2
    assert said[first : first + REST + 1] == [False] * (REST + 1) and said[first + REST + 1 :][:LOOK] == [True] * LOOK


def test_as_long_as_others_compute_it_hardly_spins():
    said = spins([100, 0] * 10, 10 * (LOOK + REST))
    assert sum(said) < len(said) / 20


def test_who_shares_a_core_never_spins_and_never_asks():
    assert not Spin(0.0, lambda: 1 // 0).next_s()
