"""Draw the time of requests of walking hosts over their distance: unmodified aiohttp (TCP) and aiocoap (UDP).

    CAUSEWAY_AIO_DEPS=DIR python -m bench.aio_distance docs/images/aio-distance.svg

DIR contains aiohttp and aiocoap (pip install --target DIR aiohttp aiocoap). Twelve hosts walk around a server in the
middle. Each sends a request every second with either program, and records its distance when the answer arrives.
"""

from __future__ import annotations

import asyncio
import logging
import math
import os
import statistics
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from causeway.aio import Programs
from causeway.bridge import engines
from causeway.bridge.engine import RunSpec
from causeway.network.networks import MobileNetwork
from causeway.network.workload import Workload
from causeway.pycontrol.loop import run_protocol

S_PS = 10**12
HOSTS, SECONDS, LAST_S, PATIENCE_S = 12, 120, 105, 10
STEP_M = 20
NEVER = -1.0
Row = tuple[str, float, float]
"""Program, distance in m, time in s (NEVER: no answer within PATIENCE_S)."""


async def serve(node: Any) -> None:
    """Serve 5,000 bytes over HTTP and 100 bytes over CoAP."""
    web, aiocoap, resource = import_module("aiohttp.web"), import_module("aiocoap"), import_module("aiocoap.resource")

    async def answer(_: Any) -> Any:
        return web.Response(body=bytes(5000))

    async def render_get(_: Any) -> Any:
        return aiocoap.Message(payload=bytes(100))

    app = web.Application()
    app.add_routes([web.get("/", answer)])
    runner = web.AppRunner(app, handle_signals=False)
    await runner.setup()
    await web.TCPSite(runner, "0.0.0.0", 80).start()
    thing = resource.Resource()
    thing.render_get = render_get
    site = resource.Site()
    site.add_resource(["thing"], thing)
    await aiocoap.Context.create_server_context(site, bind=(node.address, 5683), transports=["simplesocketserver"])
    await asyncio.sleep(SECONDS)


async def ask(node: Any) -> list[Row]:
    """Send requests from a host, and return its observations."""
    aiohttp, aiocoap = import_module("aiohttp"), import_module("aiocoap")
    context = await aiocoap.Context.create_client_context(transports=["simple6"])
    loop, rows = asyncio.get_running_loop(), []

    async def over_tcp() -> None:
        async with aiohttp.ClientSession() as session, session.get("http://node0/") as response:
            await response.read()

    async def over_udp() -> None:
        await context.request(aiocoap.Message(code=aiocoap.GET, uri="coap://10.0.0.1/thing")).response

    await asyncio.sleep(1 + node.id * 0.11)
    while loop.time() < LAST_S:
        for name, request in (("aiohttp", over_tcp), ("aiocoap", over_udp)):
            before = loop.time()
            try:
                async with asyncio.timeout(PATIENCE_S):
                    await request()
                took_s = loop.time() - before
            except (OSError, TimeoutError, aiohttp.ClientError, aiocoap.error.Error):
                took_s = NEVER
            rows.append((name, math.hypot(node.place.x_m, node.place.y_m), took_s))
        await asyncio.sleep(1)
    return rows


async def main(node: Any) -> Any:
    return await (serve(node) if node.id == 0 else ask(node))


def measure(engine: str) -> list[Row]:
    """Return the observations of all hosts on an engine."""
    network = MobileNetwork(
        station_xy_mm=((0, 0),), hosts=HOSTS, workload=Workload(HOSTS + 1), radio="wifi", speed_mm_s=1389,
        covered_only=False, position_every_ps=S_PS,
    )  # fmt: skip
    programs = Programs(main, errors="keep")
    spec = RunSpec("aio_distance", {}, 1, network, S_PS // 10_000, duration_ps=SECONDS * S_PS)
    run_protocol(engines.get(engine), spec, programs, [])
    return [row for node in range(1, HOSTS + 1) for row in programs.results.get(node) or []]


def summary(rows: Sequence[Row], name: str) -> list[tuple[float, float, float]]:
    """Return for each step of distance its middle, the median time of answers in ms, and the share of answers."""
    found = []
    for step in range(10):
        took = [s for who, metres, s in rows if who == name and int(metres / STEP_M) == step]
        answered = [s for s in took if s != NEVER]
        if len(took) >= 5:
            median_ms = statistics.median(answered) * 1000 if answered else math.nan
            found.append(((step + 0.5) * STEP_M, median_ms, len(answered) / len(took)))
    return found


def draw(path: str, names: Sequence[str]) -> None:
    """Run the engines and draw their results."""
    plt = import_module("matplotlib.pyplot")
    figure, (above, below) = plt.subplots(2, 1, sharex=True, figsize=(7, 5.5))
    for engine, line in zip(names, ("-", "--"), strict=False):
        rows = measure(engine)
        for name, colour in (("aiohttp", "#1f5f99"), ("aiocoap", "#b5541c")):
            metres, median_ms, share = zip(*summary(rows, name), strict=True)
            above.plot(metres, median_ms, line, color=colour, marker="o", label=f"{name}, {engine}")
            below.plot(metres, share, line, color=colour, marker="o")
            for row in zip(metres, median_ms, share, strict=True):
                print(f"{engine} {name}: {row[0]:.0f} m, median {row[1]:.2f} ms, answered {row[2]:.0%}")
    above.set(ylabel="median time, ms", yscale="log")
    above.legend()
    below.set(ylabel="answered within 10 s", xlabel="distance from the server, m", ylim=(-0.05, 1.05))
    figure.tight_layout()
    figure.savefig(path)


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    sys.path.append(os.environ.get("CAUSEWAY_AIO_DEPS", ""))
    draw(sys.argv[1], ("ns3", "omnet"))
