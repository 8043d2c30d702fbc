"""A kind of plot of your own: a function that draws on a matplotlib Axes. The study below it uses the kind.

causeway run examples/spread.py --sweep loss --reps 5 --out results/spread
causeway report results/spread --kinds examples/spread.py

The report then writes results/spread/report/figures.csv, which is equal to spread.csv beside this file.
"""
# pyright: reportUnknownMemberType=false
# matplotlib's methods take keywords without types.

from typing import ClassVar

import pandas as pd
from matplotlib.axes import Axes
from pydantic import Field

import causeway as cw


@cw.plot_kind
def spread(ax: Axes, data: cw.PlotData, width: float = 0.06) -> pd.DataFrame:
    """Draw a box from the smallest to the largest value of all seeds at each x, and a line at the median."""
    found = data.values().groupby(["series", "engine", "x"])["value"].agg(["min", "median", "max", "count"])
    found = found.reset_index()
    ax.bar(found["x"], found["max"] - found["min"], width, bottom=found["min"], alpha=0.4, label="all seeds")
    ax.hlines(found["median"], found["x"] - width / 2, found["x"] + width / 2, label="the middle one")
    return found.rename(columns={"min": "low", "median": "mean", "max": "high", "count": "runs"})


class Talker(cw.Node):
    """Sends its application's messages to all nodes, which deliver them."""

    def on_broadcast(self, number: int, size_bytes: int) -> None:
        message = self.new_message()
        self.deliver(message)
        self.send(cw.EVERYONE, message, size_bytes)

    def on_packet(self, message: int, sender: int, interface: int) -> None:
        self.deliver(message)


class SpreadParams(cw.Params):
    loss: float = Field(0.1, ge=0, lt=1, description="share of copies that the network loses")


class SpreadStudy(cw.Study):
    name, title, Params, engines = "spread", "copies that are delivered", SpreadParams, ("inline",)
    sweeps: ClassVar = {"loss": [{"loss": loss} for loss in (0.1, 0.3, 0.5)]}
    plots = (cw.Plot("Deliveries by loss", "spread", "deliveries", "loss", kind="spread", more={"width": 0.04}),)

    def network(self, params: SpreadParams, seed: int) -> cw.AbstractNetwork:
        workload = cw.poisson(100, messages=50)
        return cw.AbstractNetwork(10, delay=cw.constant_delay(5), workload=workload, loss=params.loss)

    def protocol(self, params: SpreadParams) -> cw.PerNode:
        return cw.PerNode(Talker)
