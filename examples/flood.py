"""A protocol and a study in one file: flooding over a network that loses packets, with or without causal order.

    causeway run examples/flood.py
    causeway run examples/flood.py --set causal=true

A node that receives a message for the first time sends it on to all nodes.
"""

from typing import NamedTuple

from pydantic import Field

import causeway as cw


class Flooder(cw.Node):
    """Delivers a message when it first receives it."""

    def __init__(self) -> None:
        self.heard: set[int] = set()

    def on_broadcast(self, number: int, size_bytes: int) -> None:
        self.take(self.new_message())

    def on_packet(self, message: int, sender: int, interface: int) -> None:
        if message not in self.heard:
            self.take(message)

    def take(self, message: int) -> None:
        self.heard.add(message)
        self.deliver(message)
        self.send(cw.EVERYONE, message, 100)


class News(NamedTuple):
    message: int
    after: frozenset[int]
    """The messages that its sender had delivered since its previous broadcast, and that broadcast itself."""


class CausalFlooder(cw.Node):
    """Delivers a message after all messages that it depends on."""

    def __init__(self) -> None:
        self.heard: set[int] = set()
        self.delivered: set[int] = set()
        self.recent: set[int] = set()
        self.waiting: list[News] = []

    def on_broadcast(self, number: int, size_bytes: int) -> None:
        news = News(self.new_message(), frozenset(self.recent))
        self.recent.clear()
        self.take(news)

    def on_packet(self, news: News, sender: int, interface: int) -> None:
        if news.message not in self.heard:
            self.take(news)

    def take(self, news: News) -> None:
        self.heard.add(news.message)
        self.send(cw.EVERYONE, news, 100 + 4 * len(news.after))
        self.waiting.append(news)
        while ready := next((one for one in self.waiting if one.after <= self.delivered), None):
            self.waiting.remove(ready)
            self.delivered.add(ready.message)
            self.recent.add(ready.message)
            self.deliver(ready.message)


class FloodParams(cw.Params):
    processes: int = Field(20, ge=2, description="number of processes")
    messages: int = Field(200, ge=1, description="number of broadcasts; the run ends when nothing is left to do")
    rate: float = Field(50.0, gt=0, description="broadcasts per second, of all processes together")
    loss: float = Field(0.3, ge=0, lt=1, description="share of copies that the network loses")
    causal: bool = Field(False, description="keep causal order")


class Flood(cw.Study):
    name, title, Params, engines = "flood", "flooding", FloodParams, ("inline", "omnet")
    expected = (cw.Expected("violations", "flooding keeps no order", {"causal": False}),)
    headlines = (
        cw.Headline("missing", "missing", "deliveries", "not delivered at the end"),
        cw.Headline("violations", "violations", "deliveries", "out of causal order"),
    )

    def network(self, params: FloodParams, seed: int) -> cw.AbstractNetwork:
        workload = cw.poisson(params.rate, messages=params.messages)
        return cw.AbstractNetwork(params.processes, loss=params.loss, workload=workload)

    def protocol(self, params: FloodParams) -> cw.PerNode:
        return cw.PerNode(CausalFlooder if params.causal else Flooder)
