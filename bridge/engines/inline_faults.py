"""Link failures and partitions on the inline engine, which checks them when a copy leaves its sender."""

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
"""The side of nodes that a partition does not affect. Two nodes are separated if the sum of their sides is 1, and no
sum with this value is 1."""


class FaultRows(NamedTuple):
    """Link failures and partitions (`network/faults.py`), one in each row."""

    kind: NDArray[np.uint8]
    from_ps: NDArray[np.int64]
    to_ps: NDArray[np.int64]
    a: NDArray[np.int32]
    b: NDArray[np.int32]
    side: NDArray[np.int8]
    """The side of every node: 0, 1 or FAR_SIDE."""


@compiled
def is_fault_on(network_faults, now):
    """Return whether any link failure or partition is in effect."""
    for row in range(len(network_faults.from_ps)):
        if network_faults.from_ps[row] <= now < network_faults.to_ps[row]:
            return True
    return False


@compiled
def is_link_down(network_faults, now, a, b):
    """Return whether a link failure or partition stops packets from a to b, by the rules of bridge/cpp/faults.h."""
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
