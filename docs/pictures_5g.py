"""Draws the picture of docs/how-to/5g.md: seven nodes at their places, and when each heard of the first rumour.

Call: python docs/pictures_5g.py FOLDER, the folder with the files of the page. It writes docs/images/5g.svg.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt

import causeway as cw

IMAGE = Path(__file__).resolve().parent / "images" / "5g.svg"
STATION_M, SERVER_M = (450, 300), (300, 300)
"""Places of the base station, from Simu5G's ini file, and of the server, which has none: beside it."""
PHONES_M = [(450 + 60 * (i - 2.5), 350) for i in range(6)]
BLUE, GREY = "#0f8b8d", "#8a929c"


def heard_first(folder: Path) -> list[float]:
    """Run the page's gossip with one rumour, and return when each node heard of it, in ms after it was told."""
    sys.path.insert(0, str(folder))
    gossip: Any = __import__("gossip")
    network = cw.InetNetwork(7, **gossip.NETWORKS["5G"])
    load = cw.poisson(5, messages=1)
    run = cw.run(gossip.Gossip, network, broadcasts=load, until=cw.seconds(1.5), engine="omnet")
    return [1000 * node.delays[0] if node.delays else 0.0 for node in run.nodes]


def main(folder: Path) -> None:
    """Draw the picture."""
    delays = heard_first(folder)
    figure, axes = plt.subplots(figsize=(7.5, 3))
    axes.plot(*STATION_M, marker="^", color=GREY, markersize=12)
    axes.annotate("gNB", STATION_M, (0, 10), textcoords="offset points", ha="center", color=GREY)
    for place, name, delay in zip([SERVER_M, *PHONES_M], ["server", *range(6)], delays, strict=True):
        axes.plot(*zip(STATION_M, place, strict=True), color=GREY, linewidth=0.6, zorder=0)
        axes.plot(*place, marker="s" if name == "server" else "o", color=BLUE, markersize=9)
        label = name if name == "server" else f"ue[{name}]"
        said = f"after {delay:.0f} ms" if delay else "tells it"
        axes.annotate(f"{label}\n{said}", place, (0, -28), textcoords="offset points", ha="center", fontsize=8)
    axes.set(xlabel="m", ylabel="m", xlim=(250, 630), ylim=(385, 280))
    axes.margins(0.2)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(IMAGE, bbox_inches="tight", metadata={"Date": None})


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
