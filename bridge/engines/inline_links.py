"""Links between sites on the inline engine: latencies, losses and queues (`network/links.py`)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causeway.network.links import STREAM_LINKS, Links
from causeway.network.random import draw_unit
from causeway.proto.contract import constant
from causeway.toolchain.jit import compiled

NO_LINK_PS = constant("NO_LINK_PS")
BIT_PS = 1e12
NO_ROOM = np.int64(-1)
LATEST_PS = float(constant("LATEST_PS"))


class LinkRows(NamedTuple):
    """Tables of links, by the sites of sender and receiver. They are empty for a network without `links`."""

    site: NDArray[np.int32]
    """The site of each node."""
    delay_ps: NDArray[np.int64]
    loss: NDArray[np.float64]
    """The probability of a loss on each link; empty if no link loses copies."""
    bps: NDArray[np.int64]
    """The bandwidth of each link; empty if no link has one."""
    free_ps: NDArray[np.int64]
    """The time from which each link with a bandwidth is free. It changes during the run."""
    queue_bytes: int


def link_rows(links: Links | None, nodes: int) -> LinkRows:
    """Return the tables of a network's links."""
    if links is None:
        whole = np.zeros((0, 0), np.int64)
        return LinkRows(np.zeros(0, np.int32), whole, np.zeros((0, 0)), whole, whole.copy(), 0)
    bps = links.bandwidths
    return LinkRows(links.site_of(nodes), links.delay_ps, links.losses, bps, np.zeros_like(bps), links.queue_bytes)


@compiled
def link_ps(links, now, one, other, size):
    """Send a copy over the link between two sites. Return the time that it takes, or NO_ROOM if it is lost.

    It is lost if the queue is full, or if the time would be longer than any run.
    """
    hop = links.delay_ps[one, other]
    if len(links.bps) == 0 or links.bps[one, other] == 0:
        return hop
    bps = np.float64(links.bps[one, other])
    start = max(now, links.free_ps[one, other])
    if links.queue_bytes > 0 and np.float64(start - now) * bps / (8.0 * BIT_PS) > links.queue_bytes:
        return NO_ROOM
    busy = np.ceil(np.float64(8 * size) * BIT_PS / bps)
    if np.float64(start) + busy > LATEST_PS:
        return NO_ROOM
    links.free_ps[one, other] = start + np.int64(busy)
    return links.free_ps[one, other] - now + hop


@compiled
def is_lost_on_link(links, seed, packet, receiver, one, other):
    """Return whether the link loses a copy."""
    return len(links.loss) > 0 and draw_unit(seed, STREAM_LINKS, packet, receiver) < links.loss[one, other]
