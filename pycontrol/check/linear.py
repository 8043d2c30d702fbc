"""Linearizability: is there one order of all calls, each taking effect at an instant between its beginning and its end,
that explains what they returned?

Exact, for registers and key-value stores: calls are tried one by one (Wing and Gong), and what was tried is remembered
(Lowe). Each key is a register of its own. A call that never returned may have taken effect, or not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

INITIAL = None
"""What a register holds before anybody writes."""
NEVER = 1 << 60


@dataclass(frozen=True)
class Call:
    """One call, from its beginning to its end; both are places in one order."""

    node: int
    what: str
    """read, write, or cas (compare and swap)."""
    key: Any
    value: Any
    """Written; of cas: (expected, new)."""
    began: int
    ended: int = NEVER
    result: Any = None
    """Read; of cas whether it swapped."""


def calls_of(history: Iterable[tuple[str, int, Any]]) -> list[Call]:
    """From what nodes recorded, in order: ("call", node, (what, key, value)) and ("return", node, result)."""
    open_calls: dict[int, Call] = {}
    found = []
    for at, (kind, node, said) in enumerate(history):
        if kind == "call":
            if node in open_calls:
                raise ValueError(f"node {node} calls before its last call has returned")
            what, key, value = said
            open_calls[node] = Call(node, what, key, value, at)
        elif node in open_calls:
            begun = open_calls.pop(node)
            found.append(Call(node, begun.what, begun.key, begun.value, begun.began, at, said))
    return found + list(open_calls.values())


def not_linearizable(calls: Sequence[Call]) -> Any:
    """The key whose calls no order explains, as (key,); None if all is well."""
    for key in dict.fromkeys(call.key for call in calls):
        if not _register_explains([call for call in calls if call.key == key]):
            return (key,)
    return None


def _register_explains(calls: Sequence[Call]) -> bool:
    """Depth first over (calls that took effect, value): a state met before leads nowhere."""
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
                continue  # something ended before it began
            possible, after = _effect(calls[i], value)
            state = (done | 1 << i, after)
            if possible and state not in met:
                met.add(state)
                todo.append(state)
    return False


def _effect(call: Call, value: Any) -> tuple[bool, Any]:
    """Whether it can take effect on this value with what it returned, and the value then."""
    returned = call.ended != NEVER
    if call.what == "write":
        return True, call.value
    if call.what == "read":
        return not returned or call.result == value, value
    if call.what == "cas":
        expected, new = call.value
        swaps = value == expected
        return not returned or call.result == swaps, new if swaps else value
    raise ValueError(f"no such call: {call.what}")
