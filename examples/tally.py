"""An asyncio program to be checked: node 0 adds up numbers from the others, sent in datagrams that may be lost.

    causeway check examples/tally.py --every 100000 --late --losses 1
    causeway check examples/tally.py --every 100000 --late --losses 1 --set version=careless

A node without an answer within a second sends its number again. Verdict: every node is counted once. The careless
version counts a number twice if it arrives twice, which happens if one answer is lost.
"""

import asyncio
from typing import Any, Literal, cast

from pydantic import Field

import causeway as cw

PORT = 4000


class Counter(cw.ProgramNode):
    total: int


class Tally(asyncio.DatagramProtocol):
    def __init__(self, node: Counter) -> None:
        self.node, self.heard, self.answered = node, set[str](), asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.DatagramTransport, transport)

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        if data == b"thanks":
            self.answered.set()
            return
        if addr[0] not in self.heard or self.node.params.version == "careless":
            self.heard.add(addr[0])
            self.node.total += int(data)
        self.transport.sendto(b"thanks", addr)


async def main(node: Counter) -> None:
    node.total = 0
    loop = asyncio.get_running_loop()
    transport, tally = await loop.create_datagram_endpoint(lambda: Tally(node), local_addr=("0.0.0.0", PORT))
    if node.id == 0:
        await asyncio.Event().wait()
    for _ in range(node.params.tries):
        transport.sendto(b"%d" % node.id, (node.address_of(0), PORT))
        try:
            await asyncio.wait_for(tally.answered.wait(), 1.0)
            return
        except TimeoutError:
            pass


def everybody_counts_once(model: Any) -> str | None:
    due, total = sum(range(model.count)), model.nodes[0].total
    return None if total == due else f"tally: {total}, but it should be {due}"


class TallyParams(cw.ProgramParams):
    nodes: int = Field(3, ge=2, le=64, description="number of nodes")
    version: Literal["right", "careless"] = Field(
        "right", description="careless: a number that arrives twice is counted twice"
    )
    tries: int = Field(10, ge=1, le=1000, description="maximum number of times that a node sends without an answer")


class TallyStudy(cw.ProgramStudy):
    name, title, main, Params = "tally", "each node is counted once", main, TallyParams

    def checks(self, params: TallyParams) -> cw.Checks:
        return cw.Checks(at_end={"every node is counted once": everybody_counts_once}, budget=cw.Budget(broadcasts=0))
