"""The palette of figures and pages, and matplotlib's settings.

A figure is drawn in the colours for light paper. In dark mode, a CSS rule of the page (templates/palette.css) replaces
each colour by its dark counterpart, so no figure is drawn twice.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class Colour(NamedTuple):
    """A colour for light and for dark pages, and the CSS variable of the page that holds it."""

    variable: str
    light: str
    dark: str


INK = Colour("ink", "#1c2126", "#e6e9ec")
SOFT = Colour("soft", "#5b6570", "#9aa5b0")
LINE = Colour("line", "#d9dee3", "#363d45")
HOLLOW = Colour("hollow", "#ffffff", "#1c2227")
"""The fill of hollow marks."""
SERIES = (
    Colour("s0", "#1f6fb4", "#6db3f2"), Colour("s1", "#c8501e", "#f0905f"), Colour("s2", "#2c8a4b", "#6ecb8b"),
    Colour("s3", "#8a4fb0", "#c79be8"), Colour("s4", "#b3870c", "#e5c04e"), Colour("s5", "#0f8b8d", "#5fd0d2"),
    Colour("s6", "#c23b68", "#f08aac"), Colour("s7", "#5f6b2d", "#b6c46c"),
)  # fmt: skip
COLOURS = (INK, SOFT, LINE, HOLLOW, *SERIES)
DASHES: tuple[Any, ...] = ("-", (0, (4, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)))
"""The dashes of the engines, in the order of the legend."""
SHADES = (0.9, 0.55, 0.35, 0.2)
"""The opacity of bars, by engine."""
WIDTH_IN, HEIGHT_IN, LEGEND_ROW_IN = 5.0, 3.0, 0.19


def settings() -> dict[str, Any]:
    """Return matplotlib's settings for a figure."""
    from matplotlib.rcsetup import cycler

    return {
        "figure.constrained_layout.use": True, "figure.facecolor": "none", "axes.facecolor": "none",
        "savefig.facecolor": "none", "font.family": "sans-serif", "font.size": 9.0,
        "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial"],  # the first font is matplotlib's own
        "text.parse_math": False,  # names of scalars may contain dollar signs
        "text.color": INK.light, "axes.labelcolor": INK.light, "axes.edgecolor": SOFT.light,
        "xtick.color": SOFT.light, "ytick.color": SOFT.light, "xtick.labelsize": 8.0, "ytick.labelsize": 8.0,
        "axes.spines.top": False, "axes.spines.right": False, "axes.linewidth": 0.8,
        "axes.grid": True, "axes.grid.axis": "y", "axes.axisbelow": True, "grid.color": LINE.light,
        "grid.linewidth": 0.7, "lines.linewidth": 1.4, "lines.markersize": 4.0, "errorbar.capsize": 2.5,
        "axes.prop_cycle": cycler(color=[colour.light for colour in SERIES]),
        "legend.frameon": False, "legend.fontsize": 8.0, "legend.borderpad": 0.0, "legend.handlelength": 1.8,
        "svg.fonttype": "none", "pdf.fonttype": 42, "pgf.rcfonts": False,
    }  # fmt: skip
