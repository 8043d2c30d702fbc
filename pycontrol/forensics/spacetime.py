"""A space-time diagram on a page of its own.

Every node is a line and time runs to the right, one column for what happens at once. Packets are arrows from where they
were sent to where they arrived, crosses where they were lost (or came to the node that waits for them and were not
delivered), dots while they are on their way; a node that is down has no line. What the violation is about stands out:
deliveries and broadcasts of its messages, packets that carry the message that did not come in time, and where it should
have arrived.

Drag to pan, wheel to zoom, click on anything for what it was.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

from causeway.pycontrol.check.world import Event

LEFT, TOP, STEP, ROW, BELOW = 110, 56, 34, 58, 40
LOUD, LATE, QUIET, LINE, TALK = "#c0392b", "#d35400", "#8a94a0", "#34495e", "#2874a6"
COMFORTABLE = 1400
"""So wide a diagram is drawn as it is."""
EVERY_COLUMNS = 8
"""So often the time is written."""
STYLE = """
body{margin:1rem;font:14px system-ui,sans-serif;color:#22303c} svg{width:100%;height:72vh;cursor:grab;border:1px solid
#d5dbe1;touch-action:none} svg text{font-family:system-ui,sans-serif;fill:#22303c} #what{min-height:2.6em;white-space:
pre-wrap;background:#f4f6f8;padding:.5em .8em} [data-t]{cursor:pointer} .key span{margin-right:1.6em}
ol{font:13px ui-monospace,monospace;line-height:1.5}
"""
SCRIPT = """
const svg=document.querySelector('svg'),box=svg.viewBox.baseVal,what=document.getElementById('what');
let from=null;const scale=()=>Math.max(box.width/svg.clientWidth,box.height/svg.clientHeight);
svg.onwheel=e=>{e.preventDefault();const k=e.deltaY<0?0.85:1.18,r=svg.getBoundingClientRect();
const px=(e.clientX-r.left)/r.width,py=(e.clientY-r.top)/r.height;
box.x+=box.width*(1-k)*px;box.y+=box.height*(1-k)*py;box.width*=k;box.height*=k};
svg.onpointerdown=e=>{from=[e.clientX,e.clientY]};svg.onpointerup=svg.onpointerleave=()=>{from=null};
svg.onpointermove=e=>{if(!from)return;const k=scale();box.x-=(e.clientX-from[0])*k;
box.y-=(e.clientY-from[1])*k;from=[e.clientX,e.clientY]};
svg.addEventListener('click',e=>{const t=e.target.closest('[data-t]');if(t)what.textContent=t.dataset.t});
"""


@dataclass(frozen=True)
class Story:
    """What is drawn."""

    log: Sequence[Event]
    names: Mapping[int, str]
    """Of each node that has a line, from the top down."""
    title: str
    broken: str
    lines: Sequence[str]
    """The log in words."""
    about: frozenset[int] = frozenset()
    """Messages that stand out."""
    wanted: frozenset[int] = frozenset()
    """Packets that stand out."""
    victim: int = -1
    """The node at which the message did not come in time."""
    timed: bool = False
    """Whether times mean anything."""


@dataclass
class _Places:
    """Where events are."""

    column: list[int] = field(default_factory=list)
    row: dict[int, int] = field(default_factory=dict)
    columns: int = 0
    scale: float = 1.0
    """Of everything but the columns: a long story is drawn larger, so that all of it can be seen at once."""

    def at(self, step: int, node: int) -> tuple[int, int]:
        return self.x(self.column[step]), self.y(node)

    def x(self, column: int) -> int:
        return round(self.scale * LEFT) + STEP * column

    def y(self, node: int) -> int:
        return round(self.scale * (TOP + ROW * self.row.get(node, 0)))


def _placed(story: Story) -> _Places:
    """Copies of one packet that leave or arrive at the same time share a column."""
    places = _Places(row={node: i for i, node in enumerate(story.names)})
    before: tuple[object, ...] = ()
    for event in story.log:
        same = (event.what, event.time_ps, event.number) if event.what in ("sent", "packet", "loss") else ()
        if event.what == "sent":
            same = (*same, event.node)
        elif not story.timed:
            same = ()
        if not same or same != before:
            places.columns += 1
        before = same
        places.column.append(places.columns - 1)
    places.scale = max(1.0, STEP * places.columns / COMFORTABLE)
    return places


def page(story: Story) -> str:
    """The page. It needs nothing but itself."""
    key = (
        f'<span style="color:{LATE}">packets with the message that did not come in time</span>'
        f'<span style="color:{LATE}">&#10005; comes, and is not delivered</span>'
        f'<span style="color:{LOUD}">&#10005; lost; what is wrong</span>'
        f'<span style="color:{TALK}">what nodes say about it</span>'
    )
    items = "".join(f"<li>{escape(line)}</li>" for line in story.lines)
    return (
        f"<!doctype html><meta charset=utf-8><title>{escape(story.title)}</title><style>{STYLE}</style>"
        f"<h1>{escape(story.title)}</h1><p><b>{escape(story.broken)}</b></p><p class=key>{key}</p>"
        f'<div id="what">Drag to move, turn the wheel to zoom, click on anything for what it was.</div>'
        f"{diagram(story)}<h2>In words</h2><ol>{items}</ol><script>{SCRIPT}</script>"
    )


def diagram(story: Story) -> str:
    """The diagram as SVG."""
    places = _placed(story)
    width = places.x(places.columns + 2)
    height = round(places.scale * (TOP + ROW * len(places.row) + BELOW))
    parts = [_times(story, places, height), _lifelines(story, places), _arrows(story, places), _never(story, places)]
    parts += [_mark(story, places, step, event) for step, event in enumerate(story.log) if event.node in places.row]
    arrows = "".join(
        f'<marker id="a{i}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        f'<path d="M0 0L8 4L0 8z" fill="{colour}"/></marker>'
        for i, colour in enumerate((QUIET, LATE, TALK, LOUD))
    )
    return (
        f'<svg viewBox="0 0 {width} {height}" style="font:{11 * places.scale:.0f}px system-ui,sans-serif" '
        f'xmlns="http://www.w3.org/2000/svg"><defs>{arrows}</defs>'
        f"{''.join(parts)}</svg>"
    )


def _times(story: Story, places: _Places, height: int) -> str:
    if not story.timed:
        return ""
    parts, last = [], -EVERY_COLUMNS
    for step, event in enumerate(story.log):
        column = places.column[step]
        if column >= last + EVERY_COLUMNS * places.scale:
            last, x = column, places.x(column)
            parts.append(
                f'<line x1="{x}" x2="{x}" y1="{24 * places.scale:.0f}" y2="{height}" stroke="#e6eaee"/>'
                f'<text x="{x}" y="{18 * places.scale:.0f}">{event.time_ps / 1e12:.6f} s</text>'
            )
    return "".join(parts)


def _lifelines(story: Story, places: _Places) -> str:
    parts, end = [], places.x(places.columns)
    for node, name in story.names.items():
        y, start = places.y(node), LEFT - 12
        weight = ' style="font-weight:bold"' if node == story.victim else ""
        parts.append(f'<text x="8" y="{y + 4}"{weight}>{escape(name)}</text>')
        up = True
        for step, event in enumerate(story.log):
            if event.node == node and event.what == "crash" and up:
                parts.append(_line(start, y, places.at(step, node)[0], y, LINE, 'stroke-width="1.5"'))
                up = False
            elif event.node == node and event.what == "recover" and not up:
                start, up = places.at(step, node)[0], True
        if up:
            parts.append(_line(start, y, end, y, LINE, 'stroke-width="1.5"'))
    return "".join(parts)


def _line(x1: int, y1: int, x2: int, y2: int, colour: str, more: str = "", text: str = "") -> str:
    said = f' data-t="{escape(text)}"' if text else ""
    return f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{colour}" {more}{said}/>'


def _arrows(story: Story, places: _Places) -> str:
    """From each sending to the arrival or loss of each copy; a copy still on its way goes towards the end."""
    sent = {(e.number, e.peer): (step, e.node) for step, e in enumerate(story.log) if e.what == "sent"}
    came = {(e.number, e.node) for e in story.log if e.what in ("packet", "loss")}
    parts, named = [], set()
    for (number, receiver), (step, sender) in sent.items():
        if receiver >= 0 and receiver in places.row and (number, receiver) not in came:
            (x1, y1), (x2, y2) = places.at(step, sender), (places.x(places.columns), places.y(receiver))
            text = f"packet {number}: still on its way"
            parts.append(_line(x1, y1, x2, y2, QUIET, 'stroke-width="0.6" stroke-dasharray="1 4"', text))
    for step, event in enumerate(story.log):
        if event.what not in ("packet", "loss", "twice") or event.node not in places.row:
            continue
        origin = sent.get((event.number, event.node)) or sent.get((event.number, -1))
        if origin is None:
            continue
        (x1, y1), (x2, y2) = places.at(*origin), places.at(step, event.node)
        lost, late, kind = event.what == "loss", event.number in story.wanted, _kind(event.text)
        index = 3 if lost else 1 if late else 2 if kind and not _carries(event, story) else 0
        colour = (QUIET, LATE, TALK, LOUD)[index]
        more = 'stroke-dasharray="4 3"' if lost else f'marker-end="url(#a{index})"'
        more += ' stroke-width="2"' if late and not lost else ""
        parts.append(_line(x1, y1, x2, y2, colour, more, f"packet {event.number}: {event.text}"))
        if lost or (late and event.node == story.victim and not _is_taken(story, step)):
            parts.append(_cross(x2, y2, places.scale, colour, "lost" if lost else "untaken"))
        if kind and event.number not in named:
            named.add(event.number)
            x, y = x1 + (x2 - x1) * 0.4 + 4, y1 + (y2 - y1) * 0.4
            parts.append(f'<text x="{x:.0f}" y="{y:.0f}" style="fill:{colour};font-size:.8em">{escape(kind)}</text>')
    return "".join(parts)


def _is_taken(story: Story, step: int) -> bool:
    """Whether something is delivered where and when the packet arrives."""
    packet = story.log[step]
    now = (e for e in story.log[step + 1 :] if e.node == packet.node and e.time_ps == packet.time_ps)
    return any(e.what == "delivered" for e in now)


def _cross(x: int, y: int, scale: float, colour: str, what: str) -> str:
    k = round(5 * scale)
    path = f"M{x - k} {y - k}l{2 * k} {2 * k}m0 {-2 * k}l{-2 * k} {2 * k}"
    return f'<path class="{what}" d="{path}" stroke="{colour}" stroke-width="2"/>'


def _kind(text: str) -> str:
    """The name of what a packet holds, if it is an object."""
    found = re.match(r"([A-Za-z_]\w*)\(", text)
    return found[1] if found else ""


def _carries(event: Event, story: Story) -> bool:
    return any(re.search(rf"\b(message|number|id)={message}\b", event.text) for message in story.about)


def _never(story: Story, places: _Places) -> str:
    """The path that is missing: to where the message did not come, from who sent it last; of those from whom the node
    heard something last, if they sent it."""
    if story.victim not in places.row or not story.wanted:
        return ""
    ends = [s for s, e in enumerate(story.log) if e.what == "delivered" and e.node == story.victim]
    end = next((s for s in ends if story.log[s].number in story.about), len(story.log) - 1)
    tries = [
        s for s, e in enumerate(story.log[: end + 1]) if e.what == "sent" and e.number in story.wanted
        and e.node != story.victim and e.node in places.row
    ]  # fmt: skip
    if not tries:
        return ""
    heard = [e.peer for e in story.log[:end] if e.what in ("packet", "loss") and e.node == story.victim]
    near = [s for s in tries if heard and story.log[s].node == heard[-1]]
    tries = near or tries
    (x1, y1), (x2, y2) = places.at(tries[-1], story.log[tries[-1]].node), places.at(end, story.victim)
    text = "the path that is missing: here the message should have come"
    more = 'stroke-width="2.5" stroke-dasharray="9 5" opacity="0.75" marker-end="url(#a3)"'
    return _line(x1, y1, x2, y2, LOUD, more, text)


def _mark(story: Story, places: _Places, step: int, event: Event) -> str:
    x, y = places.at(step, event.node)
    said = f'data-t="{escape(story.lines[step]) if step < len(story.lines) else ""}"'
    if event.what in ("broadcast", "delivered"):
        colour = LOUD if event.number in story.about else LINE
        word = "b" if event.what == "broadcast" else "d"
        return (
            f'<g {said}><circle cx="{x}" cy="{y}" r="{6 * places.scale:.0f}" fill="{colour}"/>'
            f'<text x="{x - 7}" y="{y - 11 * places.scale:.0f}" style="fill:{colour}">{word}{event.number}</text></g>'
        )
    if event.what in ("crash", "recover", "left", "joined", "timer", "station", "call", "return"):
        word = {"station": f"cell {event.number}", "timer": "", "call": event.text, "return": event.text}.get(
            event.what, event.what
        )
        return (
            f'<g {said}><rect x="{x - 4}" y="{y - 4}" width="8" height="8" fill="{QUIET}"/>'
            f'<text x="{x - 8}" y="{y + 18 * places.scale:.0f}" style="font-size:.8em">{escape(word)}</text></g>'
        )
    return f'<circle cx="{x}" cy="{y}" r="2.5" fill="{QUIET}" {said}/>'
