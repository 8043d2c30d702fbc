"""Draw the picture of the page on 5G from runs of its own program: where the nodes are, and when they hear a rumour.

SIMU5G_ROOT=... OMNETPP_ROOT=... INET_ROOT=... python docs/picture_5g.py    # docs/images/5g.svg
"""

from __future__ import annotations

import importlib
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

import causeway as cw

DOCS = Path(__file__).resolve().parent
FILE = re.compile(r"^```\w+ title=\"([^\"]+)\"\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PHONES_M = [(450 + 60 * (phone - 2.5), 350) for phone in range(6)]
GNB_M = (450, 300)
"""The station of the example, in its ini file."""
COLOURS = {"5G": "#d1495b", "Wi-Fi": "#0f8b8d", "wires": "#8a93a0"}


def hearings(folder: Path) -> dict[str, list[list[float]]]:
    """Run the gossip on the three networks, and return how long rumours took, in ms, by network and node."""
    (folder / "page").mkdir()
    (folder / "simu5g").symlink_to(os.environ["SIMU5G_ROOT"])
    for name, text in FILE.findall((DOCS / "how-to" / "5g.md").read_text()):
        (folder / "page" / name).write_text(text)
    os.chdir(folder / "page")
    sys.path.insert(0, str(folder / "page"))
    gossip: Any = importlib.import_module("gossip")
    found = {}
    for name in COLOURS:
        network = cw.InetNetwork(7, **gossip.NETWORKS[name])
        load = cw.poisson(2, messages=38)
        run = cw.run(gossip.Gossip, network, broadcasts=load, until=cw.seconds(20), engine="omnet")
        found[name] = [[1000 * delay for delay in node.delays] for node in run.nodes]
        print(run)
    return found


def draw(found: dict[str, list[list[float]]]) -> None:
    """Draw the positions, with the mean time of each node in 5G, and the distribution on each network."""
    figure, (places, times) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    means = [float(np.mean(delays)) for delays in found["5G"]]
    places.plot(*GNB_M, "k^", ms=11)
    places.annotate("gNB", GNB_M, (8, -4), textcoords="offset points")
    server = (GNB_M[0] + 150, GNB_M[1] - 25)
    places.plot([GNB_M[0], server[0]], [GNB_M[1], server[1]], "-", color="#8a93a0", lw=1)
    places.plot(*server, "ks", ms=8)
    places.annotate(
        f"server, behind the core\n{means[6]:.0f} ms", server, (8, -8), textcoords="offset points", fontsize=8
    )
    for phone, ((x, y), mean) in enumerate(zip(PHONES_M, means, strict=False)):
        places.plot([GNB_M[0], x], [GNB_M[1], y], ":", color=COLOURS["5G"], lw=0.8)
        places.plot(x, y, "o", color=COLOURS["5G"], ms=8)
        places.annotate(
            f"ue[{phone}]\n{mean:.0f} ms", (x, y), (0, 9), textcoords="offset points", ha="center", fontsize=8
        )
    places.set(xlim=(270, 800), ylim=(255, 385), xlabel="x (m)", ylabel="y (m)")
    for name, delays in found.items():
        values = np.sort(np.concatenate(delays))
        share = np.arange(1, len(values) + 1) / len(values)
        times.step(values, share, where="post", color=COLOURS[name], label=f"{name}: {len(values)} hearings")
    times.set(xscale="log", xlabel="time to the first hearing (ms)", ylabel="share of the hearings")
    times.legend(frameon=False, fontsize=8)
    figure.savefig(DOCS / "images" / "5g.svg", metadata={"Date": None})


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as there:
        draw(hearings(Path(there)))
