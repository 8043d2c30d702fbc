"""The links of an abstract network: latencies between cities, missing links, bandwidths with queues.

    AbstractNetwork(100, links=Links(latencies_ms))                # one site for each node
    AbstractNetwork(10_000, links=Links(latencies_ms, site=range_of_cities))
    AbstractNetwork(50, links=Links.graph(50, random_edges(50, 4, seed=1), delay_ms=10))

A table of links has a row for each site of a sender and a column for each site of a receiver. Nodes are at sites: by
default node i is at site i, and links are between nodes. With few sites, many nodes share a small table. The rules for
packets are in `network/networks.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from causeway.errors import UserError
from causeway.network.field_shapes import MOST_NODES, WHOLE, checked_arguments, checked_values, is_number
from causeway.network.random import draw_unit
from causeway.proto.contract import constant, pb

NO_LINK_PS: int = constant("NO_LINK_PS")
STREAM_LINKS = int(pb.RandomStream.LINKS)
PS_PER_MS = 10**9
MOST_DELAY_MS = 10**9
MOST_BPS = 10**15
COLUMNS = ("from", "to", "delay_ms")

MOST_SITES = 20_000
"""The most sites. A table of their latencies takes three gigabytes."""


@checked_arguments
@dataclass(frozen=True)
class Links:
    """A table of links between sites."""

    delay_ms: ArrayLike
    """The latency from each site (row) to each site (column), added to the random delay of the network. `inf` means
    that there is no link."""
    loss: ArrayLike = 0.0
    """The probability that a link loses a copy: a number, or a table like `delay_ms`."""
    bps: ArrayLike = 0
    """The bandwidth of a link, in bits per second: one number or a table. A link with a bandwidth sends one copy after
    the other. 0: there is no limit, and a link sends any number of copies at once."""
    queue_bytes: int = 0
    """A copy is lost if more bytes than this are unsent before it on a link with a bandwidth, the rest of the copy that
    is being sent included. 0: there is no limit."""
    site: Sequence[int] | NDArray[np.int32] = field(default=())
    """The site of each node. Empty: node i is at site i."""

    def __post_init__(self) -> None:
        delay = self._table("delay_ms", self.delay_ms)
        if delay.ndim != 2 or delay.shape[0] != delay.shape[1] or not len(delay):
            raise UserError(f"Links: delay_ms has the shape {delay.shape}; allowed: a row and a column for each site")
        if not ((delay >= 0) & ((delay <= MOST_DELAY_MS) | np.isinf(delay))).all():  # NaN is neither
            raise UserError(
                f"Links: a delay_ms is below 0, above {MOST_DELAY_MS:,} or not a number; use inf for a missing link"
            )
        self._check_within("loss", self.loss, 0, 1, delay.shape)
        self._check_within("bps", self.bps, 0, MOST_BPS, delay.shape)
        if (bps := self._table("bps", self.bps)).size and (bps % 1).any():
            raise UserError("Links: bps has a fraction; allowed: whole bits per second, as in 5_000_000")
        if self.queue_bytes and not bps.any():
            raise UserError("Links: queue_bytes bounds the queue of links with a bandwidth; set bps, too")
        if isinstance(self.queue_bytes, bool) or not isinstance(self.queue_bytes, int) or not self.queue_bytes >= 0:
            raise UserError(f"Links: queue_bytes is {self.queue_bytes!r}; allowed: a whole number, 0 and up")
        site = np.asarray(self.site)
        if site.ndim != 1 or (len(site) and site.dtype.kind not in "iu"):
            raise UserError("Links: site must be a list of whole numbers, the site of each node")
        if len(site) and not ((site >= 0) & (site < len(delay))).all():
            wrong = site[(site < 0) | (site >= len(delay))][0]
            raise UserError(f"Links: a node is at site {wrong}; delay_ms has sites 0 to {len(delay) - 1}")

    @classmethod
    @checked_arguments
    def of(cls, sites: int, delay_ms: Callable[[int, int], float], **fields: Any) -> Links:
        """Return links whose latency is a function of the sender's site and the receiver's.

        Args:
            sites: The number of sites.
            delay_ms: Returns the latency in ms, or `math.inf` where there is no link.
            fields: Any other field of Links.
        """
        if not WHOLE.fits(sites) or not 1 <= sites <= MOST_SITES:
            raise UserError(f"Links.of: sites is {sites!r}; allowed: a whole number, 1 to {MOST_SITES:,}")
        if not callable(delay_ms):
            raise UserError(f"Links.of: delay_ms is {delay_ms!r}; allowed: a function of two sites")
        return cls(np.array([[delay_ms(a, b) for b in range(sites)] for a in range(sites)]), **fields)

    @classmethod
    @checked_arguments
    def graph(cls, nodes: int, edges: Iterable[tuple[int, int]], delay_ms: float = 0.0, **fields: Any) -> Links:
        """Return the links of an undirected graph; `EVERYONE` then means a node's neighbours."""
        if not WHOLE.fits(nodes) or not 1 <= nodes <= MOST_SITES:
            raise UserError(f"Links.graph: nodes is {nodes!r}; allowed: a whole number, 1 to {MOST_SITES:,}")
        if not is_number(delay_ms):
            raise UserError(f"Links.graph: delay_ms is {delay_ms!r}; allowed: a number of milliseconds")
        table = np.full((nodes, nodes), math.inf)
        for edge in edges if isinstance(edges, Iterable) else (edges,):
            pair = tuple(edge) if isinstance(edge, Iterable) else (edge,)
            if len(pair) != 2 or not all(WHOLE.fits(end) and 0 <= end < nodes for end in pair) or pair[0] == pair[1]:
                raise UserError(f"Links.graph: an edge is {edge!r}; allowed: two of the nodes 0 to {nodes - 1}")
            table[pair] = table[pair[::-1]] = delay_ms
        return cls(table, **fields)

    @classmethod
    @checked_arguments
    def read(cls, path: str | Path, **fields: Any) -> tuple[Links, list[str]]:
        """Read a CSV file with the columns from, to and delay_ms; return the links and the sorted names of the sites.

        A row counts for both directions, unless the file contains the opposite direction, too. Pairs that are not in
        the file have no link. The latency within a site is 0, unless the file contains it.
        """
        import pandas as pd

        try:
            rows = pd.read_csv(path, dtype={"from": str, "to": str}, skipinitialspace=True, keep_default_na=False)
        except (OSError, ValueError) as error:
            raise UserError(f"{path} cannot be read as CSV: {error}") from None
        if sorted(rows.columns) != sorted(COLUMNS):
            raise UserError(f"{path} has the columns {', '.join(rows.columns)}; it needs {', '.join(COLUMNS)}")
        if not pd.api.types.is_numeric_dtype(rows["delay_ms"]) or not rows[["from", "to"]].all(axis=None):
            raise UserError(f"{path} has a row without a name or a number in delay_ms")
        twice = rows[rows.duplicated(["from", "to"])]
        for _, row in twice.iterrows():
            raise UserError(f"{path} has two rows from {row['from']} to {row['to']}; remove one")
        names = sorted({*rows["from"], *rows["to"]})
        number = {name: at for at, name in enumerate(names)}
        table = np.full((len(names), len(names)), math.inf)
        np.fill_diagonal(table, 0.0)
        one, other = rows["from"].map(number).to_numpy(), rows["to"].map(number).to_numpy()
        table[other, one] = rows["delay_ms"]
        table[one, other] = rows["delay_ms"]
        return cls(table, **fields), names

    def neighbours(self, node: int, nodes: int) -> list[int]:
        """Return the nodes to which a node has a link, in a network of `nodes` nodes."""
        site = self.site_of(nodes)
        return [int(to) for to in np.flatnonzero(self.delay_ps[site[node]][site] != NO_LINK_PS) if to != node]

    def site_of(self, nodes: int) -> NDArray[np.int32]:
        """Return the site of each node, in a network of `nodes` nodes.

        Raises:
            UserError: The links are for another number of nodes.
        """
        if not len(self.site) and len(self.delay_ps) != nodes:
            raise UserError(
                f"Links has {len(self.delay_ps)} sites for {nodes} nodes; give each node its own, or name each node's "
                "site (site=...)"
            )
        if len(self.site) and len(self.site) != nodes:
            raise UserError(f"Links: site has {len(self.site)} nodes; the network has {nodes}")
        return np.asarray(self.site, np.int32) if len(self.site) else np.arange(nodes, dtype=np.int32)

    @cached_property
    def delay_ps(self) -> NDArray[np.int64]:
        """The latencies in whole nanoseconds, as picoseconds; NO_LINK_PS where there is no link."""
        table = np.asarray(self.delay_ms, np.float64)
        there = np.isfinite(table)
        whole_ns = np.floor(np.where(there, table, 0.0) * 1e6 + 0.5).astype(np.int64)
        return np.where(there, whole_ns * 1000, NO_LINK_PS)

    @property
    def longest_delay_ps(self) -> int:
        """The longest latency of a link."""
        return int(self.delay_ps.max(initial=0, where=self.delay_ps != NO_LINK_PS))

    @cached_property
    def losses(self) -> NDArray[np.float64]:
        """The probability of a loss on each link; empty if no link loses copies."""
        table = np.asarray(self.loss, np.float64)
        return np.array(np.broadcast_to(table, self.delay_ps.shape)) if table.any() else np.zeros((0, 0))

    @cached_property
    def bandwidths(self) -> NDArray[np.int64]:
        """The bits per second of each link; empty if no link has a limit."""
        table = np.asarray(self.bps, np.int64)
        return np.array(np.broadcast_to(table, self.delay_ps.shape)) if table.any() else np.zeros((0, 0), np.int64)

    @staticmethod
    def _table(name: str, values: ArrayLike) -> NDArray[np.float64]:
        try:
            table = np.asarray(values)
        except ValueError:  # rows of several lengths
            table = np.empty(0, object)
        if table.dtype.kind not in "iuf":
            raise UserError(f"Links: {name} must be a table of numbers, with rows of one length")
        return table.astype(np.float64)

    def _check_within(self, name: str, values: ArrayLike, least: float, most: float, shape: tuple[int, ...]) -> None:
        table = self._table(name, values)
        if table.ndim and table.shape != shape:
            raise UserError(f"Links: {name} has the shape {table.shape}; allowed: one number, or {shape}")
        if not ((table >= least) & (table <= most)).all():
            raise UserError(f"Links: {name} has a value that is not {least} to {most:,}")


@checked_values
def random_edges(nodes: int, degree: int, seed: int) -> list[tuple[int, int]]:
    """Draw a connected undirected graph: a ring over the nodes in random order, and random edges up to the mean degree.

    Args:
        nodes: The number of nodes.
        degree: The mean number of neighbours, 2 and up.
        seed: The seed; equal seeds give equal graphs.
    """
    if not 3 <= nodes <= MOST_NODES or not 2 <= degree < nodes:
        raise UserError(f"random_edges: {nodes} nodes with degree {degree}; allowed: 3 nodes and up, degree 2 and up")

    def share(number: int, what: int) -> float:
        return float(draw_unit(seed, STREAM_LINKS, number, what))

    order = sorted(range(nodes), key=lambda node: share(node, 0))
    edges = {_ordered(a, b) for a, b in zip(order, order[1:] + order[:1], strict=True)}
    number = nodes
    while len(edges) < nodes * degree // 2:
        a, b = (min(int(share(number, what) * nodes), nodes - 1) for what in (1, 2))
        number += 1
        if a != b:
            edges.add(_ordered(a, b))
    return sorted(edges)


def _ordered(a: int, b: int) -> tuple[int, int]:
    return (a, b) if a < b else (b, a)
