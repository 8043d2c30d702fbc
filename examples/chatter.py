"""An asyncio program on simulated hosts: greet all hosts in reach, and measure the time to each answer.

    causeway run examples/chatter.py --set nodes=20                                    any node reaches any other
    causeway run examples/chatter.py --set nodes=20 --set network=walking              hosts on a radio (omnet or ns3)
    python -m causeway.aio examples/chatter.py --real 5 --seconds 15                   five real processes over loopback

Every second a node sends a greeting to all nodes in reach. Each receiver answers, and the round-trip time is recorded
as a sample of the node.
"""

import asyncio
import random
from typing import cast

import causeway as cw

PORT = 4000


class Chatter(asyncio.DatagramProtocol):
    def __init__(self, node: cw.ProgramNode) -> None:
        self.node, self.said, self.heard = node, dict[int, float](), set[str]()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.DatagramTransport, transport)

    def say(self, number: int) -> None:
        self.said[number] = asyncio.get_running_loop().time()
        self.transport.sendto(b"hello %d" % number, ("255.255.255.255", PORT))

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        word, number = data.split()
        if word == b"hello" and addr[0] != self.node.address:
            self.transport.sendto(b"here %s" % number, addr)
        elif word == b"here":
            self.heard.add(addr[0])
            self.node.record("round_trip_s", asyncio.get_running_loop().time() - self.said[int(number)])


async def main(node: cw.ProgramNode) -> int:
    loop = asyncio.get_running_loop()
    _, chatter = await loop.create_datagram_endpoint(
        lambda: Chatter(node), local_addr=("0.0.0.0", PORT), allow_broadcast=True
    )
    for number in range(10):
        await asyncio.sleep(0.5 + random.random())
        chatter.say(number)
    await asyncio.sleep(1)
    node.record("neighbours", len(chatter.heard))
    return len(chatter.heard)


class ChatterStudy(cw.ProgramStudy):
    name, title, main = "chatter", "greetings and answers", main
