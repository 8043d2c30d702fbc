"""An order of events, told: in words, and on a page with a space-time diagram (`forensics/spacetime.py`)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from causeway.pycontrol.check.world import Event
from causeway.pycontrol.forensics import spacetime

WORDS = {
    "packet": "packet {number} from node {peer} arrives", "loss": "packet {number} from node {peer} is lost",
    "twice": "packet {number} from node {peer} arrives, and will again", "timer": "timer {text} goes off",
    "sent": "sends packet {number} to node {peer}: {text}", "broadcast": "broadcasts message {number}",
    "delivered": "delivers message {number}", "crash": "fails", "recover": "recovers", "left": "leaves for good",
    "joined": "joins", "call": "is asked by the application: {text}",
    "return": "answers the application: {text}", "station": "is in the cell of station {number}",
}  # fmt: skip
NAMED = WORDS | {
    "packet": "packet {number} from {peer} arrives", "loss": "packet {number} from {peer} is lost",
    "sent": "sends packet {number} to {peer}: {text}",
}  # fmt: skip
"""The same where nodes have names."""


def in_words(log: Sequence[Event], broken: str) -> list[str]:
    """One line an event, and at the end what is broken."""
    lines = [f"{step:4}  node {e.node}  {WORDS[e.what].format(**e._asdict())}" for step, e in enumerate(log)]
    return [*lines, f"      {broken}"]


def page(log: Sequence[Event], nodes: int, broken: str, title: str) -> str:
    """A page with the diagram and the words."""
    about = frozenset(int(number) for number in re.findall(r"message (\d+)", broken))
    late = re.findall(r"(?:before|never delivers) message (\d+)", broken)
    victim = re.search(r"node (\d+)", broken)
    wanted = {e.number for e in log if e.what == "sent" and int(late[0]) in _numbers(e.text)} if late else ()
    names = {node: f"node {node}" for node in range(nodes)}
    at = int(victim[1]) if victim else -1
    return spacetime.page(
        spacetime.Story(log, names, title, broken, in_words(log, broken)[:-1], about, frozenset(wanted), at)
    )


def _numbers(text: str) -> set[int]:
    """The message that a packet's text names first, if it does."""
    found = re.match(r"(?:\w+\(message=)?(\d+)", text)
    return {int(found[1])} if found else set()
