"""Draw a space-time diagram of events. This module computes the layout; the templates beside it draw it.

Every node is a line, and time goes from left to right: to scale in a run, with one column for simultaneous events in a
model, whose times only define an order. A broad arrow goes from the broadcast of each message on the causal path to the
deliveries that matter: at the source of the next message and at the node of the violation. A dashed arrow goes to the
place where the missing delivery should have been. These arrows need only broadcasts and deliveries, so they are also
drawn for vectorized protocols, whose packets are not known.

A packet is an arrow from its sending to its arrival. It has a cross if it was lost, or if it reached the node that
needs it and was not delivered. A packet still on its way is a dotted line; a node that is down has no line.

On the page, drag to pan, use the wheel to zoom, and click on a mark for its description.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import chain, pairwise

from jinja2 import Environment, PackageLoader, StrictUndefined

from causeway.explore.model import Event

LEFT, TOP, STEP, ROW, BELOW = 110, 56, 34, 58, 40
LOUD, LATE, QUIET, LINE, TALK = "#c0392b", "#d35400", "#8a94a0", "#34495e", "#2874a6"
COMFORTABLE = 1400
"""The maximum width in pixels of a diagram that is not scaled."""
TIMED = 1000
"""The width in pixels of a diagram with time to scale."""
FEW_ROWS = 320
"""The height over which the lines of few nodes are spread, so that arrows between them are steep."""
TICKS = 8
"""The approximate number of ticks on the axis of time."""
LETTER = 7
"""The width of a letter of a mark in pixels. If marks of neighbours would overlap, one is written higher."""
LEVELS = 3
BEFORE = 12
"""The distance of the missing delivery from the mark of the message that was delivered instead."""
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
    path: Sequence[int] = ()
    """The messages from the missing one to the one that was delivered instead."""
    wrong_ps: int = -1
    """The time of the violation."""
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
    """The description that appears after a click."""
    width: float = 0
    dashes: str = ""
    opacity: float = 1
    head: int = -1
    """The index of the arrow's head in HEADS; -1: none."""


@dataclass
class _Places:
    """The positions of events."""

    row: dict[int, int]
    xs: list[int] = field(default_factory=list)
    """The position of each event on the axis of time."""
    end: int = 0
    """The end of that axis."""
    scale: float = 1.0
    """The scale of everything except the columns. Long diagrams are drawn larger, so that they are readable as a whole.
    """
    row_px: int = ROW
    """The distance between the lines of two nodes."""
    first_ps: int = 0
    span_ps: int = 0
    """The time that the axis covers; 0 if it has columns."""

    def at(self, step: int, node: int) -> tuple[int, int]:
        return self.xs[step], self.y(node)

    def x(self, time_ps: int) -> int:
        return round(LEFT + (time_ps - self.first_ps) / self.span_ps * (TIMED - LEFT - 2 * STEP))

    def y(self, node: int) -> int:
        return round(self.scale * (TOP + self.row_px * self.row.get(node, 0)))


def _placed(story: Story) -> _Places:
    row = {node: i for i, node in enumerate(story.names)}
    times = [event.time_ps for event in story.log]
    if not story.timed or not times or max(times) == min(times):
        return _in_columns(story, row)
    span_ps = max(times) - min(times)
    spread = max(ROW, min(3 * ROW, FEW_ROWS // max(1, len(row) - 1)))
    places = _Places(row, row_px=spread, first_ps=min(times), span_ps=span_ps)
    places.xs = [places.x(time_ps) for time_ps in times]
    places.end = places.x(max(times)) + STEP // 2
    return places


def _in_columns(story: Story, row: dict[int, int]) -> _Places:
    """Place one event in each column. Copies of one packet that leave at the same time share a column."""
    columns: list[int] = []
    before: tuple[object, ...] = ()
    for event in story.log:
        same = (event.time_ps, event.number, event.node) if event.what == "sent" else ()
        columns.append((columns[-1] if columns else -1) + (not same or same != before))
        before = same
    width = STEP * (columns[-1] + 1 if columns else 0)
    scale = max(1.0, width / COMFORTABLE)
    left = round(scale * LEFT)
    return _Places(row, [left + STEP * column for column in columns], left + width, scale)


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
    height = round(places.scale * (TOP + places.row_px * max(0, len(places.row) - 1) + BELOW))
    free: dict[tuple[int, int], int] = {}
    marks = (
        _mark(story, places, step, event, free) for step, event in enumerate(story.log) if event.node in places.row
    )
    shapes = [
        *_ticks(places, height), *_lifelines(story, places), *_messages(story, places),
        *_on_the_way(story, places), *_arrows(story, places), *_missing_path(story, places),
        *chain.from_iterable(marks),
    ]  # fmt: skip
    return {
        "story": story, "shapes": shapes, "width": places.end + STEP, "height": height, "heads": HEADS,
        "font_px": round(11 * places.scale),
    }  # fmt: skip


def _ticks(places: _Places, height: int) -> Iterator[Shape]:
    """Yield lines at round times, with the times above."""
    if not places.span_ps:
        return
    step_ps = _round_step(places.span_ps / TICKS)
    decimals = max(0, 12 - (len(str(step_ps)) - 1))
    for number in range(-(-places.first_ps // step_ps), (places.first_ps + places.span_ps) // step_ps + 1):
        x = places.x(number * step_ps)
        yield Shape("line", x, 24, x, height, "#e6eaee")
        yield Shape("text", x, 18, text=f"{number * step_ps / 1e12:.{decimals}f} s")


def _round_step(least_ps: float) -> int:
    """Return the smallest of 1, 2, 5, 10, 20, ... that is not below the given value."""
    power = 10 ** max(0, len(str(int(least_ps))) - 1)
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least_ps or factor == 10)


def _lifelines(story: Story, places: _Places) -> Iterator[Shape]:
    end = places.end
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
            (x1, y1), (x2, y2) = places.at(step, sender), (places.end, places.y(receiver))
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
    """Return the name of the content's class if the text is that of an object."""
    found = re.match(r"([A-Za-z_]\w*)\(", text)
    return found[1] if found else ""


def _carries(event: Event, story: Story) -> bool:
    return any(re.search(rf"\b(message|number|id)={message}\b", event.text) for message in story.about)


def _messages(story: Story, places: _Places) -> Iterator[Shape]:
    """Yield an arrow from the broadcast of each message on the path to each of its deliveries that matters."""
    begun = {e.number: step for step, e in enumerate(story.log) if e.what == "broadcast" and e.node in places.row}
    sources = {message: story.log[step].node for message, step in begun.items()}
    next_source = {one: sources.get(then, -1) for one, then in pairwise(story.path)}
    for step, event in enumerate(story.log):
        message, node = event.number, event.node
        if event.what != "delivered" or message not in story.path or message not in begun or node == sources[message]:
            continue
        if node not in (story.victim, next_source.get(message, -1)) or node not in places.row:
            continue
        (x1, y1), (x2, y2) = places.at(begun[message], sources[message]), places.at(step, node)
        missing = message == story.path[0]
        says = f"message {message}: from its broadcast to its delivery by {story.names[node]}"
        yield Shape("line", x1, y1, x2, y2, LATE if missing else TALK, width=2.2, head=1 if missing else 2, says=says)


def _missing_path(story: Story, places: _Places) -> Iterator[Shape]:
    """Yield the missing path: from the broadcast of the message to the place where it should have been delivered."""
    if story.victim not in places.row:
        return
    if not story.timed:
        yield from _missing_path_in_model(story, places)
        return
    begin = next((s for s, e in enumerate(story.log) if e.what == "broadcast" and e.number in story.path[:1]), None)
    in_time = any(
        e.what == "delivered" and e.node == story.victim and e.number in story.path[:1] and e.time_ps <= story.wrong_ps
        for e in story.log
    )
    if begin is None or in_time or not places.span_ps or story.log[begin].node not in places.row:
        return
    end_ps = min(story.wrong_ps, places.first_ps + places.span_ps)  # the end of the run may be much later
    (x1, y1), text = places.at(begin, story.log[begin].node), f"message {story.path[0]} should have been delivered here"
    yield _dashed(x1, y1, places.x(end_ps) - BEFORE, places.y(story.victim), text)


def _dashed(x1: int, y1: int, x2: int, y2: int, text: str) -> Shape:
    return Shape("line", x1, y1, x2, y2, LOUD, width=2.5, dashes="9 5", opacity=0.75, head=3, says=text)


def _missing_path_in_model(story: Story, places: _Places) -> Iterator[Shape]:
    """Yield the missing path of a model: from the message's last sender to the node at which it did not arrive.

    Of several senders, it is the one from which the node received a packet last.
    """
    if not story.wanted:
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
    yield _dashed(x1, y1, x2, y2, "the missing path: the message should have arrived here")


def _mark(
    story: Story, places: _Places, step: int, event: Event, free: dict[tuple[int, int], int]
) -> Iterator[Shape]:  # fmt: skip
    """Yield the mark of an event. `free` is the x from which on a level above a node's line has room for text."""
    x, y = places.at(step, event.node)
    says = story.lines[step] if step < len(story.lines) else ""
    if event.what in ("broadcast", "delivered"):
        colour = LOUD if event.number in story.about else LINE
        word = f"{'b' if event.what == 'broadcast' else 'd'}{event.number}"
        yield Shape("dot", x, y, colour=colour, size=round(6 * places.scale), says=says)
        level = next((i for i in range(LEVELS) if free.get((event.node, i), 0) <= x), 0)
        free[event.node, level] = x + round(LETTER * places.scale * (len(word) + 1))
        above = y - round((11 + 12 * level) * places.scale)
        yield Shape("text", x - 7, above, text=word, css=f"fill:{colour}", says=says)
    elif event.what in ("crash", "recover", "left", "joined", "timer", "station", "call", "return"):
        words = {"station": f"cell {event.number}", "timer": "", "call": event.text, "return": event.text}
        word = words.get(event.what, event.what)
        yield Shape("box", x, y, colour=QUIET, size=4, says=says)
        yield Shape("text", x - 8, y + round(18 * places.scale), text=word, css="font-size:.8em", says=says)
    else:
        yield Shape("dot", x, y, colour=QUIET, size=2.5, says=says)
