"""Nodes that come and go: each stay of a node is the life of a new process.

    AbstractNetwork(1000, stays=Stays.poisson(1000, per_s=5, mean_s=20, seed=1))

A node with stays is absent outside of them: it does not exist, receives nothing, and no message is due to it. When it
comes, it is made, joins (`joined`) and starts (`on_start`); when it goes, it ends (`on_finish`) and leaves (`left`).
Nodes without stays are present all the time. Engines see an absent node as one that is down. Vectorized protocols see
only the NODE events.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from heapq import heapreplace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causeway.errors import UserError
from causeway.network.field_shapes import MOST_NODES, WHOLE, checked_arguments, is_number
from causeway.network.random import draw_unit
from causeway.network.workload import LATEST_PS, Faults
from causeway.proto.contract import pb

STREAM = int(pb.RandomStream.TROUBLE)
ARRIVAL, LENGTH = 1 << 20, (1 << 20) + 1
"""The counters of the draws, far from those that random faults use in the same stream."""
S_PS = 10**12
MOST_STAYS = 100_000_000
"""The most stays that are drawn. Their rows take two gigabytes."""


@checked_arguments
@dataclass(frozen=True)
class Stays:
    """The times at which nodes are present: one row for each stay."""

    node: NDArray[np.int32]
    from_ps: NDArray[np.int64]
    to_ps: NDArray[np.int64]
    """The time when the node goes; LATEST_PS: it stays to the end."""

    def __post_init__(self) -> None:
        for name, kind in (("node", np.int32), ("from_ps", np.int64), ("to_ps", np.int64)):
            values = np.asarray(getattr(self, name))
            if values.ndim != 1 or (len(values) and values.dtype.kind not in "iu"):
                raise UserError(f"Stays: {name} must be a list of whole numbers")
            if len(values) and int(values.max()) > np.iinfo(kind).max:
                raise UserError(f"Stays: {name} has {values.max()}, which is too high")
            object.__setattr__(self, name, values.astype(kind))
        if not len(self.node) == len(self.from_ps) == len(self.to_ps):
            raise UserError("Stays: node, from_ps and to_ps have different lengths; each row is a stay")
        bad = np.flatnonzero((self.node < 0) | (self.from_ps < 0) | (self.from_ps >= self.to_ps))
        if len(bad):
            row = int(bad[0])
            shown = f"node {self.node[row]} stays from {self.from_ps[row]} to {self.to_ps[row]} ps"
            raise UserError(f"Stays, row {row}: {shown}; allowed: a node from 0 on, a time from 0 on, and a later one")
        order = np.lexsort((self.from_ps, self.node))
        again = self.node[order][1:] == self.node[order][:-1]
        early = np.flatnonzero(again & (self.from_ps[order][1:] <= self.to_ps[order][:-1]))
        if len(early):
            raise UserError(f"Stays: node {self.node[order][early[0]]} comes before it has gone; end its stay earlier")

    @classmethod
    @checked_arguments
    def poisson(
        cls, nodes: int, per_s: float, mean_s: float, seed: int, *, first: int = 0, present: int = 0, stays: int = 0
    ) -> Stays:
        """Draw stays: nodes come in order of id, as a Poisson process, and stay for exponential times.

        Args:
            nodes: The number of nodes of the network.
            per_s: Arrivals per second.
            mean_s: The mean length of a stay, in seconds.
            seed: The seed; use the run's.
            first: The first node that comes and goes. Nodes with lower ids are present all the time.
            present: The number of nodes, from `first` on, that are present at the beginning.
            stays: The number of stays; by default, one for each node. If there are more, a node comes again after it
                has gone, the one first that has been away for longest.
        """
        for name, value in (("per_s", per_s), ("mean_s", mean_s)):
            if not is_number(value) or not 0 < value < math.inf:
                raise UserError(f"Stays.poisson: {name} is {value!r}; allowed: a number above 0")
        if not all(map(WHOLE.fits, (nodes, seed, first, present, stays))):
            raise UserError("Stays.poisson: nodes, seed, first, present and stays must be whole numbers")
        largest = {"nodes": (nodes, MOST_NODES), "stays": (stays, MOST_STAYS), "seed": (seed, 2**63 - 1)}
        for name, (number, most) in largest.items():
            if not 0 <= number <= most:
                raise UserError(f"Stays.poisson: {name} is {number}; allowed: 0 to {most:,}")
        if not 0 <= first <= nodes or not 0 <= present <= nodes - first:
            shown = f"{nodes} nodes, first={first}, present={present}"
            raise UserError(f"Stays.poisson: {shown}; allowed: first + present up to the number of nodes")

        def exponential(stay: int, what: int) -> float:
            return -math.log1p(-float(draw_unit(seed, STREAM, stay, what)))

        rows, at_s = [], 0.0
        away = [(-1, node) for node in range(first, nodes)]  # a heap: since when, and which node
        for stay in range(first, first + (stays or nodes - first)):
            if stay >= first + present:
                at_s += exponential(stay, ARRIVAL) / per_s
            from_ps = round(at_s * S_PS)
            if from_ps >= LATEST_PS:
                break
            if not away or away[0][0] >= from_ps:
                raise UserError(f"Stays.poisson: all {nodes - first} nodes are there at {at_s:g} s; give it more nodes")
            to_ps = min(from_ps + 1 + round(exponential(stay, LENGTH) * mean_s * S_PS), LATEST_PS)
            rows.append((heapreplace(away, (to_ps, away[0][1]))[1], from_ps, to_ps))
        table = np.array(rows, np.int64).reshape(-1, 3)
        return cls(table[:, 0].astype(np.int32), table[:, 1], table[:, 2])

    @checked_arguments
    def at(self, time_ps: int) -> list[int]:
        """Return the nodes with stays that are present at an instant."""
        here = (self.from_ps <= time_ps) & (time_ps < self.to_ps)
        return sorted(self.node[here].tolist())


def changes_of(network: Any) -> Faults:
    """Return the failures of a network's nodes together with the beginnings and ends of their stays.

    Raises:
        UserError: A node with a stay does not exist, or has failures as well.
    """
    faults: Faults = network.faults
    stays: Stays | None = network.stays
    if getattr(network, "movement", None) is not None:  # its hosts come and go as SUMO's vehicles do
        guests = absent = np.array(network.vehicle_nodes, np.int32)
        stays = Stays(guests[:0], np.empty(0, np.int64), np.empty(0, np.int64))
    elif stays is None:
        return faults
    else:
        guests, absent = stays.node, np.setdiff1d(stays.node, stays.at(0))
    if len(guests) and guests.max() >= network.nodes:
        raise UserError(f"Stays: node {guests.max()} does not exist; there are nodes 0 to {network.nodes - 1}")
    if both := set(guests.tolist()) & set(np.asarray(faults.node).tolist()):
        raise UserError(f"node {min(both)} has stays and failures (faults); allowed: one of them")
    comes, goes = stays.from_ps > 0, stays.to_ps < LATEST_PS
    time_ps = np.concatenate([faults.time_ps, 0 * absent, stays.from_ps[comes], stays.to_ps[goes]]).astype(np.int64)
    node = np.concatenate([faults.node, absent, stays.node[comes], stays.node[goes]]).astype(np.int32)
    up = np.concatenate([faults.up, 0 * absent, np.ones(comes.sum()), np.zeros(goes.sum())]).astype(np.uint8)
    order = np.argsort(time_ps, kind="stable")
    return Faults(time_ps[order], node[order], up[order])
