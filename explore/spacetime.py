"""Draw a space-time diagram of events. This module computes the layout; the templates beside it draw it.

Every node is a line, and time goes from left to right, with one column for simultaneous events. A packet is an arrow
from its sending to its arrival, with a cross if it was lost, or if it reached the node that waits for it and was not
delivered. A packet still on its way is a dotted line; a node that is down has no line. The broadcasts and deliveries of
the violation's messages, the packets with the message that did not arrive in time, and the place where it should have
arrived are highlighted.

On the page, drag to pan, use the wheel to zoom, and click on a mark for its description.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import chain

from jinja2 import Environment, PackageLoader, StrictUndefined

from causeway.explore.model import Event

LEFT, TOP, STEP, ROW, BELOW = 110, 56, 34, 58, 40
LOUD, LATE, QUIET, LINE, TALK = "#c0392b", "#d35400", "#8a94a0", "#34495e", "#2874a6"
COMFORTABLE = 1400
"""The width in pixels up to which a diagram is not scaled."""
EVERY_COLUMNS = 8
"""The number of columns between two labels with the time."""
HEADS = (QUIET, LATE, TALK, LOUD)
"""The colours of arrows, by the index of their head."""


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("causeway.explore", "templates"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip


@dataclass(frozen=True)
class Story:
    """The content of a diagram."""

    log: Sequence[Event]
    names: Mapping[int, str]
    """The names of the nodes that have a line, from top to bottom."""
    title: str
    broken: str
    """The violation."""
    lines: Sequence[str]
    """A description of each event."""
    about: frozenset[int] = frozenset()
    """Messages to highlight."""
    wanted: frozenset[int] = frozenset()
    """Packets to highlight."""
    victim: int = -1
    """The node at which the message did not arrive in time."""
    timed: bool = False
    """True if the times of events are simulated times; in a model they only define the order."""


@dataclass(frozen=True)
class Shape:
    """One mark of the diagram, as templates/diagram.svg draws it."""

    kind: str
    """line, text, dot, box, lost or untaken (crosses)."""
    x: int
    y: int
    x2: int = 0
    y2: int = 0
    colour: str = ""
    size: float = 0
    text: str = ""
    css: str = ""
    says: str = ""
    """The description that a click shows."""
    width: float = 0
    dashes: str = ""
    opacity: float = 1
    head: int = -1
    """The index of the arrow's head in HEADS; -1: none."""


@dataclass
class _Places:
    """The positions of events."""

    column: list[int] = field(default_factory=list)
    row: dict[int, int] = field(default_factory=dict)
    columns: int = 0
    scale: float = 1.0
    """The scale of everything except the columns. Long diagrams are drawn larger, so as to be readable as a whole."""

    def at(self, step: int, node: int) -> tuple[int, int]:
        return self.x(self.column[step]), self.y(node)

    def x(self, column: int) -> int:
        return round(self.scale * LEFT) + STEP * column

    def y(self, node: int) -> int:
        return round(self.scale * (TOP + ROW * self.row.get(node, 0)))


def _placed(story: Story) -> _Places:
    """Return the positions of events. Copies of one packet that leave or arrive at the same time share a column."""
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
    """Return the page as HTML that needs no other file."""
    colours = {"late": LATE, "loud": LOUD, "talk": TALK}
    return _environment().get_template("page.html").render(colours=colours, **_drawing(story))


def diagram(story: Story) -> str:
    """Return the diagram as SVG."""
    return _environment().get_template("diagram.svg").render(_drawing(story))


def _drawing(story: Story) -> dict[str, object]:
    """Return the variables of the templates."""
    places = _placed(story)
    height = round(places.scale * (TOP + ROW * len(places.row) + BELOW))
    marks = (_mark(story, places, step, event) for step, event in enumerate(story.log) if event.node in places.row)
    shapes = [
        *_times(story, places, height), *_lifelines(story, places), *_on_the_way(story, places),
        *_arrows(story, places), *_never(story, places), *chain.from_iterable(marks),
    ]  # fmt: skip
    return {
        "story": story, "shapes": shapes, "width": places.x(places.columns + 2), "height": height, "heads": HEADS,
        "font_px": round(11 * places.scale),
    }  # fmt: skip


def _times(story: Story, places: _Places, height: int) -> Iterator[Shape]:
    last = -EVERY_COLUMNS
    for step, event in enumerate(story.log if story.timed else ()):
        column = places.column[step]
        if column >= last + EVERY_COLUMNS * places.scale:
            last, x = column, places.x(column)
            yield Shape("line", x, round(24 * places.scale), x, height, "#e6eaee")
            yield Shape("text", x, round(18 * places.scale), text=f"{event.time_ps / 1e12:.6f} s")


def _lifelines(story: Story, places: _Places) -> Iterator[Shape]:
    end = places.x(places.columns)
    for node, name in story.names.items():
        y, start = places.y(node), LEFT - 12
        yield Shape("text", 8, y + 4, text=name, css="font-weight:bold" if node == story.victim else "")
        up = True
        for step, event in enumerate(story.log):
            if event.node == node and event.what == "crash" and up:
                yield Shape("line", start, y, places.at(step, node)[0], y, LINE, width=1.5)
                up = False
            elif event.node == node and event.what == "recover" and not up:
                start, up = places.at(step, node)[0], True
        if up:
            yield Shape("line", start, y, end, y, LINE, width=1.5)


def _sent(story: Story) -> dict[tuple[int, int], tuple[int, int]]:
    """Return the step and the sender of each sending, by packet and receiver."""
    return {(e.number, e.peer): (step, e.node) for step, e in enumerate(story.log) if e.what == "sent"}


def _on_the_way(story: Story, places: _Places) -> Iterator[Shape]:
    """Yield an arrow towards the end for each copy that is still on its way."""
    arrived = {(e.number, e.node) for e in story.log if e.what in ("packet", "loss")}
    for (number, receiver), (step, sender) in _sent(story).items():
        if receiver >= 0 and receiver in places.row and (number, receiver) not in arrived:
            (x1, y1), (x2, y2) = places.at(step, sender), (places.x(places.columns), places.y(receiver))
            text = f"packet {number}: still on its way"
            yield Shape("line", x1, y1, x2, y2, QUIET, width=0.6, dashes="1 4", says=text)


def _arrows(story: Story, places: _Places) -> Iterator[Shape]:
    """Yield arrows from each sending to the arrival or loss of each copy."""
    sent, named = _sent(story), set()
    for step, event in enumerate(story.log):
        if event.what not in ("packet", "loss", "twice") or event.node not in places.row:
            continue
        origin = sent.get((event.number, event.node)) or sent.get((event.number, -1))
        if origin is None:
            continue
        (x1, y1), (x2, y2) = places.at(*origin), places.at(step, event.node)
        lost, late, kind = event.what == "loss", event.number in story.wanted, _kind(event.text)
        index = 3 if lost else 1 if late else 2 if kind and not _carries(event, story) else 0
        yield Shape(
            "line", x1, y1, x2, y2, HEADS[index], dashes="4 3" if lost else "", head=-1 if lost else index,
            width=2 if late and not lost else 0, says=f"packet {event.number}: {event.text}",
        )  # fmt: skip
        if lost or (late and event.node == story.victim and not _is_taken(story, step)):
            cross = "lost" if lost else "untaken"
            yield Shape(cross, x2, y2, colour=HEADS[index], size=round(5 * places.scale))
        if kind and event.number not in named:
            named.add(event.number)
            x, y = round(x1 + (x2 - x1) * 0.4 + 4), round(y1 + (y2 - y1) * 0.4)
            yield Shape("text", x, y, text=kind, css=f"fill:{HEADS[index]};font-size:.8em")


def _is_taken(story: Story, step: int) -> bool:
    """Return whether the node delivers a message when the packet arrives."""
    packet = story.log[step]
    now = (e for e in story.log[step + 1 :] if e.node == packet.node and e.time_ps == packet.time_ps)
    return any(e.what == "delivered" for e in now)


def _kind(text: str) -> str:
    """Return the name of the content's class, if the text is that of an object."""
    found = re.match(r"([A-Za-z_]\w*)\(", text)
    return found[1] if found else ""


def _carries(event: Event, story: Story) -> bool:
    return any(re.search(rf"\b(message|number|id)={message}\b", event.text) for message in story.about)


def _never(story: Story, places: _Places) -> Iterator[Shape]:
    """Yield the missing path: from the message's last sender to the node at which it did not arrive.

    Of several senders, it is the one from which the node received a packet last.
    """
    if story.victim not in places.row or not story.wanted:
        return
    ends = [s for s, e in enumerate(story.log) if e.what == "delivered" and e.node == story.victim]
    end = next((s for s in ends if story.log[s].number in story.about), len(story.log) - 1)
    tries = [
        s for s, e in enumerate(story.log[: end + 1]) if e.what == "sent" and e.number in story.wanted
        and e.node != story.victim and e.node in places.row
    ]  # fmt: skip
    if not tries:
        return
    heard = [e.peer for e in story.log[:end] if e.what in ("packet", "loss") and e.node == story.victim]
    near = [s for s in tries if heard and story.log[s].node == heard[-1]]
    tries = near or tries
    (x1, y1), (x2, y2) = places.at(tries[-1], story.log[tries[-1]].node), places.at(end, story.victim)
    text = "the missing path: the message should have arrived here"
    yield Shape("line", x1, y1, x2, y2, LOUD, width=2.5, dashes="9 5", opacity=0.75, head=3, says=text)


def _mark(story: Story, places: _Places, step: int, event: Event) -> Iterator[Shape]:
    x, y = places.at(step, event.node)
    says = story.lines[step] if step < len(story.lines) else ""
    if event.what in ("broadcast", "delivered"):
        colour = LOUD if event.number in story.about else LINE
        word = f"{'b' if event.what == 'broadcast' else 'd'}{event.number}"
        yield Shape("dot", x, y, colour=colour, size=round(6 * places.scale), says=says)
        yield Shape("text", x - 7, y - round(11 * places.scale), text=word, css=f"fill:{colour}", says=says)
    elif event.what in ("crash", "recover", "left", "joined", "timer", "station", "call", "return"):
        words = {"station": f"cell {event.number}", "timer": "", "call": event.text, "return": event.text}
        word = words.get(event.what, event.what)
        yield Shape("box", x, y, colour=QUIET, size=4, says=says)
        yield Shape("text", x - 8, y + round(18 * places.scale), text=word, css="font-size:.8em", says=says)
    else:
        yield Shape("dot", x, y, colour=QUIET, size=2.5, says=says)
