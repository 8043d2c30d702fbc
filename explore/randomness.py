"""Find random generators and hidden state in nodes: both make an exhaustive search incomplete.

The search computes the effect of an event on a node's state once. So with a generator in the state, it explores only
one of many sequences of random numbers. Hidden state (a counter of the class, the order of a set) is found if the same
step has another effect when it is computed again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np

from causeway.pycontrol.node import Node

if TYPE_CHECKING:
    from causeway.explore.machine import Machine

GENERATORS = (Random, np.random.Generator, np.random.BitGenerator, np.random.RandomState)
PLAIN = (type(None), bool, int, float, complex, str, bytes, bytearray, np.ndarray, np.generic)
MOST_STEPS = 2000
"""The number of steps that are computed a second time. It is a sample, to save time."""


def incompleteness(machine: Machine) -> str:
    """Return the reason why a finished search is not complete, or "" if it is complete."""
    if drawn := message_about_draws(node for node, _ in machine.states):
        return drawn
    every = max(1, len(machine.worked_out) // MOST_STEPS)
    for key in machine.worked_out[::every]:
        if machine.differs_when_repeated(key):
            return f"node {key[0]} behaves differently when the same event is repeated"
    return ""


def message_about_draws(nodes: Iterable[Node]) -> str:
    """Return a message about the first node that draws random numbers, or "" if none does."""
    for node in nodes:
        who = f"the program of node {node.id}" if getattr(node, "drew", False) else draws(node)
        if who:
            return f"{who} draws random numbers, and one sequence of them was followed"
    return ""


def draws(node: Node) -> str:
    """Return the attribute of a node with a random generator, as `Class.attribute`, or "" if there is none."""
    for name, value in vars(node).items():
        if name != "runtime" and name not in node.not_state and _has_generator(value, {id(node)}):
            return f"{type(node).__name__}.{name}"
    return ""


def _has_generator(value: Any, seen: set[int]) -> bool:
    if isinstance(value, GENERATORS):
        return True
    if isinstance(value, (*PLAIN, type)) or id(value) in seen:
        return False
    seen.add(id(value))
    return any(_has_generator(inner, seen) for inner in _inside(value))


def _inside(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        yield from value.values()
    elif isinstance(value, list | tuple | set | frozenset):
        yield from value
    else:
        yield from getattr(value, "__dict__", {}).values()
        names = [n for kind in type(value).__mro__ for n in getattr(kind, "__slots__", ()) if isinstance(n, str)]
        yield from (getattr(value, name) for name in names if hasattr(value, name))
