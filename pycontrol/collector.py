"""Python's garbage collector during a run."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def only_new_objects_collected() -> Iterator[None]:
    """Everything that exists before a run (modules, mostly) outlives it: the garbage collector need not look at it."""
    if gc.get_freeze_count() > 0:  # somebody else has done that, and will undo it
        yield
        return
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
