"""Check linearizability: there must be an order of all calls that explains their results.

In such an order each call takes effect at an instant between its beginning and its end. The check is exact for
registers and key-value stores. It tries calls one by one (Wing and Gong) and stores the states that it has tried
(Lowe). Each key is a separate register. A call that never returned may have taken effect, or not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

INITIAL = None
"""The value of a register before the first write."""
NEVER = 1 << 60


@dataclass(frozen=True)
class Call:
    """One call. `began` and `ended` are positions in the history."""

    node: int
    what: str
    """read, write, or cas (compare and swap)."""
    key: Any
    value: Any
    """The value to write, or (expected, new) for cas."""
    began: int
    ended: int = NEVER
    result: Any = None
    """The value that was read, or for cas True if it swapped."""


def calls_of(history: Iterable[tuple[str, int, Any]]) -> list[Call]:
    """Return the calls in a history of ("call", node, (what, key, value)) and ("return", node, result).

    Raises:
        ValueError: A node begins a call before its last one has returned.
    """
    open_calls: dict[int, Call] = {}
    found = []
    for at, (kind, node, record) in enumerate(history):
        if kind == "call":
            if node in open_calls:
                raise ValueError(f"node {node} begins a call before its last call has returned")
            what, key, value = record
            open_calls[node] = Call(node, what, key, value, at)
        elif node in open_calls:
            begun = open_calls.pop(node)
            found.append(Call(node, begun.what, begun.key, begun.value, begun.began, at, record))
    return found + list(open_calls.values())


def not_linearizable(calls: Sequence[Call]) -> Any:
    """Return the first key without an order that explains its calls as (key,), or None."""
    for key in dict.fromkeys(call.key for call in calls):
        if not _register_explains([call for call in calls if call.key == key]):
            return (key,)
    return None


def _register_explains(calls: Sequence[Call]) -> bool:
    """Return whether an order explains the calls on one key.

    The search is depth first over states (calls that took effect, value) and visits each state once.
    """
    must = sum(1 << i for i, call in enumerate(calls) if call.ended != NEVER)
    todo: list[tuple[int, Any]] = [(0, INITIAL)]
    met = set(todo)
    while todo:
        done, value = todo.pop()
        if done & must == must:
            return True
        left = [i for i in range(len(calls)) if not done >> i & 1]
        first_end = min(calls[i].ended for i in left)
        for i in left:
            if calls[i].began > first_end:
                continue  # a call that has not been placed yet ended before this call began
            possible, after = _effect(calls[i], value)
            state = (done | 1 << i, after)
            if possible and state not in met:
                met.add(state)
                todo.append(state)
    return False


def _effect(call: Call, value: Any) -> tuple[bool, Any]:
    """Return whether the call with its result is possible at this value, and the value after it."""
    returned = call.ended != NEVER
    if call.what == "write":
        return True, call.value
    if call.what == "read":
        return not returned or call.result == value, value
    if call.what == "cas":
        expected, new = call.value
        swaps = value == expected
        return not returned or call.result == swaps, new if swaps else value
    raise ValueError(f"node {call.node} records a call {call.what!r}; allowed: 'read', 'write', 'cas'")
