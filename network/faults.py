"""Faults of a network besides failing nodes: link failures, jammers and partitions, each for an interval of time.

A study lists them in one field of its network:

    MobileNetwork(..., network_faults=(LinkFailure(0, 1, 5 * S_PS, 8 * S_PS), Jammer(0, 0, 60_000, 5 * S_PS, 9 * S_PS)))

or draws them from its seed: `random_link_failures`, `random_jammers`, `random_partitions`. The adapters' code for them
is `bridge/cpp/faults.h`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from causeway.errors import UserError
from causeway.network.field_shapes import checked_arguments, checked_values
from causeway.network.random import draw_unit
from causeway.proto.contract import pb

STREAM_TROUBLE = int(pb.RandomStream.TROUBLE)
S_PS = 10**12
MOST_DRAWN = 1_000_000
"""The most faults that a rate may give on average. Each is compared with each packet."""
T = TypeVar("T")


@checked_arguments
@dataclass(frozen=True)
class LinkFailure:
    """A link failure: packets that would arrive over the wire between two stations are lost.

    On the abstract network, every packet between the two nodes is lost.
    """

    a: int
    b: int
    from_ps: int
    to_ps: int


@checked_arguments
@dataclass(frozen=True)
class Jammer:
    """A jammer: nodes within its radius, in space, receive nothing by radio.

    Other nodes still receive from these.
    """

    x_mm: int
    y_mm: int
    radius_mm: int
    from_ps: int
    to_ps: int
    z_mm: int = 0
    """Its height."""


@checked_arguments
@dataclass(frozen=True)
class Partition:
    """A partition: nodes of one set and nodes of the other receive nothing from each other.

    Nodes in neither set receive from both.
    """

    one: tuple[int, ...]
    other: tuple[int, ...]
    from_ps: int
    to_ps: int
    one_way: bool = False
    """Nodes of the other set receive nothing from nodes of the one, but can send to them."""


NetworkFault = LinkFailure | Jammer | Partition


@checked_values
def random_link_failures(
    wires: Sequence[tuple[int, int]], seed: int, per_s: float, mean_s: float, until_s: float
) -> tuple[LinkFailure, ...]:
    """Draw link failures of single wires at a rate (of all wires together), with exponential durations."""

    def cut(number: int, from_ps: int, to_ps: int) -> LinkFailure:
        a, b = wires[_below(seed, number, 2, len(wires))]
        return LinkFailure(a, b, from_ps, to_ps)

    return tuple(_at_rate(seed, per_s, mean_s, until_s, cut)) if wires else ()


@checked_values
def random_jammers(
    area_mm: tuple[int, int, int, int], radius_mm: int, seed: int, per_s: float, mean_s: float, until_s: float
) -> tuple[Jammer, ...]:
    """Draw jammers at a rate, anywhere in an area (x, y of two corners), with exponential durations."""
    x0, y0, x1, y1 = area_mm

    def jam(number: int, from_ps: int, to_ps: int) -> Jammer:
        x, y = _share(seed, number, 2), _share(seed, number, 3)
        return Jammer(int(x0 + x * (x1 - x0)), int(y0 + y * (y1 - y0)), radius_mm, from_ps, to_ps)

    return tuple(_at_rate(seed, per_s, mean_s, until_s, jam))


@checked_values
def random_partitions(
    nodes: Sequence[int], seed: int, per_s: float, mean_s: float, until_s: float
) -> tuple[Partition, ...]:
    """Draw partitions at a rate, each with every node on a random side and with an exponential duration.

    A drawn partition with all nodes on one side separates none of them, so it is left out.
    """

    def part(number: int, from_ps: int, to_ps: int) -> Partition:
        sides: tuple[list[int], list[int]] = ([], [])
        for node in nodes:
            sides[int(_share(seed, number, 4 + node) < 0.5)].append(node)
        return Partition(tuple(sides[0]), tuple(sides[1]), from_ps, to_ps)

    return tuple(one for one in _at_rate(seed, per_s, mean_s, until_s, part) if one.one and one.other)


def _at_rate(seed: int, per_s: float, mean_s: float, until_s: float, make: Callable[[int, int, int], T]) -> list[T]:
    for name, value in (("per_s", per_s), ("mean_s", mean_s), ("until_s", until_s)):
        if not 0 <= value < math.inf:  # refuses NaN, too
            raise UserError(f"the {name} of random link failures, jammers or partitions is {value}; allowed: 0 and up")
    if per_s * until_s > MOST_DRAWN:
        raise UserError(
            f"{per_s:g} per second until {until_s:g} s are more than {MOST_DRAWN:,} random link failures, jammers or "
            "partitions; mean_s and until_s are numbers of seconds, as in until_s=60.0"
        )
    made: list[T] = []
    at_s = 0.0
    while per_s > 0:
        number = len(made)
        at_s -= math.log1p(-_share(seed, number, 0)) / per_s
        if at_s >= until_s:
            break
        lasts_s = -math.log1p(-_share(seed, number, 1)) * mean_s
        made.append(make(number, int(at_s * S_PS), int((at_s + lasts_s) * S_PS) + 1))
    return made


def _share(seed: int, number: int, what: int) -> float:
    return float(draw_unit(seed, STREAM_TROUBLE, number, what))


def _below(seed: int, number: int, what: int, count: int) -> int:
    return min(int(_share(seed, number, what) * count), count - 1)
