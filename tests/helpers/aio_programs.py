"""Programs on a small abstract network, run here and now."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from causeway.aio.programs import Main, Programs
from causeway.bridge import engines
from causeway.bridge.engine import RunSpec
from causeway.bridge.engines.inline import InlineEngine
from causeway.network.networks import AbstractNetwork, MobileNetwork, constant_delay, normal_delay
from causeway.network.workload import Faults, Workload
from causeway.pycontrol.loop import Outcome, run_protocol

MS_PS, S_PS = 10**9, 10**12
REACTION_S = 0.001
DELAY_S = 0.02


def faults(*rows: tuple[float, int, int]) -> Faults:
    """Return the faults for rows of (seconds, node, 1 for up or 0 for down)."""
    times = np.array([round(row[0] * S_PS) for row in rows], np.int64)
    return Faults(times, np.array([row[1] for row in rows], np.int32), np.array([row[2] for row in rows], np.uint8))


def network(nodes: int, jitter_ms: float = 0.0, **changes: Any) -> AbstractNetwork:
    """Return a network in which every packet takes 20 ms."""
    delays = normal_delay(20, jitter_ms, 1) if jitter_ms else constant_delay(20)
    return replace(AbstractNetwork(nodes, delay=delays, workload=Workload(nodes)), **changes)


def run(
    main: Main, nodes: int = 2, seed: int = 1, duration_s: float = 0, cap: int = 0, jitter_ms: float = 0.0,
    programs: dict[str, Any] | None = None, **changes: Any,
) -> tuple[Programs, Outcome]:  # fmt: skip
    """Run `main` on every node; return the programs and the outcome."""
    protocol = Programs(main, **programs or {})
    spec = RunSpec(
        "test", {}, seed, network(nodes, jitter_ms, **changes), MS_PS, duration_ps=round(duration_s * S_PS), cap=cap
    )
    return protocol, run_protocol(InlineEngine(), spec, protocol, [])


def in_a_row(nodes: int, metres: float = 50, **changes: Any) -> MobileNetwork:
    """Return a network of standing hosts in a row, with node 0 (a station) at one end; radios reach 120 m."""
    places = tuple((round(1000 * metres * n), 0) for n in range(1, nodes))
    made = MobileNetwork(
        station_xy_mm=((0, 0),),
        wires=(),
        hosts=nodes - 1,
        workload=Workload(nodes),
        radio="wifi",
        covered_only=False,
        host_xy_mm=places,
    )
    return replace(made, **changes)


def run_on(
    engine: str, main: Main, network: MobileNetwork, seed: int = 1, duration_s: float = 0, cap: int = 0,
    programs: dict[str, Any] | None = None,
) -> tuple[Programs, Outcome]:  # fmt: skip
    """Runs `main` on every node of a network of an engine that is another process; skips where it is not here."""
    if (why := engines.get(engine).missing(network)) is not None:
        pytest.skip(f"{engine}: {why}")
    protocol = Programs(main, **programs or {})
    spec = RunSpec("test", {}, seed, network, MS_PS // 10, duration_ps=round(duration_s * S_PS), cap=cap)
    return protocol, run_protocol(engines.get(engine), spec, protocol, [])


def results(main: Main, nodes: int = 2, **options: Any) -> list[Any]:
    """Return the results of `main` on each node."""
    protocol, _ = run(main, nodes, **options)
    return [protocol.results.get(node, "did not end") for node in range(nodes)]


async def echo(reader: Any, writer: Any) -> None:
    """Send back all data, until the other end closes its half."""
    with contextlib.suppress(ConnectionError):
        while data := await reader.read(5000):
            writer.write(data)
            await writer.drain()
    writer.close()


async def exchange(payload: bytes) -> bytes:
    """Send data to node 0, close that half, and return the answer."""
    reader, writer = await asyncio.open_connection("node0", 80)

    async def send() -> None:
        for i in range(0, len(payload), 7000):
            writer.write(payload[i : i + 7000])
            await writer.drain()
        writer.write_eof()

    sending = asyncio.create_task(send())
    back = await reader.read()
    await sending
    writer.close()
    await writer.wait_closed()
    return back
