"""Makes an order that breaks something as short and as simple as single changes can."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import product
from typing import Any, Protocol

Label = tuple[Hashable, ...]
"""What an event is, whatever else happens: who gets what kind of thing from whom."""
MOST_SECONDS = 20.0
MOST_CHOICES = 16
"""So many choices are tried in the place of two events, in orders of at most so many:"""
SHORT = 24
MOST_TRIES = 2000


class Order(Protocol):
    """An order that was taken: numbers of choices, and what they were."""

    numbers: list[int]
    labels: list[Label]


def shrunk(
    order: Order,
    follow: Callable[[Sequence[int]], Order | None],
    follow_labels: Callable[[Sequence[Label]], Order | None],
) -> Any:
    """The simplest order found. `follow` and `follow_labels` give the order that was really taken until something
    broke; None if nothing does. First events are left out by what they are, many at once; then numbers get smaller."""
    best, ends = order, time.monotonic() + MOST_SECONDS
    for attempt in (_parts_left_out, _numbers_made_smaller, _parts_left_out):
        progress = True
        while progress and time.monotonic() < ends:
            progress = False
            for simpler, go in attempt(best, follow, follow_labels):
                found = go(simpler)
                if found is not None and _size(found) < _size(best):
                    best, progress = found, True
                    break
                if time.monotonic() > ends:
                    break
    return _shorter(best, follow, ends)


def _shorter(best: Order, follow: Callable[[Sequence[int]], Order | None], ends: float) -> Order:
    """Short orders could be shorter still in quite another way: those of small numbers are all tried."""
    tries = 0
    for length in range(1, len(best.numbers)):
        for plan in product(range(MOST_CHOICES // 2), repeat=length):
            tries += 1
            if tries > MOST_TRIES or time.monotonic() > ends:
                return best
            if (found := follow(plan)) is not None and _size(found) < _size(best):
                return found
    return best


def _size(order: Any) -> tuple[int, int, list[int]]:
    return (len(order.numbers), sum(order.numbers), order.numbers)


def _parts_left_out(order: Any, follow: Any, follow_labels: Any) -> Iterator[tuple[Any, Any]]:
    labels = order.labels
    width = max(1, len(labels) // 2)
    while True:
        for start in range(0, len(labels), width):
            yield labels[:start] + labels[start + width :], follow_labels
        if width == 1:
            return
        width //= 2


def _numbers_made_smaller(order: Any, follow: Any, follow_labels: Any) -> Iterator[tuple[Any, Any]]:
    """A step left out, two steps made one; then one number made smaller."""
    plan = order.numbers
    for i in range(len(plan)):
        yield plan[:i] + plan[i + 1 :], follow
    if len(plan) <= SHORT:
        for i in range(len(plan) - 1):
            for number in range(MOST_CHOICES):
                yield [*plan[:i], number, *plan[i + 2 :]], follow
    for i, number in enumerate(plan):
        for smaller in sorted({0, number // 2, number - 1} - {number, -1}):
            yield [*plan[:i], smaller, *plan[i + 1 :]], follow
