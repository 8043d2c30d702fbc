"""Streams on INET and ns-3 are TCP connections of the simulator, opened and closed as the program does."""

from __future__ import annotations

import asyncio
import contextlib
import random
from dataclasses import replace

import pytest

from causeway.network.networks import MobileNetwork
from tests.helpers.aio_programs import echo, exchange, faults, in_a_row, run_on

WINDOW_BYTES, SEND_BUFFER_BYTES, HIGH_WATER_BYTES = 7504, 65_536, 65_536
SYN_GIVES_UP_S = 200

pytestmark = [pytest.mark.parametrize(
    "engine", [pytest.param("ns3", marks=pytest.mark.ns3), pytest.param("omnet", marks=pytest.mark.omnet)]
)]  # fmt: skip


def now() -> float:
    return asyncio.get_running_loop().time()


async def serve(handle, seconds: float = 100) -> None:
    async with await asyncio.start_server(handle, port=80):
        await asyncio.sleep(seconds)


@pytest.mark.parametrize("radio", ["wifi", "unitdisk"])
def test_bytes_arrive_in_order_in_both_directions_and_half_closes_are_reported(engine, radio):
    payload = random.Random(7).randbytes(60_000)

    async def main(node):
        if node.id == 0:
            await serve(echo)
            return None
        await asyncio.sleep(0.1 * node.id)
        return await exchange(payload) == payload

    first, outcome = run_on(engine, main, in_a_row(3, radio=radio))
    assert [first.results[n] for n in (1, 2)] == [True, True]
    scalars = outcome.finish.scalars
    assert scalars["network", "host_bytes"] > 2 * len(payload)
    _, one_by_one = run_on(engine, main, in_a_row(3, radio=radio), cap=1)
    assert outcome.digest == one_by_one.digest


def test_a_connection_knows_its_ends_and_takes_a_round_trip_of_the_radio(engine):
    async def main(node):
        met = []
        if node.id == 0:
            await serve(lambda reader, writer: met.append(writer.get_extra_info("peername")), 1)
            return met
        before = now()
        _, writer = await asyncio.open_connection("10.0.0.1", 80)
        ends = writer.get_extra_info("sockname"), writer.get_extra_info("peername")
        writer.close()
        return ends, now() - before

    programs, _ = run_on(engine, main, in_a_row(2))
    (here, there), took_s = programs.results[1]
    assert programs.results[0] == [here] and here[0] == "10.0.0.2" and there == ("10.0.0.1", 80)
    assert 0.0002 < took_s < 0.01


def test_without_a_listener_a_connection_is_refused_and_without_a_node_it_times_out(engine):
    async def main(node):
        if node.id == 0:
            return None
        with pytest.raises(OSError) as error:
            await asyncio.open_connection("node0", 81)
        return type(error.value), now()

    programs, _ = run_on(engine, main, in_a_row(3, metres=100))
    (near, at_s), (far, later_s) = programs.results[1], programs.results[2]
    assert near is ConnectionRefusedError and at_s < 1
    assert far is TimeoutError and 60 < later_s < SYN_GIVES_UP_S


def test_a_listener_that_was_closed_refuses(engine):
    async def main(node):
        if node.id == 0:
            server = await asyncio.start_server(echo, port=80)
            await asyncio.sleep(1)
            server.close()
            await asyncio.sleep(2)
            return None
        outcomes = []
        for at_s in (0.5, 1.5):
            await asyncio.sleep(at_s - now())
            try:
                await asyncio.open_connection("node0", 80)
                outcomes.append("there")
            except ConnectionRefusedError:
                outcomes.append("refused")
        return outcomes

    programs, _ = run_on(engine, main, in_a_row(2))
    assert programs.results[1] == ["there", "refused"]


@pytest.mark.parametrize(("reads", "outcome"), [(True, 1000), (False, "reset")])
def test_an_abort_is_an_end_or_a_reset_if_something_was_not_read(engine, reads, outcome):
    async def main(node):
        async def handle(reader, writer):
            if reads:
                await reader.read(10)
            else:
                writer.transport.pause_reading()
                await asyncio.sleep(1)
            writer.write(bytes(1000))
            writer.transport.abort()

        if node.id == 0:
            await serve(handle, 5)
            return None
        reader, writer = await asyncio.open_connection("node0", 80)
        writer.write(b"x" * 10)
        try:
            return len(await reader.read())
        except ConnectionResetError:
            return "reset"

    programs, _ = run_on(engine, main, in_a_row(2))
    assert programs.results[1] == outcome


def test_closing_with_unread_bytes_resets_and_so_does_writing_to_a_closed_peer(engine):
    async def main(node):
        async def handle(reader, writer):
            writer.transport.pause_reading()
            await asyncio.sleep(1)
            writer.close()

        if node.id == 0:
            await serve(handle, 5)
            return None
        reader, writer = await asyncio.open_connection("node0", 80)
        writer.write(b"x" * 10)
        with pytest.raises(ConnectionResetError):
            await reader.read()
        return now()

    programs, _ = run_on(engine, main, in_a_row(2))
    assert programs.results[1] == pytest.approx(1, abs=0.1)


def test_a_paused_reader_closes_the_window_and_the_writer_waits(engine):
    """A writer can send what the buffers of the reader, the window, TCP's buffer and its own hold, and no more."""
    total = 400_000

    async def main(node):
        async def handle(reader, writer):
            await asyncio.sleep(20)
            data = await reader.read()
            writer.write(b"%d" % len(data))
            writer.close()

        if node.id == 0:
            async with await asyncio.start_server(handle, port=80, limit=4096):
                await asyncio.sleep(60)
            return None
        reader, writer = await asyncio.open_connection("node0", 80)
        written, stuck = 0, None
        while written < total:
            writer.write(bytes(1000))
            written += 1000
            try:
                async with asyncio.timeout(5):
                    await writer.drain()
            except TimeoutError:
                stuck = stuck or (written, now())
                await writer.drain()
        writer.write_eof()
        return stuck, await reader.read(), now()

    programs, _ = run_on(engine, main, in_a_row(2))
    (stuck_bytes, stuck_s), answer, end_s = programs.results[1]
    assert answer == b"%d" % total
    least = SEND_BUFFER_BYTES + HIGH_WATER_BYTES
    assert least < stuck_bytes < least + 3 * WINDOW_BYTES + 2 * 4096
    assert stuck_s < 15 and 20 < end_s < 40


def test_a_failed_node_is_silent_and_resets_the_connection_after_its_recovery(engine):
    """The writer gets no answer while the other node is down; its first segment after that finds no connection."""
    network = replace(in_a_row(2), faults=faults((2, 0, 0), (12, 0, 1)))

    async def main(node):
        if node.id == 0:
            if node.life == 0:
                await serve(echo)
            await asyncio.sleep(100)
            return None
        reader, writer = await asyncio.open_connection("node0", 80)
        with contextlib.suppress(ConnectionResetError):
            while True:
                writer.write(b"x" * 100)
                await reader.readexactly(100)
                last = now()
                await asyncio.sleep(0.1)
        return last, now()

    programs, outcome = run_on(engine, main, network)
    last_answer_s, reset_s = programs.results[1]
    assert 1.8 < last_answer_s <= 2 and 12 < reset_s < 60
    assert outcome.scalars["mains_ended"] == 2


def test_a_failed_node_loses_its_connections_and_its_program_restarts(engine):
    network = replace(in_a_row(2), faults=faults((2, 1, 0), (3, 1, 1)))

    async def main(node):
        if node.id == 0:
            await serve(echo, 60)
            return None
        if node.life == 1:
            return await exchange(b"again")
        reader, writer = await asyncio.open_connection("node0", 80)
        writer.write(b"x")
        await reader.read()
        raise AssertionError("it was off by now")

    programs, _ = run_on(engine, main, network)
    assert programs.results[1] == b"again"


def test_stations_talk_over_their_wire(engine):
    """The stations are far out of each other's reach; a host is heard over the air."""
    network = MobileNetwork(
        station_xy_mm=((0, 0), (1_000_000, 0)), wires=((0, 1),), hosts=1, radio="wifi", covered_only=False,
        host_xy_mm=((50_000, 0),), wire_delay_ps=10**10,
    )  # fmt: skip

    async def main(node):
        if node.id == 0:
            await serve(echo, 20)
            return None
        before = now()
        back = await exchange(b"hello")
        return back, now() - before

    programs, _ = run_on(engine, main, network)
    wired, air = programs.results[1], programs.results[2]
    assert wired[0] == air[0] == b"hello"
    assert 0.04 < wired[1] < 0.2 and air[1] < 0.03


def test_a_cancelled_attempt_is_over_and_a_node_can_connect_to_itself(engine):
    async def main(node):
        if node.id == 0:
            async with await asyncio.start_server(echo, port=80):
                reader, writer = await asyncio.open_connection("localhost", 80)
                writer.write(b"me")
                mine = await reader.read(2)
                await asyncio.sleep(5)
            return mine
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(2):
                return await exchange(b"there")
        return now()

    programs, _ = run_on(engine, main, in_a_row(3, metres=110), duration_s=10)
    assert programs.results == {0: b"me", 1: b"there", 2: pytest.approx(2)}
