"""The input and output of compiled kernels: the events of a window, and a tape of actions and observations.

The caller of a kernel must ensure that the tape has enough room, since kernels do not check it.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from causeway.bridge.events import NO_ACTIONS, Act, Actions, Kind, Window
from causeway.pycontrol.protocol import Context
from causeway.pycontrol.state_arrays import I32, I64, U8, Axis, Record, compiled, fields, inlined

K_NODE, K_ARRIVAL, K_LOST = int(Kind.NODE), int(Kind.ARRIVAL), int(Kind.LOST)
K_TIMER, K_BROADCAST = int(Kind.TIMER), int(Kind.BROADCAST)
"""Kinds of events as plain numbers, for kernels."""
ACT_SEND, ACT_SET_TIMER, ACT_CANCEL_TIMER = int(Act.SEND), int(Act.SET_TIMER), int(Act.CANCEL_TIMER)


class Here(NamedTuple):
    """The node whose event is handled, and the time of the event."""

    node: int | np.int64
    now_ps: int | np.int64


REPORTED, ACT = Axis("reported"), Axis("act")


class Events(NamedTuple):
    """The columns of a window."""

    kind: U8
    time_ps: I64
    node: I32
    ref: I64
    arg: I32


def events_of(window: Window) -> Events:
    """Return the columns of a window as a tuple for kernels."""
    return Events(window.kind, window.time_ps, window.node, window.ref, window.arg)


class Tape(NamedTuple):
    """Rows that kernels wrote: observations (axis REPORTED) and actions (axis ACT)."""

    op: Annotated[U8, REPORTED]
    reported_ps: Annotated[I64, REPORTED]
    reported_node: Annotated[I32, REPORTED]
    message: Annotated[I64, REPORTED]
    kind: Annotated[U8, ACT]
    time_ps: Annotated[I64, ACT]
    node: Annotated[I32, ACT]
    ref: Annotated[I64, ACT]
    peer: Annotated[I32, ACT]
    size_bytes: Annotated[I32, ACT]
    rows: Annotated[Record, fields(reported="i8", acts="i8")]


@inlined
def report(tape, op, time_ps, node, message):
    """Append an observation."""
    at = tape.rows[0].reported
    tape.op[at], tape.reported_ps[at], tape.reported_node[at], tape.message[at] = op, time_ps, node, message
    tape.rows[0].reported = at + 1


@compiled
def act(tape, kind, time_ps, node, ref, peer, size_bytes):
    """Append an action that takes effect at `time_ps`."""
    at = tape.rows[0].acts
    tape.kind[at], tape.time_ps[at], tape.node[at], tape.ref[at] = kind, time_ps, node, ref
    tape.peer[at], tape.size_bytes[at] = peer, size_bytes
    tape.rows[0].acts = at + 1


@compiled
def send(tape, time_ps, node, packet, peer, size_bytes):
    """Append the sending of a packet at `time_ps`."""
    act(tape, ACT_SEND, time_ps, node, packet, peer, size_bytes)


def take(tape: Tape, context: Context) -> Actions:
    """Report the observations on the tape, return its actions, and empty it."""
    reported, acts = tape.rows.item()
    tape.rows["reported"] = tape.rows["acts"] = 0
    if reported:
        context.observe(
            tape.op[:reported], tape.reported_ps[:reported], tape.reported_node[:reported], tape.message[:reported]
        )
    if not acts:
        return NO_ACTIONS
    return Actions(
        tape.kind[:acts].copy(), tape.time_ps[:acts].copy(), tape.node[:acts].copy(), tape.ref[:acts].copy(),
        tape.peer[:acts].copy(), tape.size_bytes[:acts].copy(), np.zeros(acts, np.uint8),
    )  # fmt: skip
