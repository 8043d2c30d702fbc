"""The workload (the nodes and times of broadcasts) and scripted failures of nodes.

The Poisson workload draws one sequence for the whole system. The time from broadcast i to broadcast i + 1 is a unit
exponential drawn from (seed, i), multiplied by the mean interval of the segments through which it passes. The sender is
also drawn from (seed, i). This is equivalent to independent Poisson processes on all nodes, and needs no state per
node. `bridge/cpp/workload.h` is the same in C++.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, InitVar, dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causeway.deprecated import former_arguments
from causeway.errors import UserError, shown_type
from causeway.network.field_shapes import (
    WHOLE,
    check,
    check_shapes,
    checked_arguments,
    instance_of,
    is_number,
)
from causeway.network.random import (
    QUANTILE_BINS,
    STREAM_HOT,
    STREAM_INTERVAL,
    STREAM_SENDER,
    below,
    draw,
    from_table,
    round_ns_to_ps,
    unit,
)
from causeway.proto.contract import constant
from causeway.toolchain.jit import compiled

NEVER = np.iinfo(np.int64).max
LATEST_PS = constant("LATEST_PS")


@checked_arguments
@dataclass(frozen=True)
class Segment:
    """An interval of constant load, from `start_ps` to the start of the next segment."""

    start_ps: int
    rate_per_s: float
    hot_share: float = 0.0
    """The share of the broadcasts that come from the first `hot_nodes` nodes. The others come from all nodes equally.
    """
    hot_nodes: int = 0

    def __post_init__(self) -> None:
        if not is_number(self.rate_per_s):
            allowed = "broadcasts per second, a number"
            raise UserError(f"a segment was given rate_per_s={self.rate_per_s!r}; allowed: {allowed}")
        if self.hot_share and not self.hot_nodes:
            raise UserError(f"a segment was given hot_share={self.hot_share!r}, but hot_nodes is 0; set both")


@checked_arguments
@dataclass(frozen=True)
class Script:
    """An explicit list of broadcasts, in order of time."""

    time_ps: NDArray[np.int64]
    node: NDArray[np.int32]
    size_bytes: NDArray[np.int32]

    def __post_init__(self) -> None:
        check_shapes(self)
        for name in ("time_ps", "node", "size_bytes"):
            value = getattr(self, name)
            if isinstance(value, list | tuple):
                object.__setattr__(self, name, np.array(value) if value else np.empty(0, np.int64))


FROM_NETWORK = -1
"""The value of `nodes` and `first_node` in a workload that gets them from its network."""


@former_arguments("nodes first_node messages size_bytes segments script", most=1)
@checked_arguments
@dataclass(frozen=True)
class Workload:
    """Nodes first_node .. first_node + nodes - 1 broadcast: by the script if there is one, else by the segments.

    In the simplest workload, `Workload(rate=5)`, all nodes of the network (of a mobile one, all hosts) together
    broadcast five messages per second, as a Poisson process.
    """

    nodes: int = FROM_NETWORK
    """The number of nodes that broadcast. By default, all nodes from `first_node` on."""
    _: KW_ONLY
    first_node: int = FROM_NETWORK
    """The first node that broadcasts. The default is node 0 or, if `nodes` is not set either, the first host of a
    mobile network."""
    messages: int = 0
    """The number of broadcasts after which the workload ends; 0: it does not end."""
    size_bytes: int = 0
    segments: tuple[Segment, ...] = ()
    """The segments in order of time. If the first one starts later than 0, a segment without broadcasts precedes it."""
    script: Script | None = None
    rate: InitVar[float | None] = None
    """Broadcasts per second of all nodes together, instead of `segments`."""

    def __post_init__(self, rate: float | None) -> None:
        if not isinstance(self.segments, tuple | list):
            raise UserError(
                f"the workload's segments are {shown_type(self.segments)}; allowed: a tuple of Segment, "
                "as in segments=(Segment(0, rate),)"
            )
        if rate is not None:
            if self.segments or self.script is not None:
                raise UserError("a workload has a rate and segments (or a script); remove one")
            object.__setattr__(self, "segments", (Segment(0, rate),))
        if self.script is not None:
            self._check_script(self.script)
        first = self.segments[0] if self.segments else None
        if isinstance(first, Segment) and isinstance(first.start_ps, int | np.integer) and first.start_ps > 0:
            object.__setattr__(self, "segments", (Segment(0, 0.0), *self.segments))
        if self.nodes != FROM_NETWORK and self.first_node == FROM_NETWORK:
            object.__setattr__(self, "first_node", 0)

    def _check_script(self, script: Script) -> None:
        """Refuse what contradicts a script, which says all about the broadcasts."""
        check(self, "script", instance_of(Script, "Script(time_ps, node, size_bytes)"))
        for name in ("segments", "size_bytes"):
            if getattr(self, name):
                raise UserError(
                    f"a workload has a script and {name}; remove one, since the script has its own broadcasts"
                )
        if WHOLE.fits(self.messages) and 0 < self.messages < len(script.time_ps):
            rows = len(script.time_ps)
            raise UserError(
                f"a workload has messages={self.messages} and a script of {rows}; cut the script, or messages"
            )

    @property
    def is_silent(self) -> bool:
        """True if no node broadcasts."""
        return not self.segments and self.script is None

    def on(self, nodes: int, first_host: int = 0) -> Workload:
        """Return the workload with `nodes` and `first_node` filled in for a network of `nodes` nodes.

        The result keeps this workload, so that a copy of the network with another number of nodes
        (`dataclasses.replace`, a sweep over `nodes`) fills them in again.
        """
        origin: Workload = vars(self).get("_origin", self)
        if origin.nodes != FROM_NETWORK:
            return self
        first = first_host if origin.first_node == FROM_NETWORK else origin.first_node
        completed = replace(origin, nodes=max(0, nodes - first), first_node=first)
        object.__setattr__(completed, "_origin", origin)
        return completed


@checked_arguments
def poisson(rate: float, size_bytes: int = 100, messages: int | None = None, nodes: int | None = None) -> Workload:
    """Return a workload in which nodes broadcast as a Poisson process.

    Args:
        rate: Broadcasts per second of all nodes together.
        size_bytes: The size of a message.
        messages: The number of broadcasts after which the workload ends; None: it ends with the run.
        nodes: The number of nodes that broadcast: nodes 0, 1, ... By default all nodes or, in a mobile network, all
            hosts.
    """
    if messages is not None and messages == 0:
        raise UserError("poisson was given messages=0; allowed: 1 and up, or None for no limit")
    count = FROM_NETWORK if nodes is None else nodes
    return Workload(count, messages=messages or 0, size_bytes=size_bytes, rate=rate)


@checked_arguments
@dataclass(frozen=True)
class Faults:
    """Nodes that go down (up = 0) and come up (1), in order of time."""

    time_ps: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    node: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))
    up: NDArray[np.uint8] = field(default_factory=lambda: np.empty(0, np.uint8))

    def __post_init__(self) -> None:
        check_shapes(self)


def exponential_quantiles() -> NDArray[np.float64]:
    """Return quantiles of the unit exponential, scaled so that linear interpolation between them has mean 1 exactly."""
    points = np.arange(QUANTILE_BINS + 1) / QUANTILE_BINS
    points[-1] = 1 - 0.5 / QUANTILE_BINS
    table = -np.log1p(-points)
    return table / ((table[:-1] + table[1:]) / 2).mean()


class WorkloadTables(NamedTuple):
    """A workload in the form for the generators (numba and C++): the nodes that broadcast, and segments as arrays."""

    first_node: int
    nodes: int
    start_ps: NDArray[np.int64]
    mean_ns: NDArray[np.float64]
    hot_share: NDArray[np.float64]
    hot_nodes: NDArray[np.int32]
    exponential: NDArray[np.float64]

    @classmethod
    def of(cls, workload: Workload) -> WorkloadTables:
        """Return the tables of a workload."""
        rows = workload.segments or (Segment(0, 0.0),)
        return cls(
            workload.first_node,
            workload.nodes,
            np.array([s.start_ps for s in rows], np.int64),
            np.array([1e9 / s.rate_per_s if s.rate_per_s > 0 else 0.0 for s in rows], np.float64),
            np.array([s.hot_share for s in rows], np.float64),
            np.array([s.hot_nodes for s in rows], np.int32),
            exponential_quantiles(),
        )


@compiled
def next_broadcast(tables, seed, index, now_ps):
    """Return (time_ps, node) of broadcast number `index`; time NEVER if there is none.

    The exponential is consumed segment by segment: in a segment with mean m, a time of d ns consumes d / m of it.

    Args:
        tables: The workload.
        seed: The run's seed.
        index: The number of the broadcast.
        now_ps: The time of the previous broadcast.
    """
    start_ps, mean_ns, hot_nodes = tables.start_ps, tables.mean_ns, tables.hot_nodes
    left = from_table(tables.exponential, draw(seed, STREAM_INTERVAL, index, 0))
    segment = _segment_of(start_ps, now_ps)
    time_ps = now_ps
    while True:
        end_ps = start_ps[segment + 1] if segment + 1 < len(start_ps) else NEVER
        mean = mean_ns[segment]
        if mean > 0.0:
            wait_ps = round_ns_to_ps(left * mean)
            if end_ps == NEVER or time_ps + wait_ps < end_ps:
                time_ps += wait_ps
                break
            left = max(0.0, left - (np.float64(end_ps - time_ps) / 1000.0) / mean)
        elif end_ps == NEVER:
            return NEVER, 0
        time_ps = end_ps
        segment += 1
    if time_ps > LATEST_PS:
        return NEVER, 0
    senders = tables.nodes
    if hot_nodes[segment] > 0 and unit(draw(seed, STREAM_HOT, index, 0)) < tables.hot_share[segment]:
        senders = np.int64(hot_nodes[segment])
    return time_ps, tables.first_node + below(draw(seed, STREAM_SENDER, index, 0), senders)


@compiled
def _segment_of(start_ps, now_ps):
    """Return the last segment that has begun."""
    low, high = 0, len(start_ps)
    while low < high:
        middle = (low + high) >> 1
        if start_ps[middle] <= now_ps:
            low = middle + 1
        else:
            high = middle
    return low - 1
