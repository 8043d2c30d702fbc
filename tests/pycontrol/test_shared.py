"""Contents are watched in one thread only, since runs in other threads begin and end at any time."""

from __future__ import annotations

import threading

from causeway.pycontrol import shared


class Spy:
    """A protocol that records the calls that would watch it."""

    def __init__(self) -> None:
        self.asked = False

    @property
    def can_be_copied(self) -> bool:
        self.asked = True
        return False


def watched() -> bool:
    spy = Spy()
    shared.watch_if_wanted(spy)
    return spy.asked


def test_runs_that_overlap_in_two_threads_leave_nothing_watched():
    inside, over, seen = threading.Event(), threading.Event(), []

    def first() -> None:
        with shared.watching_contents():
            inside.set()
            over.wait(10)

    def second() -> None:
        inside.wait(10)
        seen.append(watched())
        with shared.watching_contents():
            over.set()
            one.join(10)
            seen.append(watched())
        seen.append(watched())

    one, other = threading.Thread(target=first), threading.Thread(target=second)
    one.start()
    other.start()
    other.join(20)
    assert seen == [False, True, False]
    assert not watched()
