"""Measure asyncio programs: cost of an event compared with a Node's handler, a thousand nodes, memory per node."""

from __future__ import annotations

import asyncio
import importlib
import statistics
import time
import tracemalloc
from typing import Any

from causeway.aio import Programs, SoloLoop
from causeway.bridge.engine import RunSpec
from causeway.bridge.engines.inline import InlineEngine
from causeway.network.networks import AbstractNetwork, constant_delay
from causeway.network.workload import Workload
from causeway.pycontrol.loop import run_protocol
from causeway.pycontrol.node import Node, PerNode
from causeway.pycontrol.protocol import Context, Protocol

MS_PS = 10**9
PORT, SIZE = 9, 100
ROUNDS = 5
IDLE_NODES = 500


class HandlerPing(Node):
    """A node that passes a packet on to the next node until the packet has made all its hops."""

    hops, nodes = 0, 0

    def on_start(self) -> None:
        self.send((self.id + 1) % self.nodes, self.hops, SIZE)

    def on_packet(self, content: Any, sender: int, interface: int) -> None:
        if content:
            self.send((self.id + 1) % self.nodes, content - 1, SIZE)


class Relay(asyncio.DatagramProtocol):
    """The same as `HandlerPing`, as an asyncio protocol."""

    def __init__(self, node: Any) -> None:
        self.to = (node.address_of((node.id + 1) % node.nodes), PORT)

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        if left := int.from_bytes(data[:4], "big"):
            self.transport.sendto((left - 1).to_bytes(4, "big") + bytes(SIZE - 4), self.to)


def relaying(hops: int) -> Any:
    async def main(node: Any) -> None:
        loop = asyncio.get_running_loop()
        transport, relay = await loop.create_datagram_endpoint(lambda: Relay(node), local_addr=("0.0.0.0", PORT))
        transport.sendto(hops.to_bytes(4, "big") + bytes(SIZE - 4), relay.to)
        await loop.create_future()

    return main


async def idle(node: Any) -> None:
    """Wait on a socket."""
    loop = asyncio.get_running_loop()
    await loop.create_datagram_endpoint(lambda: Relay(node), local_addr=("0.0.0.0", PORT))
    await loop.create_future()


def _seconds(protocol: Protocol, nodes: int) -> tuple[float, int]:
    """Return the wall time of a run and the number of its events."""
    network = AbstractNetwork(nodes, delay=constant_delay(10), workload=Workload(nodes))
    began = time.perf_counter()
    outcome = run_protocol(InlineEngine(), RunSpec("bench", {}, 1, network, MS_PS), protocol, [])
    return time.perf_counter() - began, outcome.events


def _handlers(hops: int, nodes: int) -> PerNode:
    HandlerPing.hops, HandlerPing.nodes = hops, nodes
    return PerNode(HandlerPing)


def run(nodes: int = 1000, hops: int = 99) -> dict[str, Any]:
    """Measure all figures.

    The ratio is a median of runs side by side; the run of a million datagrams is a single one.
    """
    _seconds(_handlers(1, 10), 10)  # compiles the kernels
    ratios, costs = [], []
    for _ in range(ROUNDS):
        (one_s, events), (other_s, same) = (
            _seconds(_handlers(hops, nodes), nodes),
            _seconds(Programs(relaying(hops)), nodes),
        )
        assert events == same == nodes * (hops + 1)
        ratios.append(other_s / one_s)
        costs.append(other_s / events * 1e6)
    million_s, events = _seconds(Programs(relaying(999)), nodes)
    return {
        "event of a program / of a Node handler": statistics.median(ratios),
        "event of a program, us": statistics.median(costs),
        "datagrams of the long run": events,
        "the long run took, s": million_s,
        "memory of an idle node, kB": _idle_kb(),
        **_beside_looptime(),
    }


async def sleepers(tasks: int = 100, sleeps: int = 100) -> None:
    """Return tasks that sleep, each for its own sequence of times."""

    async def one(number: int) -> None:
        for i in range(sleeps):
            await asyncio.sleep(0.001 * ((number * 7 + i * 13) % 50 + 1))

    await asyncio.gather(*(one(number) for number in range(tasks)))


def _beside_looptime() -> dict[str, float]:
    """Measure processor times of one program on our loop and on that of looptime (PyPI), if installed, in turns."""
    try:
        looptime = importlib.import_module("looptime")
    except ModuleNotFoundError:
        return {}
    ratios = []
    for _ in range(ROUNDS):
        ours_s, theirs_s = _cpu_s(SoloLoop), _cpu_s(lambda: looptime.new_event_loop(start=0))
        ratios.append(ours_s / theirs_s)
    return {"sleeps on our loop / on looptime": statistics.median(ratios)}


def _cpu_s(loop_factory: Any) -> float:
    began = time.process_time()
    with asyncio.Runner(loop_factory=loop_factory) as runner:
        runner.run(sleepers())
    return time.process_time() - began


def _idle_kb() -> float:
    """Return the memory of loop, stack, socket and main, without the modules."""
    programs = Programs(idle)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        programs.start(Context(IDLE_NODES, 1, MS_PS))
        used = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    programs.scalars()
    return used / IDLE_NODES / 1000
