"""Draw the tree of a source in a VCube of 16, and the tree after a crash, as SVG.

python -m causeway.pycontrol.protocols.vcube.picture docs/images/vcube-tree.svg
"""

from __future__ import annotations

import sys
from pathlib import Path

from causeway.pycontrol.protocols.vcube.tree import tree

PROCESSES, SOURCE, CRASHED = 16, 0, 8
STEP_X, STEP_Y, RADIUS, MARGIN, TITLE = 46, 74, 15, 30, 46
EDGE, NEW_EDGE, NODE, DEAD = "#7a869a", "#d9720b", "#1f4e8c", "#b3261e"


def places(edges: list[tuple[int, int]], root: int) -> dict[int, tuple[int, int]]:
    """Return the position of every node: leaves side by side, a parent above the middle of its children."""
    children: dict[int, list[int]] = {}
    for parent, child in edges:
        children.setdefault(parent, []).append(child)
    found: dict[int, tuple[int, int]] = {}
    next_column = 0

    def place(node: int, row: int) -> int:
        nonlocal next_column
        columns = [place(child, row + 1) for child in children.get(node, ())]
        if columns:
            column = (columns[0] + columns[-1]) // 2
        else:
            column, next_column = next_column, next_column + STEP_X
        found[node] = (column, row * STEP_Y)
        return column

    place(root, 0)
    return found


def panel(title: str, edges: list[tuple[int, int]], new: set[tuple[int, int]], left: int) -> list[str]:
    """Return the SVG of one tree with a title, in which the edges in `new` and the crashed process are highlighted."""
    where = {node: (x + left + MARGIN, y + TITLE + MARGIN) for node, (x, y) in places(edges, SOURCE).items()}
    lines = [f'<text x="{left + MARGIN}" y="28" font-size="15" font-weight="bold">{title}</text>']
    for parent, child in edges:
        (x1, y1), (x2, y2) = where[parent], where[child]
        dead = CRASHED in (parent, child)
        colour = NEW_EDGE if (parent, child) in new else DEAD if dead else EDGE
        dash = ' stroke-dasharray="5 4"' if dead else ""
        width = 3 if (parent, child) in new else 1.5
        lines.append(f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{colour}" stroke-width="{width}"{dash}/>')
    for node, (x, y) in sorted(where.items()):
        colour = DEAD if node == CRASHED else NODE
        lines.append(f'<circle cx="{x}" cy="{y}" r="{RADIUS}" fill="{colour}"/>')
        lines.append(f'<text x="{x}" y="{y + 5}" text-anchor="middle" fill="#ffffff">{node}</text>')
    return lines


def picture() -> str:
    """Return the drawing as SVG."""
    everybody = bytearray([1]) * PROCESSES
    survivors = bytearray(i != CRASHED for i in range(PROCESSES))
    before, after = tree(SOURCE, PROCESSES, everybody), tree(SOURCE, PROCESSES, survivors)
    columns = PROCESSES // 2
    panel_width = columns * STEP_X + 2 * MARGIN - STEP_X // 2
    height = TITLE + 2 * MARGIN + 4 * STEP_Y
    left = f"Tree of process {SOURCE}; process {CRASHED} has crashed"
    right = "The repaired tree: new edges are orange"
    body = panel(left, before, set(), 0) + panel(right, after, set(after) - set(before), panel_width)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * panel_width} {height}" '
        f'font-family="sans-serif" font-size="13" role="img" aria-label="{left}. {right}.">'
    )
    background = f'<rect width="{2 * panel_width}" height="{height}" fill="#ffffff"/>'
    return "\n".join([head, background, *body, "</svg>", ""])


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(picture())
