"""Give the process a fixed hash seed, so that sets of strings have the same order in every process.

Python orders a set of strings by a hash that is salted for each process, so a protocol that iterates over such a set
would have different results in each process. Therefore the process restarts itself with PYTHONHASHSEED=0. Its children,
including the processes of campaigns and Spark's workers, inherit the variable.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator

HASH_SEED = "0"


def fix_hash_seed() -> None:
    """Restart this process with the fixed hash seed, unless it already has this seed."""
    if os.environ.get("PYTHONHASHSEED") == HASH_SEED or not sys.orig_argv[1:]:
        return
    sys.stdout.flush()
    os.environ["PYTHONHASHSEED"] = HASH_SEED
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])


@contextlib.contextmanager
def fixed_for_children() -> Iterator[None]:
    """Give the fixed hash seed to processes that the block starts. This process keeps its own."""
    before = os.environ.get("PYTHONHASHSEED")
    os.environ["PYTHONHASHSEED"] = HASH_SEED
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYTHONHASHSEED"]
        else:
            os.environ["PYTHONHASHSEED"] = before
