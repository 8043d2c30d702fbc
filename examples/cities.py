"""Gossip between a hundred cities: does a rumour reach all nodes, and how fast?

    causeway run examples/cities.py
    causeway run examples/cities.py --set messages=3 --animate 1 --out results/map
    causeway run examples/cities.py --sweep fanout --reps 5 --out results/cities

A node that receives a message for the first time sends it to `fanout` other nodes, drawn at random. There are ten nodes
in each city. The file cities.csv has the positions. The latency between two cities is a model and not a measurement:
2 ms for the ends, and the time of light in fibre (200 km in a millisecond) over 1.5 times the shortest distance.
`Links.read` reads a file of measured latencies. On the map of the animation, a degree is a kilometre, and the nodes of
a city form a ring around it.
"""

import csv
import math
from functools import cache
from pathlib import Path
from typing import ClassVar

from pydantic import Field

import causeway as cw

PLACES = Path(__file__).with_name("cities.csv")
EARTH_KM, FIBRE_KM_PER_MS, DETOUR, ENDS_MS = 6371.0, 200.0, 1.5, 2.0


@cache
def cities() -> list[tuple[float, float]]:
    """Return the latitude and longitude of each city, in degrees."""
    with PLACES.open() as file:
        return [(float(row["latitude"]), float(row["longitude"])) for row in csv.DictReader(file)]


@cache
def links(nodes_per_city: int) -> cw.Links:
    """Return the links between all cities, with so many nodes in each."""
    places = [(math.radians(latitude), math.radians(longitude)) for latitude, longitude in cities()]

    def latency_ms(a: int, b: int) -> float:
        (lat_a, lon_a), (lat_b, lon_b) = places[a], places[b]
        chord = math.sin((lat_a - lat_b) / 2) ** 2
        chord += math.cos(lat_a) * math.cos(lat_b) * math.sin((lon_a - lon_b) / 2) ** 2
        return ENDS_MS + DETOUR * 2 * EARTH_KM * math.asin(math.sqrt(chord)) / FIBRE_KM_PER_MS

    return cw.Links.of(
        len(places), latency_ms, site=[city for city in range(len(places)) for _ in range(nodes_per_city)]
    )


def on_map(nodes_per_city: int) -> tuple[tuple[int, int], ...]:
    """Return the position of each node on the map, whose y axis points to the south as all y axes of animations do."""
    radius = 1.0 if nodes_per_city > 1 else 0.0
    ring = [2 * math.pi * number / nodes_per_city for number in range(nodes_per_city)]
    degrees = [(longitude + radius * math.cos(angle), -latitude - radius * math.sin(angle))
               for latitude, longitude in cities() for angle in ring]  # fmt: skip
    return tuple((round(x * cw.km(1)), round(y * cw.km(1))) for x, y in degrees)


class Gossip(cw.Node):
    """Passes a message on once, to a few others."""

    def __init__(self, fanout: int) -> None:
        self.fanout = fanout
        self.heard: set[int] = set()

    def on_broadcast(self, number: int, size_bytes: int) -> None:
        self.take(self.new_message(), self.now_ps)

    def on_packet(self, content: tuple[int, int], sender: int, interface: int) -> None:
        message, born_ps = content
        if message not in self.heard:
            self.take(message, born_ps)

    def take(self, message: int, born_ps: int) -> None:
        self.heard.add(message)
        self.deliver(message)
        self.record("heard", message)
        self.record("travel_ms", (self.now_ps - born_ps) / 1e9)
        for peer in self.rng.sample(range(self.node_count), self.fanout):
            self.send(peer, (message, born_ps), 200)


class CitiesParams(cw.Params):
    nodes_per_city: int = Field(10, ge=1, description="nodes in each city")
    fanout: int = Field(6, ge=1, description="others to whom a node passes a message on")
    messages: int = Field(20, ge=1, description="number of broadcasts")
    loss: float = Field(0.01, ge=0, lt=1, description="share of copies that the network loses")


class Cities(cw.Study):
    name, title, Params, engines = "cities", "gossip between cities", CitiesParams, ("inline", "omnet")
    files: ClassVar = ("cities.csv",)
    sweeps: ClassVar = {"fanout": [{"fanout": fanout} for fanout in (2, 4, 6, 8, 10)]}
    headlines = (
        cw.Headline("missing", "missing", "deliveries", "not delivered at the end"),
        cw.Headline("packets", "packets", "", "sent"),
    )
    plots = (
        cw.Plot("Deliveries that are missing", "cities", "missing/(missing + deliveries)", "fanout",
                y_label="share that is missing"),
    )  # fmt: skip

    def network(self, params: CitiesParams, seed: int) -> cw.AbstractNetwork:
        hosts = links(params.nodes_per_city)
        return cw.AbstractNetwork(
            len(hosts.site), delay=cw.uniform_delay(0, 5), links=hosts, loss=params.loss,
            workload=cw.poisson(5, messages=params.messages), node_xy_mm=on_map(params.nodes_per_city),
        )  # fmt: skip

    def protocol(self, params: CitiesParams) -> cw.PerNode:
        return cw.PerNode(lambda _: Gossip(params.fanout))
