"""Link failures and partitions on the inline engine: decides whether a copy that leaves now meets one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causeway.bridge.jit import compiled
from causeway.bridge.schema import pb

TROUBLE_CUT, TROUBLE_PARTITION = int(pb.Trouble.CUT), int(pb.Trouble.PARTITION)
FAR_SIDE = 2
"""The side of nodes on no side of a partition: no sum with another side is 1."""


class TroubleRows(NamedTuple):
    """Link failures and partitions (`bridge/trouble.py`), a row each."""

    kind: NDArray[np.uint8]
    from_ps: NDArray[np.int64]
    to_ps: NDArray[np.int64]
    a: NDArray[np.int32]
    b: NDArray[np.int32]
    side: NDArray[np.int8]
    """0, 1 or FAR_SIDE for every node."""


@compiled
def is_troubled(trouble, now):
    """Return whether any link failure or partition is present."""
    for row in range(len(trouble.from_ps)):  # noqa: SIM110 (numba)
        if trouble.from_ps[row] <= now < trouble.to_ps[row]:
            return True
    return False


@compiled
def is_cut(trouble, now, a, b):
    """Return whether a link failure or a partition separates two nodes; the same as `cut` in bridge/cpp/trouble.h."""
    for row in range(len(trouble.kind)):
        if now < trouble.from_ps[row] or now >= trouble.to_ps[row]:
            continue
        kind, one, other = trouble.kind[row], trouble.a[row], trouble.b[row]
        if kind == TROUBLE_CUT and ((one == a and other == b) or (one == b and other == a)):
            return True
        if kind == TROUBLE_PARTITION and trouble.side[row, a] + trouble.side[row, b] == 1:
            return True
    return False
