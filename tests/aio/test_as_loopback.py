"""Random exchanges between two nodes have the outcome of asyncio's own loop over loopback, where that is determined.

What is determined: which bytes come back, in which order, what a half close and an unanswered port lead to. How they
are cut into pieces and how long it takes is not, and is not compared.
"""

from __future__ import annotations

import asyncio
import contextlib

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.helpers.aio_programs import in_a_row, results, run_on
from tests.helpers.drawn import examples
from tests.helpers.ports import free_ports

STEPS = st.one_of(
    st.tuples(st.just("write"), st.integers(1, 30_000)),
    st.tuples(st.just("read"), st.integers(1, 30_000)),
    st.tuples(st.just("sleep"), st.integers(0, 3)),
    st.tuples(st.just("ask"), st.integers(0, 600)),
    st.tuples(st.just("again"), st.just(0)),
    st.tuples(st.just("nobody"), st.just(0)),
)
PROGRAMS = st.lists(STEPS, max_size=8)


async def serve(reader, writer):
    """Send back everything that arrives, and then its length."""
    total = 0
    while data := await reader.read(4000):
        total += len(data)
        writer.write(data.swapcase())
        await writer.drain()
    writer.write(b"<%d>" % total)
    writer.close()


class Answers(asyncio.DatagramProtocol):
    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, data, addr):
        self.transport.sendto(data[::-1], addr)


class Hears(asyncio.DatagramProtocol):
    def __init__(self):
        self.heard = asyncio.get_running_loop().create_future()

    def datagram_received(self, data, addr):
        self.heard.set_result(data)


async def client(host: str, port: int, nobodys: int, program: list[tuple[str, int]]) -> list:
    reported: list = []
    loop = asyncio.get_running_loop()
    reader, writer = await asyncio.open_connection(host, port)
    written = read = 0

    async def rest() -> None:
        writer.write_eof()
        reported.append(await reader.read())
        writer.close()
        await writer.wait_closed()

    for what, number in program:
        if what == "write":
            writer.write(bytes(97 + (written + i) % 26 for i in range(number)))
            await writer.drain()
            written += number
        elif what == "read" and written > read:
            reported.append(await reader.readexactly(min(number, written - read)))
            read += len(reported[-1])
        elif what == "sleep":
            await asyncio.sleep(number / 1000)
        elif what == "ask":
            transport, hears = await loop.create_datagram_endpoint(Hears, remote_addr=(host, port))
            transport.sendto(bytes(range(1, 200)) * (number // 199 + 1))
            reported.append(await hears.heard)
            transport.close()
        elif what == "again":
            await rest()
            reader, writer = await asyncio.open_connection(host, port)
            written = read = 0
        elif what == "nobody":
            with pytest.raises(ConnectionRefusedError) as error:
                await asyncio.open_connection(host, nobodys)
            reported.append(type(error.value))
    await rest()
    return reported


@contextlib.asynccontextmanager
async def servers(host: str, port: int):
    transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(Answers, local_addr=(host, port))
    async with await asyncio.start_server(serve, host, port):
        yield
    transport.close()


def over_loopback(program):
    port, nobodys = free_ports(2)

    async def main():
        async with servers("127.0.0.1", port):
            return await asyncio.wait_for(client("127.0.0.1", port, nobodys, program), 60)

    return asyncio.run(main())


def as_nodes(program):
    async def main(node):
        if node.id == 0:
            async with servers("0.0.0.0", 80):
                await asyncio.sleep(300)
            return None
        return await client("node0", 80, 81, program)

    return main


@settings(max_examples=examples(40))
@given(PROGRAMS, st.sampled_from([0.0, 0.05]))
def test_an_exchange_between_nodes_equals_that_over_loopback(program, loss):
    if loss:  # a lost datagram is not determined
        program = [step for step in program if step[0] != "ask"]
    assert results(as_nodes(program), 2, jitter_ms=2, loss=loss)[1] == over_loopback(program)


@pytest.mark.parametrize(
    "engine", [pytest.param("ns3", marks=pytest.mark.ns3), pytest.param("omnet", marks=pytest.mark.omnet)]
)
@settings(max_examples=examples(6))
@given(PROGRAMS)
@example([("write", 1), ("ask", 0)])
def test_an_exchange_over_simulated_tcp_equals_that_over_loopback(engine, program):
    programs, _ = run_on(engine, as_nodes(program), in_a_row(2, metres=20))
    assert programs.results[1] == over_loopback(program)
