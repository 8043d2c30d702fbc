"""Streams on the abstract network: asyncio's streams, with losses, slow readers, failures and half close."""

from __future__ import annotations

import asyncio
import random

import pytest

from causeway.aio.connection import WINDOW_BYTES
from causeway.errors import RunError
from tests.helpers.aio_programs import DELAY_S, REACTION_S, echo, exchange, faults, results, run

ROUND_TRIP_S = 2 * (DELAY_S + REACTION_S)


def now() -> float:
    return asyncio.get_running_loop().time()


async def serve(handle, port: int = 80) -> asyncio.AbstractServer:
    return await asyncio.start_server(handle, port=port)


def test_a_connection_takes_a_round_trip_and_knows_its_ends():
    async def main(node):
        if node.id == 0:
            await serve(echo)
            await asyncio.sleep(10)
            return None
        reader, writer = await asyncio.open_connection("node0", 80)
        assert writer.get_extra_info("peername") == ("10.0.0.1", 80)
        assert writer.get_extra_info("sockname")[0] == "10.0.0.2"
        writer.get_extra_info("socket").setsockopt(6, 1, 1)
        took = now()
        writer.write(b"hello\n")
        line = await reader.readline()
        writer.close()
        await writer.wait_closed()
        return took, line

    took, line = results(main)[1]
    assert took == pytest.approx(ROUND_TRIP_S, abs=1e-9)
    assert line == b"hello\n"


@pytest.mark.parametrize("loss", [0.0, 0.02, 0.2])
@pytest.mark.parametrize("jitter_ms", [0.0, 10.0])
def test_all_bytes_arrive_in_order_whatever_is_lost_or_overtaken(loss, jitter_ms):
    payload = random.Random(7).randbytes(150_000)

    async def main(node):
        if node.id == 0:
            await serve(echo)
            await asyncio.sleep(3000)
            return None
        return await exchange(payload) == payload

    assert results(main, 3, loss=loss, jitter_ms=jitter_ms) == [None, True, True]


def test_after_a_half_close_the_other_direction_still_carries():
    async def main(node):
        if node.id == 0:

            async def handle(reader, writer):
                everything = await reader.read()
                await asyncio.sleep(5)
                writer.write(b"%d" % len(everything))
                writer.close()

            await serve(handle)
            await asyncio.sleep(20)
            return None
        reader, writer = await asyncio.open_connection("node0", 80)
        writer.write(bytes(1234))
        writer.write_eof()
        with pytest.raises(RuntimeError, match="after write_eof"):
            writer.write(b"more")
        return await reader.read()

    assert results(main)[1] == b"1234"


def test_a_reader_that_does_not_read_stops_the_writer():
    async def main(node):
        if node.id == 0:
            reading = asyncio.Event()

            async def handle(reader, writer):
                await reading.wait()
                await reader.read()
                writer.close()

            await serve(handle)
            await asyncio.sleep(30)
            reading.set()
            await asyncio.sleep(200)
            return None
        _, writer = await asyncio.open_connection("node0", 80)
        written = 0
        while now() < 25:
            writer.write(bytes(1000))
            try:
                await asyncio.wait_for(writer.drain(), 20)
            except TimeoutError:
                break
            written += 1000
        stopped = written
        await writer.drain()
        return stopped, now()

    stopped, went_on_s = results(main)[1]
    limits = 2 * 2 * 2**16 + WINDOW_BYTES  # StreamReader's, the transport's, the system's
    assert WINDOW_BYTES < stopped < 2 * limits
    assert 30 < went_on_s < 100


def test_write_limits_pause_and_resume_the_protocol():
    seen = []

    class Writer(asyncio.Protocol):
        def pause_writing(self):
            seen.append("pause")

        def resume_writing(self):
            seen.append("resume")

    async def main(node):
        if node.id == 0:
            await serve(echo)
            await asyncio.sleep(100)
            return
        loop = asyncio.get_running_loop()
        transport, _ = await loop.create_connection(Writer, "node0", 80)
        transport.set_write_buffer_limits(high=10_000, low=1000)
        transport.write(bytes(WINDOW_BYTES))
        assert seen == []
        transport.write(bytes(10_001))
        assert seen == ["pause"] and transport.get_write_buffer_size() == 10_001
        await asyncio.sleep(10)
        assert seen == ["pause", "resume"] and transport.get_write_buffer_size() == 0

    run(main)
    assert seen == ["pause", "resume"]


def test_a_connection_to_a_port_without_listener_is_refused():
    async def main(node):
        if node.id == 1:
            with pytest.raises(ConnectionRefusedError, match=r"Connect call failed \('10.0.0.1', 81\)"):
                await asyncio.open_connection("node0", 81)
            return now()
        return None

    assert results(main)[1] == pytest.approx(ROUND_TRIP_S, abs=1e-9)


def test_connecting_to_a_node_that_is_down_times_out():
    async def main(node):
        if node.id == 1:
            await asyncio.sleep(2)
            with pytest.raises(TimeoutError):
                await asyncio.open_connection("node0", 80)
            return round(now())
        await serve(echo)
        return None

    assert results(main, faults=faults((1, 0, 0)))[1] == 2 + 127


@pytest.mark.parametrize(("reads", "written", "outcome"), [(True, 0, 0), (True, 1000, 1000), (False, 0, "reset")])
def test_an_abort_is_an_end_or_a_reset_if_something_was_not_read_as_on_linux(reads, written, outcome):
    """asyncio's own loop has the same outcomes over loopback: its abort only closes the socket."""

    async def handle(reader, writer):
        if reads:
            await reader.readline()
        else:
            writer.transport.pause_reading()
            await asyncio.sleep(0.1)
        writer.write(bytes(written))
        writer.transport.abort()

    async def ask(host, port):
        reader, writer = await asyncio.open_connection(host, port)
        writer.write(b"x\n")
        try:
            return len(await reader.read())
        except ConnectionResetError:
            return "reset"

    async def main(node):
        if node.id == 0:
            await serve(handle)
            await asyncio.sleep(10)
            return None
        return await ask("node0", 80)

    async def over_loopback():
        async with await asyncio.start_server(handle, "127.0.0.1", 0) as server:
            return await ask(*server.sockets[0].getsockname())

    assert results(main)[1] == asyncio.run(over_loopback()) == outcome


def test_a_reset_that_the_reader_has_seen_is_no_forgotten_error_in_any_order_of_collection():
    """asyncio's reader keeps the error in a future, too, which the collector may find first."""

    async def drop(reader, writer):
        writer.transport.pause_reading()
        await asyncio.sleep(0.1)
        writer.transport.abort()

    async def main(node):
        if node.id == 0:
            await serve(drop)
            await asyncio.sleep(10)
            return None
        reader, writer = await asyncio.open_connection("node0", 80)
        writer.write(b"x\n")
        with pytest.raises(ConnectionResetError):
            await reader.read()
        await asyncio.sleep(1)
        closed = writer.transport.get_protocol()._get_close_waiter(None)
        return closed.done(), closed._log_traceback

    assert results(main)[1] == (True, False)


def test_a_protocol_that_fails_loses_its_connection():
    """asyncio's own transports do the same. The error ends the run, or is kept."""

    class Fails(asyncio.Protocol):
        lost = None

        def data_received(self, data):
            raise ValueError(data)

        def connection_lost(self, error):
            Fails.lost = error

    async def main(node):
        if node.id == 0:
            await asyncio.get_running_loop().create_server(Fails, port=80)
            await asyncio.sleep(10)
            return None
        reader, writer = await asyncio.open_connection("node0", 80)
        writer.write(b"x")
        return await reader.read()

    programs, _ = run(main, programs={"errors": "keep"})
    assert programs.results[1] == b"" and isinstance(Fails.lost, ValueError)
    assert "data_received() call failed" in str(programs.failures[0])
    with pytest.raises(RunError, match=r"node0 at .*ValueError: b'x'"):
        run(main)


def test_a_peer_that_fails_and_recovers_has_lost_the_connection():
    async def main(node):
        if node.id == 0:
            await serve(echo)
            await asyncio.sleep(100)
            return None
        reader, writer = await asyncio.open_connection("node0", 80)
        await asyncio.sleep(5)
        writer.write(b"are you there?")
        with pytest.raises(ConnectionResetError):
            await reader.read()
        again, writer = await asyncio.open_connection("node0", 80)
        writer.write(b"again")
        return await again.readexactly(5)

    assert results(main, faults=faults((2, 0, 0), (3, 0, 1)))[1] == b"again"


def test_a_connection_to_a_peer_that_fails_for_good_times_out():
    async def main(node):
        if node.id == 0:
            await serve(echo)
            await asyncio.sleep(1000)
            return None
        reader, writer = await asyncio.open_connection("node0", 80)
        await asyncio.sleep(5)
        writer.write(b"are you there?")
        with pytest.raises(TimeoutError):
            await reader.read()
        return now() > 60

    assert results(main, faults=faults((2, 0, 0)))[1] is True


def test_a_node_that_fails_and_dials_again_from_the_same_port_gets_through():
    async def main(node):
        if node.id == 0:
            await serve(echo)
            await asyncio.sleep(100)
            return None
        reader, writer = await asyncio.open_connection("node0", 80, local_addr=("0.0.0.0", 5000))
        writer.write(b"%d" % node.life)
        answer = await reader.readexactly(1)
        await asyncio.sleep(4 if node.life == 0 else 0)
        return answer

    assert results(main, faults=faults((2, 1, 0), (3, 1, 1)))[1] == b"1"


def test_a_closed_server_accepts_no_connection_and_keeps_the_open_ones():
    async def main(node):
        if node.id == 0:
            server = await serve(echo)
            assert server.sockets[0].getsockname() == ("0.0.0.0", 80)
            await asyncio.sleep(1)
            server.close()
            await server.wait_closed()
            await asyncio.sleep(10)
            return None
        reader, writer = await asyncio.open_connection("node0", 80)
        await asyncio.sleep(2)
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection("node0", 80)
        writer.write(b"still")
        return await reader.readexactly(5)

    assert results(main)[1] == b"still"


def test_a_connection_to_oneself_crosses_no_network():
    async def main(node):
        await serve(echo)
        reader, writer = await asyncio.open_connection("localhost", 80)
        writer.write(b"me")
        answer = await reader.readexactly(2)
        return answer, now() < 0.01

    assert results(main, 1) == [(b"me", True)]


def test_connecting_can_be_cancelled():
    async def main(node):
        if node.id == 1:
            await asyncio.sleep(2)
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.5):
                    await asyncio.open_connection("node0", 80)
            return now()
        return None

    assert results(main, faults=faults((1, 0, 0)))[1] == 2.5


def test_data_written_before_main_ended_still_arrives():
    async def main(node):
        if node.id == 0:
            got = asyncio.get_running_loop().create_future()

            async def handle(reader, writer):
                got.set_result(len(await reader.read()))

            await serve(handle)
            return await got
        _, writer = await asyncio.open_connection("node0", 80)
        writer.write(bytes(300_000))
        return None

    assert results(main, loss=0.05)[0] == 300_000
