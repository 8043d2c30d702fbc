"""Draw the animation of README from a run on INET (or ns-3): three rumours among seventy walking hosts.

    python docs/pictures.py                # docs/images/rumour.gif
    python docs/pictures.py --engine ns3

A host that receives a rumour sends it on, once, after a random time. The colour of a host is that of its newest rumour.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.animation import FuncAnimation, PillowWriter

import causeway as cw

IMAGE = Path(__file__).resolve().parent / "images" / "rumour.gif"
STATIONS, HOSTS = 7, 70
RANGE_M = 120
EVERY = cw.ms(100)
GREY, COLOURS = "#c5cbd3", ("#0f8b8d", "#d1495b", "#edae49")
FRAMES_A_S = 8


class Gossip(cw.Node):
    """Sends every rumour on, once, after a random time."""

    def on_start(self) -> None:
        """Begin without rumours."""
        self.heard: set[int] = set()

    def on_broadcast(self, number: int, size_bytes: int) -> None:
        """Begin a rumour."""
        self.take(self.new_message())

    def on_packet(self, rumour: int, sender: int, interface: int) -> None:
        """Store a rumour that is new."""
        if rumour not in self.heard:
            self.take(rumour)

    def take(self, rumour: int) -> None:
        """Deliver a rumour, and send it on after a random time."""
        self.heard.add(rumour)
        self.deliver(rumour)
        self.record("heard", float(rumour))
        self.after(cw.ms(20) + self.rng.randrange(cw.ms(300)), self.pass_on, rumour)

    def pass_on(self, rumour: int) -> None:
        """Send a rumour to all in reach."""
        self.send(cw.EVERYONE, rumour)


def simulate(engine: str) -> tuple[str, pd.DataFrame]:
    """Run the simulation.

    Return the engine's version and the samples: positions, and the instants at which rumours arrived.
    """
    network = cw.MobileNetwork.hexagons(
        cells=STATIONS, hosts=HOSTS, radio="wifi", speed_mm_s=cw.metres_per_second(8), places_every_ps=EVERY
    )
    run = cw.run(Gossip, network, broadcasts=cw.poisson(0.6, messages=3), until=cw.seconds(6), engine=engine)
    print(run)
    return run.engine_version, run.frame("samples")


def draw(version: str, samples: pd.DataFrame, path: Path) -> None:
    """Draw one frame for each instant with recorded positions."""
    samples["node"] = samples["module"].str.extract(r"\[(\d+)\]", expand=False).astype(float)
    samples["frame"] = (samples["time_s"] * 1e12 / EVERY).round().astype(int)
    places = {
        name: samples[samples["name"] == name].pivot_table("value", "frame", "node").ffill() for name in ("x_m", "y_m")
    }
    heard = samples[samples["name"] == "heard"]
    first = int(heard["frame"].min()) - 3
    figure, axes = plt.subplots(figsize=(5.6, 5.2), dpi=100)
    figure.subplots_adjust(0, 0, 1, 0.94)

    def frame(number: int) -> None:
        axes.clear()
        axes.set_axis_off()
        axes.set_aspect("equal")
        x, y = places["x_m"].loc[number], places["y_m"].loc[number]
        newest = heard[heard["frame"] <= number].sort_values("time_s").groupby("node")["value"].last()
        colours = [COLOURS[int(newest[node])] if node in newest.index else GREY for node in x.index]
        for station in range(STATIONS):
            axes.add_patch(plt.Circle((x[station], y[station]), RANGE_M, color="#8d99ae", alpha=0.10, lw=0))
        axes.scatter(
            x.iloc[STATIONS:], y.iloc[STATIONS:], 34, colours[STATIONS:], edgecolors="white", linewidths=0.6, zorder=3
        )
        axes.scatter(
            x.iloc[:STATIONS], y.iloc[:STATIONS], 90, colours[:STATIONS], marker="s", edgecolors="#2b2d42", zorder=3
        )
        figure.suptitle(f"three rumours on {version}, t = {number * EVERY / 1e12:.1f} s", fontsize=10)

    last = int(heard["frame"].max()) + 4
    FuncAnimation(figure, frame, range(first, min(last, int(places["x_m"].index.max()))), init_func=lambda: None).save(
        path, PillowWriter(fps=FRAMES_A_S)
    )


def main() -> None:
    """Draw the animation."""
    parser = argparse.ArgumentParser(description="Draw the animation of README.")
    parser.add_argument("--engine", default="omnet", help="omnet or ns3")
    draw(*simulate(parser.parse_args().engine), IMAGE)
    print(f"{IMAGE}: {IMAGE.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
