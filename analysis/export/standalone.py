"""A figure of the report as an SVG file of its own: colours written out, the legend below."""

from __future__ import annotations

import re
from html import escape

from causeway.analysis.figures.drawing import COLOURS, HEIGHT, LEFT, WIDTH, draw
from causeway.analysis.figures.figure import Figure
from causeway.analysis.kinds.kind import PlotKind
from causeway.analysis.report.style import STYLE

INK, SOFT, GRID = "#1c2126", "#5b6570", "#d9dee3"
ROW, COLUMN = 20, 190
"""Height of a row of the legend, width of a column."""
PALETTE = tuple(re.findall(r"--s\d:(#[0-9a-f]{6})", STYLE)[:COLOURS])
"""The report's, on light paper."""
_SHEET = (
    f"text{{font:12.5px sans-serif;fill:{SOFT}}}.name{{fill:{INK};font-size:13px}}path{{fill:none}}"
    f".grid{{stroke:{GRID}}}.axis,.tick{{stroke:{SOFT}}}.line{{stroke:currentColor;stroke-width:2}}"
    ".band{fill:currentColor;opacity:.16}circle,rect{fill:currentColor}.whisker{stroke:currentColor;stroke-width:1.3}"
    f".published{{fill:#fff;stroke:currentColor;stroke-width:2}}.key{{stroke-width:2.4;stroke:currentColor}}"
    f".plain{{color:{INK}}}" + "".join(f".s{index}{{color:{colour}}}" for index, colour in enumerate(PALETTE))
)


def svg(figure: Figure, kind: PlotKind) -> str:
    """The whole file."""
    drawn = draw(figure, kind)
    body = drawn[drawn.index(">") + 1 : drawn.rindex("</svg>")]
    entries = legend_entries(figure, kind)
    columns = max(1, (WIDTH - LEFT) // COLUMN)
    rows = -(-len(entries) // columns)
    keys = "".join(
        _entry(LEFT + at % columns * COLUMN, HEIGHT + at // columns * ROW, *e) for at, e in enumerate(entries)
    )
    high = HEIGHT + rows * ROW + 6
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{high}" viewBox="0 0 {WIDTH} {high}">'
        f"<title>{escape(figure.plot.title)}</title><style>{_SHEET}</style>{body}{keys}</svg>\n"
    )


def legend_entries(figure: Figure, kind: PlotKind) -> list[tuple[str, str, str]]:
    """(class of its colour, what is drawn, words) for each series and engine."""
    found: list[tuple[str, str, str]] = []
    for colour, words in kind.colours(figure):
        found.append((f"s{colour}", '<path class="key" d="M1 5H21"/>', words))
    for index, engine in enumerate(figure.engines):
        found.append(("plain", kind.key(index).replace("<path ", '<path class="key" '), engine))
    if figure.published:
        found.append(("plain", '<path class="published" d="M11 0L16 5L11 10L6 5Z"/>', "published"))
    return found


def _entry(x: float, y: float, colour: str, key: str, words: str) -> str:
    return (
        f'<g class="{colour}" transform="translate({x} {y})">{key}</g>'
        f'<text class="name" x="{x + 28}" y="{y + 9}">{escape(words)}</text>'
    )
