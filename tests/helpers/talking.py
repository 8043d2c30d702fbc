"""A study of a user's own, with places in which tests insert lines."""

from __future__ import annotations

from pathlib import Path

STUDY = """
import os, sys, threading
from causeway import (
    EVERYONE, MS_PS, AbstractNetwork, MobileNetwork, Node, Params, PerNode, Segment, Study, Workload, constant_delay,
)

RUNS = []


class Peer:
    def __init__(self, number):
        self.number = number


class Plain:
    pass


class Talker(Node):
    def __init__(self) -> None:
        super().__init__()
        self.clock, self.news, self.peers = [0, 0, 0], None, [Peer(i) for i in range(6) if i != self.id]

    def on_broadcast(self, number, size_bytes):
        message = self.new_message()
        self.deliver(message)
        {BROADCAST}

    def on_packet(self, content, sender, interface):
        {PACKET}

    def on_timer(self, key):
        {TIMER}


class TalkParams(Params):
    nodes: int = 3
    walking: bool = False
    exits: bool = False


class Talk(Study):
    name, title, Params, engines = "talk", "talk", TalkParams, ("inline", "omnet", "ns3")

    def network(self, params, seed):
        {NETWORK}
        workload = Workload(params.nodes, messages=5, segments=(Segment(0, 100.0),))
        if params.walking:
            return MobileNetwork(hosts=params.nodes, workload=workload, area_mm=(0, 0, 20_000, 20_000))
        return AbstractNetwork(params.nodes, delay=constant_delay(5), workload=workload)

    def protocol(self, params):
        {PROTOCOL}
        return PerNode(Talker)

    def scalars(self, params, found):
        return {SCALARS}
"""
RIGHT = {
    "BROADCAST": "self.send(EVERYONE, (message, list(self.clock)), 10)", "PACKET": "self.deliver(content[0])",
    "TIMER": "pass", "NETWORK": "pass", "PROTOCOL": "pass", "SCALARS": "found",
}  # fmt: skip


def write(folder: Path, **parts: str) -> str:
    """Write the study; return its path."""
    text = STUDY
    for name, code in {**RIGHT, **parts}.items():
        text = text.replace("{" + name + "}", code)
    path = folder / "talk.py"
    path.write_text(text)
    return str(path)
