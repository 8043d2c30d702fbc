"""Describe a schedule as text, and as a page with a space-time diagram (`spacetime.py`)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from causeway.explore import spacetime
from causeway.explore.model import Event, Log

WORDS = {
    "packet": "packet {number} from node {peer} arrives", "loss": "packet {number} from node {peer} is lost",
    "twice": "packet {number} from node {peer} arrives, and a copy stays in transit", "timer": "timer {text} fires",
    "sent": "sends packet {number} to node {peer}: {text}", "broadcast": "broadcasts message {number}",
    "delivered": "delivers message {number}", "crash": "fails", "recover": "recovers", "left": "leaves for good",
    "joined": "joins", "call": "is called by the application: {text}",
    "return": "returns to the application: {text}", "station": "is in the cell of station {number}",
}  # fmt: skip
NAMED = WORDS | {
    "packet": "packet {number} from {peer} arrives", "loss": "packet {number} from {peer} is lost",
    "sent": "sends packet {number} to {peer}: {text}",
}  # fmt: skip
"""The descriptions for nodes that have names."""
FEW_LINES = 200
"""The minimum number of repeated lines that are left out."""
LAST_LINES = 6
"""The number of last lines that are never left out, since the violation may be there."""


def describe_events(log: Sequence[Event], broken: str) -> list[str]:
    """Return a line for each event, and the violation as the last line."""
    lines = [f"{step:4}  node {e.node}  {WORDS[e.what].format(**e._asdict())}" for step, e in enumerate(log)]
    return [*lines, f"      {broken}"]


def lines_of(log: Log) -> list[str]:
    """Return a line for each event, without repetitions of the same kinds of events after faults have ended."""
    lines = describe_events(log.events, "")[:-1]
    begin, end = _repeated(log)
    note = [f"      and so on: {end - begin:,} more lines of these kinds"] if end > begin else []
    return [*lines[:begin], *note, *lines[end:]]


def _repeated(log: Log) -> tuple[int, int]:
    """Return the range of events after the end of faults that only repeat earlier kinds; (0, 0) if it is short."""
    if log.calm_at < 0:
        return 0, 0
    events, kinds, begin = log.events, set[tuple[object, ...]](), log.calm_at
    for step in range(log.calm_at, len(events)):
        event = events[step]
        kind = (event.what, event.node, event.peer, re.split(r"\d", event.text)[0])
        if kind not in kinds:
            kinds.add(kind)
            begin = step + 1
    end = len(events) - LAST_LINES
    return (begin, end) if end - begin > FEW_LINES else (0, 0)


def page(log: Log, nodes: int, broken: str, title: str) -> str:
    """Return an HTML page with the diagram and the descriptions."""
    about = frozenset(int(number) for number in re.findall(r"message (\d+)", broken))
    late = re.findall(r"(?:before|never delivers) message (\d+)", broken)
    victim = re.search(r"node (\d+)", broken)
    begin, end = _repeated(log)
    events, lines = [*log.events[:begin], *log.events[end:]], describe_events(log.events, broken)[:-1]
    if end > begin:
        broken += f" ({end - begin:,} events that repeat are left out after event {begin - 1})"
    wanted = {e.number for e in events if e.what == "sent" and int(late[0]) in _numbers(e.text)} if late else ()
    names = {node: f"node {node}" for node in range(nodes)}
    at = int(victim[1]) if victim else -1
    return spacetime.page(
        spacetime.Story(events, names, title, broken, [*lines[:begin], *lines[end:]], about, frozenset(wanted), at)
    )


def _numbers(text: str) -> set[int]:
    """Return the number of the message at the beginning of a packet's text, if there is one."""
    found = re.match(r"(?:\w+\(message=)?(\d+)", text)
    return {int(found[1])} if found else set()
