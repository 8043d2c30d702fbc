"""An order of events, told: in words, and as a space-time diagram.

In the diagram every node is a line and time runs to the right, one step an event. Packets are arrows from where they
were sent to where they arrived, a cross where they were lost, dots while they are on their way; a node that is down has
no line. What the broken property is about stands out: the deliveries of its messages, and where they were broadcast.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from causeway.pycontrol.check.world import Event

WORDS = {
    "packet": "packet {number} from node {peer} arrives", "loss": "packet {number} from node {peer} is lost",
    "twice": "packet {number} from node {peer} arrives, and will again", "timer": "timer {text} goes off",
    "sent": "sends packet {number} to node {peer}: {text}", "broadcast": "broadcasts message {number}",
    "delivered": "delivers message {number}", "crash": "fails", "recover": "recovers", "left": "leaves for good",
    "joined": "joins",
}  # fmt: skip
LEFT, TOP, STEP, ROW, BELOW = 90, 40, 46, 64, 60
LOUD, QUIET, LINE = "#c0392b", "#8a94a0", "#34495e"
STYLE = "svg{font:12px system-ui,sans-serif;width:100%;height:auto;cursor:grab} text{fill:#22303c} body{margin:1rem}"
SCRIPT = """
const svg=document.querySelector('svg'),box=svg.viewBox.baseVal;let from=null;
svg.onwheel=e=>{e.preventDefault();const k=e.deltaY<0?0.85:1.18;box.x+=box.width*(1-k)/2;box.y+=box.height*(1-k)/2;
box.width*=k;box.height*=k};svg.onpointerdown=e=>{from=[e.clientX,e.clientY]};svg.onpointerup=()=>{from=null};
svg.onpointermove=e=>{if(!from)return;const k=box.width/svg.clientWidth;box.x-=(e.clientX-from[0])*k;
box.y-=(e.clientY-from[1])*k;from=[e.clientX,e.clientY]};
"""


def in_words(log: Sequence[Event], broken: str) -> list[str]:
    """One line an event, and at the end what is broken."""
    lines = [f"{step:4}  node {e.node}  {WORDS[e.what].format(**e._asdict())}" for step, e in enumerate(log)]
    return [*lines, f"      {broken}"]


def page(log: Sequence[Event], nodes: int, broken: str, title: str) -> str:
    """A page that needs nothing but itself: drag to pan, wheel to zoom, point at an event for what it was."""
    return (
        f"<!doctype html><meta charset=utf-8><title>{escape(title)}</title><style>{STYLE}</style>"
        f"<h1>{escape(title)}</h1><p><b>{escape(broken)}</b></p>{diagram(log, nodes, broken)}"
        f"<script>{SCRIPT}</script>"
    )


def diagram(log: Sequence[Event], nodes: int, broken: str) -> str:
    """The space-time diagram as SVG."""
    about = {int(number) for number in re.findall(r"message (\d+)", broken)}
    width, height = LEFT + STEP * (len(log) + 1), TOP + ROW * nodes + BELOW
    parts = [_lifelines(log, nodes), _arrows(log), *(_mark(step, event, about) for step, event in enumerate(log))]
    arrow = (
        '<defs><marker id="a" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        f'<path d="M0 0L8 4L0 8z" fill="{QUIET}"/></marker></defs>'
    )
    return f'<svg viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">{arrow}{"".join(parts)}</svg>'


def _place(step: int, node: int) -> tuple[int, int]:
    return LEFT + STEP * step, TOP + ROW * node


def _lifelines(log: Sequence[Event], nodes: int) -> str:
    parts = []
    for node in range(nodes):
        y = TOP + ROW * node
        parts.append(f'<text x="8" y="{y + 4}">node {node}</text>')
        start: int | None = 0
        for step, event in [*((s, e) for s, e in enumerate(log) if e.node == node), (len(log), None)]:
            ends = event is None or event.what == "crash"
            if ends and start is not None:
                x1, x2 = LEFT - 10 + STEP * start, LEFT + STEP * step
                parts.append(f'<line x1="{x1}" x2="{x2}" y1="{y}" y2="{y}" stroke="{LINE}" stroke-width="1.5"/>')
                start = None
            if event is not None and event.what == "recover":
                start = step
    return "".join(parts)


def _arrows(log: Sequence[Event]) -> str:
    """From each sending to the arrival or loss of that copy; a copy still on its way goes towards the end."""
    sent = {(e.number, e.peer): (step, e.node) for step, e in enumerate(log) if e.what == "sent"}
    came = {(e.number, e.node) for e in log if e.what in ("packet", "loss")}
    parts = []
    for (number, receiver), (step, sender) in sent.items():
        if (number, receiver) not in came:
            (x1, y1), (x2, y2) = _place(step, sender), _place(len(log), receiver)
            parts.append(
                f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{QUIET}" stroke-width="0.6" '
                f'stroke-dasharray="1 4"><title>packet {number}: still on its way</title></line>'
            )
    for step, event in enumerate(log):
        if event.what in ("packet", "loss", "twice") and (event.number, event.node) in sent:
            (x1, y1), (x2, y2) = _place(*sent[event.number, event.node]), _place(step, event.node)
            lost = event.what == "loss"
            end = "" if lost else ' marker-end="url(#a)"'
            dash = ' stroke-dasharray="4 3"' if lost else ""
            parts.append(
                f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{QUIET}"{dash}{end}>'
                f"<title>packet {event.number}: {escape(event.text)}</title></line>"
            )
            if lost:
                parts.append(f'<path d="M{x2 - 5} {y2 - 5}l10 10m0 -10l-10 10" stroke="{LOUD}" stroke-width="2"/>')
    return "".join(parts)


def _mark(step: int, event: Event, about: set[int]) -> str:
    x, y = _place(step, event.node)
    hint = f"<title>{escape(f'step {step}: node {event.node} ' + WORDS[event.what].format(**event._asdict()))}</title>"
    if event.what in ("broadcast", "delivered"):
        colour = LOUD if event.number in about else LINE
        word = "b" if event.what == "broadcast" else "d"
        return (
            f'<g><circle cx="{x}" cy="{y}" r="6" fill="{colour}">{hint}</circle>'
            f'<text x="{x - 7}" y="{y - 11}" style="fill:{colour}">{word}{event.number}</text></g>'
        )
    if event.what in ("crash", "recover", "left", "joined", "timer"):
        return f'<g><rect x="{x - 4}" y="{y - 4}" width="8" height="8" fill="{QUIET}">{hint}</rect></g>'
    return ""
