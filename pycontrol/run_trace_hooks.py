"""Trace a protocol: write the windows that it gets and the steps of its nodes.

Methods of the traced protocol are replaced, so a run without a trace has no additional cost. Steps of nodes with
handlers are written immediately, with the line of code. Steps of a vectorized protocol are written when it answers a
window.
"""

from __future__ import annotations

import hashlib
from functools import wraps
from typing import Any

import numpy as np

from causeway.bridge.events import COLUMNS, EVENT, Act, Actions, Window
from causeway.pycontrol import run_trace as traces
from causeway.pycontrol.node import PerNode
from causeway.pycontrol.protocol import BROADCAST, DELIVER, FLAGGED, HELD, JOINED, LEFT, Context, Protocol
from causeway.pycontrol.run_trace import Trace

NOTES = {
    BROADCAST: "broadcasts", DELIVER: "delivers", LEFT: "leaves after", JOINED: "joins after", FLAGGED: "flags",
    HELD: "holds",
}  # fmt: skip
ACTS = {int(act): act.name.lower().replace("_", " ") for act in Act}


def trace_if_wanted(protocol: Protocol, context: Context) -> None:
    """Trace a protocol that is about to start, if this run writes a trace."""
    trace = traces.wanted()
    if trace is None:
        return
    _trace_samples(context, trace)
    if not isinstance(protocol, PerNode):
        _trace_columns(protocol, context, trace)
    elif protocol.can_be_copied:  # asyncio programs write their steps themselves
        _trace_nodes(protocol, trace)
    _trace_windows(protocol, trace, with_actions=not isinstance(protocol, PerNode))


def _trace_windows(protocol: Any, trace: Trace, with_actions: bool) -> None:
    answer = protocol.on_window

    @wraps(answer)
    def on_window(window: Window) -> Any:
        columns = [column for name in EVENT.names or () if (column := getattr(window, name)) is not None]
        first_ps = int(window.time_ps[0]) if len(window) else window.end_ps
        trace.write(first_ps, "the network", f"{len(window)} events of window {window.number}", _hash(columns))
        actions = answer(window)
        if with_actions and isinstance(actions, Actions):
            _write_actions(trace, actions)
        return actions

    protocol.on_window = on_window


def _write_actions(trace: Trace, actions: Actions) -> None:
    if not len(actions):
        return
    found = {name: np.asarray(column) for name in COLUMNS if (column := getattr(actions, name)) is not None}
    rows = zip(*(column.tolist() for column in found.values()), strict=True)
    for row in rows:
        values = dict(zip(found, row, strict=True))
        kind, time_ps, node, ref = (values.pop(name) for name in ("kind", "time_ps", "node", "ref"))
        trace.write(time_ps, f"node {node}", f"{ACTS.get(kind, kind)} {ref}", str(values))


def _trace_columns(protocol: Protocol, context: Any, trace: Trace) -> None:
    observe = context.observe

    def observed(op: Any, time_ps: Any, node: Any, message: Any) -> None:
        for kind, at_ps, id_, ref in zip(*(np.asarray(c).tolist() for c in (op, time_ps, node, message)), strict=True):
            trace.write(at_ps, f"node {id_}", f"{NOTES.get(kind, f'reports {kind} of')} message {ref}", "")
        observe(op, time_ps, node, message)

    context.observe = observed


def _trace_samples(context: Any, trace: Trace) -> None:
    record = context.record

    def recorded(module: str, name: str, time_ps: int, value: float) -> None:
        trace.add(time_ps, module, f"records {name}", float(value))
        record(module, name, time_ps, value)

    context.record = recorded


def _trace_nodes(protocol: Any, trace: Trace) -> None:
    """Trace the services of nodes. Each entry returns a description of a call, and the content for comparison."""
    words: dict[str, Any] = {
        "send": lambda node, peer, content, size, interface, topic: (
            f"sends {size} bytes to {f'node {peer}' if peer >= 0 else 'everyone'}", (content, interface, topic),
        ),
        "set_timer": lambda node, key, delay_ps: (f"sets a timer of {delay_ps} ps", key),
        "cancel_timer": lambda node, key: ("cancels a timer", key),
        "switch": lambda node, up: ("is switched", bool(up)),
        "move": lambda node, *where: ("moves", where),
    }  # fmt: skip
    for name, describe in words.items():
        _trace_service(protocol, name, describe, trace)
    note = protocol.note

    def noted(op: int, node: int, message: int) -> None:
        trace.add(protocol.now_ps, f"node {node}", f"{NOTES.get(op, f'reports {op} of')} message {message}")
        note(op, node, message)

    protocol.note = noted


def _trace_service(protocol: Any, name: str, describe: Any, trace: Trace) -> None:
    service = getattr(protocol, name)

    @wraps(service)
    def written(node: int, *arguments: Any) -> Any:
        step, content = describe(node, *arguments)
        trace.add(protocol.now_ps, f"node {node}", step, content)
        return service(node, *arguments)

    setattr(protocol, name, written)


def _hash(columns: list[Any]) -> str:
    hasher = hashlib.blake2b(digest_size=8)
    for column in columns:
        hasher.update(np.ascontiguousarray(column).data)
    return hasher.hexdigest()
