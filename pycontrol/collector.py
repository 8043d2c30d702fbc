"""Configure Python's garbage collector for a run."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator

THRESHOLDS = (20_000, 10, 100)
"""Thresholds of the garbage collector (new objects, then rounds of each younger generation). A collection takes up to
15 ms, during which the simulator waits."""


@contextlib.contextmanager
def only_new_objects_collected() -> Iterator[None]:
    """Collect only objects that are made during the block, and less often than usual.

    Older objects, mostly modules, outlive a run, so scanning them is wasted time. Most objects of a run are freed by
    their reference counts.
    """
    if gc.get_freeze_count() > 0:  # another caller has frozen the objects, and will unfreeze them
        yield
        return
    often = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*often)
        gc.unfreeze()
