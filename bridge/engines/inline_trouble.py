"""Whether a copy that leaves now meets a cut or a partition: what the inline engine asks of a run's trouble."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causeway.bridge.jit import compiled
from causeway.bridge.schema import pb

TROUBLE_CUT, TROUBLE_PARTITION = int(pb.Trouble.CUT), int(pb.Trouble.PARTITION)
FAR_SIDE = 2
"""Of nodes that are on no side of a partition: with it, no two sides add up to 1."""


class TroubleRows(NamedTuple):
    """Cuts and partitions (`bridge/trouble.py`), a row each."""

    kind: NDArray[np.uint8]
    from_ps: NDArray[np.int64]
    to_ps: NDArray[np.int64]
    a: NDArray[np.int32]
    b: NDArray[np.int32]
    side: NDArray[np.int8]
    """Of every node: 0, 1 or FAR_SIDE."""


@compiled
def is_troubled(trouble, now):
    """Whether any trouble is on."""
    for row in range(len(trouble.from_ps)):  # noqa: SIM110 (numba)
        if trouble.from_ps[row] <= now < trouble.to_ps[row]:
            return True
    return False


@compiled
def is_cut(trouble, now, a, b):
    """Whether a cut or a partition is between two nodes; the twin of `cut` in bridge/cpp/trouble.h."""
    for row in range(len(trouble.kind)):
        if now < trouble.from_ps[row] or now >= trouble.to_ps[row]:
            continue
        kind, one, other = trouble.kind[row], trouble.a[row], trouble.b[row]
        if kind == TROUBLE_CUT and ((one == a and other == b) or (one == b and other == a)):
            return True
        if kind == TROUBLE_PARTITION and trouble.side[row, a] + trouble.side[row, b] == 1:
            return True
    return False
