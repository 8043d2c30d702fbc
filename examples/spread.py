"""A kind of plot of your own: one class. The study below it asks for it.

causeway run examples/spread.py --sweep loss --reps 5 --out results/spread
causeway report results/spread --kinds examples/spread.py
"""

from typing import ClassVar

from pydantic import Field

from causeway import (
    EVERYONE,
    AbstractNetwork,
    Node,
    Params,
    PerNode,
    Plot,
    Segment,
    Study,
    Workload,
    constant_delay,
)
from causeway.analysis.figures.data import Data
from causeway.analysis.figures.drawing import Drawing
from causeway.analysis.figures.figure import Figure, Line, Point, in_order
from causeway.analysis.kinds import PlotKind


class Spread(PlotKind):
    """From the smallest to the largest value of all seeds, and the middle one: a box for each x."""

    name = "spread"
    own: ClassVar = {"width": 12}

    def reduce(self, plot: Plot, data: Data) -> Figure:
        lines = []
        for (engine, series), runs in data.values(plot).groupby(["engine", "series"]):
            values = runs.groupby("x")["value"]
            frame = values.agg(["median", "min", "max", "count"])
            lines.append(Line(series, engine, [Point(x, *row) for x, *row in frame.itertuples()]))
        return Figure(plot, in_order(lines), data.published(plot))

    def mark(self, line: Line, drawing: Drawing) -> str:
        wide, axes, boxes = self.option(drawing.figure.plot, "width"), drawing.axes, []
        for point in line.points:
            x, top, middle, bottom = axes.x(point.x), axes.y(point.high), axes.y(point.y), axes.y(point.low)
            box = f"M{x - wide / 2} {top}h{wide}V{bottom}h-{wide}ZM{x - wide / 2} {middle}h{wide}"
            boxes.append(f'<path class="whisker" d="{box}"/>')
        return "".join(boxes)


class Talker(Node):
    """Sends what its application says to everybody, who deliver it."""

    def on_broadcast(self, number: int, size_bytes: int) -> None:
        message = self.broadcast()
        self.deliver(message)
        self.send(EVERYONE, message, size_bytes)

    def on_packet(self, message: int, sender: int, interface: int) -> None:
        self.deliver(message)


class SpreadParams(Params):
    loss: float = Field(0.1, ge=0, lt=1, description="share of copies that the network loses")


class SpreadStudy(Study):
    name, title, Params, engines = "spread", "how many copies get through", SpreadParams, ("inline",)
    sweeps: ClassVar = {"loss": [{"loss": loss} for loss in (0.1, 0.3, 0.5)]}
    plots = (Plot("Deliveries by loss", "spread", "deliveries", "loss", kind="spread", more={"width": 20}),)

    def network(self, params: SpreadParams, seed: int) -> AbstractNetwork:
        workload = Workload(10, messages=50, size_bytes=100, segments=(Segment(0, 100.0),))
        return AbstractNetwork(10, constant_delay(5), workload, loss=params.loss)

    def protocol(self, params: SpreadParams) -> PerNode:
        return PerNode(Talker)
