"""Shrink a schedule that violates a property, by single changes, until none makes it shorter or simpler."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import product
from typing import Any, Protocol

Label = tuple[Hashable, ...]
"""A description of an event that does not depend on other events: its kind, node, sender and type of content."""
MOST_SECONDS = 20.0
"""The time limit. After it, the best schedule so far is returned."""
MOST_CHOICES = 16
"""The number of choices that are tried instead of two events."""
SHORT = 24
"""The maximum length of a schedule in which two events are replaced by one."""
MOST_TRIES = 2000
"""The maximum number of short schedules that are tried at the end."""


class Order(Protocol):
    """A schedule: the indices of its choices, and their labels."""

    numbers: list[int]
    labels: list[Label]


def shrunk(
    order: Order,
    follow: Callable[[Sequence[int]], Order | None],
    follow_labels: Callable[[Sequence[Label]], Order | None],
) -> Any:
    """Return the simplest schedule found.

    First events are left out by their labels, many at a time. Then indices are made smaller.

    Args:
        order: A schedule that violates a property.
        follow: Follows indices, and returns the schedule up to the violation, or None without a violation.
        follow_labels: Does the same with labels.
    """
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
    """Try all shorter schedules of small indices, since a different schedule may be even shorter."""
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
    """Yield the schedules with one event left out, two events replaced by one, or one index made smaller."""
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
