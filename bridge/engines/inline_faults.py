"""Link failures and partitions on the inline engine: the check of a copy that leaves its sender."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causeway.proto.contract import pb
from causeway.toolchain.jit import compiled

TROUBLE_CUT, TROUBLE_PARTITION, TROUBLE_ONE_WAY = (
    int(kind) for kind in (pb.Trouble.CUT, pb.Trouble.PARTITION, pb.Trouble.ONE_WAY)
)
FAR_SIDE = 2
"""The value for nodes on neither side of a partition. Only sides 0 and 1 add up to 1, which separates two nodes."""


class FaultRows(NamedTuple):
    """Link failures and partitions (`network/faults.py`), a row each."""

    kind: NDArray[np.uint8]
    from_ps: NDArray[np.int64]
    to_ps: NDArray[np.int64]
    a: NDArray[np.int32]
    b: NDArray[np.int32]
    side: NDArray[np.int8]
    """0, 1 or FAR_SIDE for every node."""


@compiled
def is_fault_on(network_faults, now):
    """Return whether any link failure or partition is present."""
    for row in range(len(network_faults.from_ps)):
        if network_faults.from_ps[row] <= now < network_faults.to_ps[row]:
            return True
    return False


@compiled
def is_link_down(network_faults, now, a, b):
    """Return whether a link failure or a partition keeps packets from a from b; as `cut` in bridge/cpp/faults.h."""
    for row in range(len(network_faults.kind)):
        if now < network_faults.from_ps[row] or now >= network_faults.to_ps[row]:
            continue
        kind, one, other = network_faults.kind[row], network_faults.a[row], network_faults.b[row]
        if kind == TROUBLE_CUT and ((one == a and other == b) or (one == b and other == a)):
            return True
        if kind == TROUBLE_PARTITION and network_faults.side[row, a] + network_faults.side[row, b] == 1:
            return True
        if kind == TROUBLE_ONE_WAY and network_faults.side[row, a] == 0 and network_faults.side[row, b] == 1:
            return True
    return False
