"""Python's garbage collector during a run."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator

SELDOM = (20_000, 10, 100)
"""So many new objects, and so many rounds, before it looks: a look takes up to 15 ms, while a simulator waits."""


@contextlib.contextmanager
def only_new_objects_collected() -> Iterator[None]:
    """Everything that exists before a run (modules, mostly) outlives it: the garbage collector need not look at it.
    Most of what a run makes goes away without it: it looks less often."""
    if gc.get_freeze_count() > 0:  # somebody else has done that, and will undo it
        yield
        return
    often = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(*SELDOM)
    try:
        yield
    finally:
        gc.set_threshold(*often)
        gc.unfreeze()
