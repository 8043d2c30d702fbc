"""Unusual uses of asyncio: programs have the same results here as over loopback on asyncio's own loop.

Each is a server that runs until it is stopped, and a client whose result is compared.
"""

from __future__ import annotations

import asyncio

import pytest

from tests.helpers.aio_programs import in_a_row, run, run_on
from tests.helpers.ports import free_ports


class HalfClose:
    async def serve(self, reader, writer):
        data = await reader.read()
        for _ in range(5):
            writer.write(data[::-1])
            await asyncio.sleep(0.01)
        writer.close()
        await writer.wait_closed()

    async def ask(self, host, port):
        reader, writer = await asyncio.open_connection(host, port)
        writer.write(b"abc")
        writer.write_eof()
        with pytest.raises(RuntimeError, match="after write_eof"):
            writer.write(b"d")
        return await reader.read(), writer.can_write_eof()


class Restart:
    """The server rests between 0.3 and 0.6 s."""

    async def serve(self, reader, writer):
        writer.write(b"here")
        await writer.drain()
        writer.close()

    async def run(self, host, port, stop):
        for lasts in (0.3, 100):
            server = await asyncio.start_server(self.serve, host, port)
            await asyncio.wait([asyncio.ensure_future(stop.wait())], timeout=lasts)
            server.close()
            await asyncio.sleep(0.3)

    async def ask(self, host, port):
        outcomes = []
        for _ in range(3):
            try:
                reader, _ = await asyncio.open_connection(host, port)
                outcomes.append(await reader.read())
            except ConnectionRefusedError as error:
                outcomes.append(error.errno)
            await asyncio.sleep(0.33)
        return outcomes


class Limits:
    """Read lines that are too long, and a stream that ends too early."""

    limit = 64

    async def serve(self, reader, writer):
        reported = []
        for read in (
            lambda: reader.readuntil(b"\n"),
            lambda: reader.readexactly(5),
            reader.readline,
            lambda: reader.readexactly(50),
            reader.read,
        ):
            try:
                reported.append(await read())
            except (ValueError, asyncio.IncompleteReadError) as error:
                reported.append(type(error).__name__)
        writer.write(repr(reported).encode())
        writer.close()

    async def ask(self, host, port):
        reader, writer = await asyncio.open_connection(host, port)
        writer.write(b"hello\n12345" + b"x" * 200 + b"\nend")
        writer.write_eof()
        return await reader.read()


class Lookahead:
    """A read that times out loses no data: the next read gets it."""

    async def serve(self, reader, writer):
        await asyncio.sleep(0.3)
        writer.write(b"late")
        await reader.read()

    async def ask(self, host, port):
        reader, writer = await asyncio.open_connection(host, port)
        outcomes = []
        for patience in (0.1, 0.1, 2):
            try:
                async with asyncio.timeout(patience):
                    outcomes.append(await reader.read(10))
            except TimeoutError:
                outcomes.append("time is over")
        writer.close()
        return outcomes


class SlowReader:
    """`drain` waits while the other end does not read."""

    limit = 1000
    size = 200_000

    async def serve(self, reader, writer):
        await asyncio.sleep(0.5)
        count = 0
        while data := await reader.read(65536):
            count += len(data)
        writer.write(b"%d" % count)
        writer.close()

    async def ask(self, host, port):
        reader, writer = await asyncio.open_connection(host, port)
        writer.transport.set_write_buffer_limits(0)
        began = asyncio.get_running_loop().time()
        for _ in range(40):
            writer.write(bytes(self.size))
            await writer.drain()
        waited = asyncio.get_running_loop().time() - began > 0.4
        writer.write_eof()
        return int(await reader.read()) == 40 * self.size, waited


class Gone:
    """The other end has closed, and its system refuses further data."""

    async def serve(self, reader, writer):
        writer.close()

    async def ask(self, host, port):
        reader, writer = await asyncio.open_connection(host, port)
        outcomes = [await reader.read(), reader.at_eof()]
        for _ in range(4):
            try:
                writer.write(b"z")
                await writer.drain()
                outcomes.append("written")
            except ConnectionError:
                outcomes.append("error")
            await asyncio.sleep(0.1)
        with pytest.raises(BrokenPipeError):
            await writer.wait_closed()
        return outcomes


class Group:
    """One of five tasks fails; the others, which wait, are cancelled."""

    async def serve(self, reader, writer):
        async for line in reader:
            writer.write(line.upper())
        writer.close()

    async def ask(self, host, port):
        async def one(number):
            reader, writer = await asyncio.open_connection(host, port)
            writer.write(b"line %d\n" % number)
            line = await reader.readline()
            try:
                if number == 3:
                    raise ValueError(line)
                await asyncio.sleep(50)
            finally:
                writer.close()

        try:
            async with asyncio.TaskGroup() as group:
                for number in range(5):
                    group.create_task(one(number))
        except ExceptionGroup as errors:
            return repr(errors.exceptions)


class Protocols:
    """Pausing, an end that the protocol survives, and closing twice."""

    async def serve(self, reader, writer):
        writer.write(b"x")
        await asyncio.sleep(0.1)
        writer.write_eof()
        await reader.read()
        writer.close()

    async def ask(self, host, port):
        reported, lost = [], asyncio.get_running_loop().create_future()

        class Teller(asyncio.Protocol):
            def connection_made(self, transport):
                self.transport = transport
                reported.append(transport.is_reading())

            def data_received(self, data):
                reported.append(data)
                self.transport.pause_reading()
                asyncio.get_running_loop().call_later(0.3, self.transport.resume_reading)

            def eof_received(self):
                reported.append("end")
                return True

            def connection_lost(self, error):
                reported.append(("lost", error))
                lost.set_result(None)

        transport, _ = await asyncio.get_running_loop().create_connection(Teller, host, port)
        await asyncio.sleep(0.8)
        reported.append(transport.is_closing())
        transport.write(b"still")
        await asyncio.sleep(0.1)
        transport.close()
        transport.close()
        await lost
        return [*reported, transport.is_closing()]


class Buffers:
    async def serve(self, reader, writer):
        writer.write(b"0123456789" * 100)
        writer.close()

    async def ask(self, host, port):
        done = asyncio.get_running_loop().create_future()

        class Small(asyncio.BufferedProtocol):
            buffer, came = bytearray(7), b""

            def get_buffer(self, hint):
                return self.buffer

            def buffer_updated(self, count):
                self.came += self.buffer[:count]

            def connection_lost(self, error):
                done.set_result((len(self.came), self.came[-3:], error))

        await asyncio.get_running_loop().create_connection(Small, host, port)
        return await done


class Changed:
    """Cancel a connection attempt; other connections are not affected."""

    async def serve(self, reader, writer):
        try:
            writer.write(await reader.readexactly(4))
        except asyncio.IncompleteReadError:
            pass
        finally:
            writer.close()

    async def ask(self, host, port):
        asking = asyncio.ensure_future(asyncio.open_connection(host, port))
        await asyncio.sleep(0)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        reader, writer = await asyncio.open_connection(host, port)
        writer.writelines([b"ab", b"cd"])
        return await reader.read()


class Sizes:
    """Datagrams, small and too large, and an address that a connected socket does not send to."""

    async def run(self, host, port, stop):
        class Says(asyncio.DatagramProtocol):
            def connection_made(self, transport):
                self.transport = transport

            def datagram_received(self, data, addr):
                self.transport.sendto(b"%d" % len(data), addr)

        transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(Says, local_addr=(host, port))
        await stop.wait()
        transport.close()

    async def ask(self, host, port):
        reported = []

        class Teller(asyncio.DatagramProtocol):
            def datagram_received(self, data, addr):
                reported.append(data)

            def error_received(self, error):
                reported.append(error.errno)

            def connection_lost(self, error):
                reported.append(("lost", error))

        transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(Teller, remote_addr=(host, port))
        for size in (1, 1400, 60_000, 65_508):
            transport.sendto(bytes(size))
            await asyncio.sleep(0.1)
        with pytest.raises(ValueError, match="Invalid address"):
            transport.sendto(b"x", ("10.1.1.1", 5))
        with pytest.raises(TypeError):
            transport.sendto("text")
        transport.close()
        transport.sendto(b"after")
        await asyncio.sleep(0.1)
        return reported


PROGRAMS = [HalfClose, Restart, Limits, Lookahead, SlowReader, Gone, Group, Protocols, Buffers, Changed, Sizes]
OVER_RADIO = [HalfClose, Restart, SlowReader, Gone, Protocols, Changed, Sizes]


async def until(stop, program, host, port):
    """Run the server until the event is set."""
    if hasattr(program, "run"):
        await program.run(host, port, stop)
        return
    async with await asyncio.start_server(program.serve, host, port, limit=getattr(program, "limit", 2**16)):
        await stop.wait()


def over_loopback(program):
    async def main():
        (port,) = free_ports(1)
        stop = asyncio.Event()
        serving = asyncio.ensure_future(until(stop, program, "127.0.0.1", port))
        await asyncio.sleep(0.05)
        try:
            return await asyncio.wait_for(program.ask("127.0.0.1", port), 60)
        finally:
            stop.set()
            await serving

    return asyncio.run(main())


def as_nodes(program):
    async def main(node):
        if node.id == 0:
            stop = asyncio.Event()
            asyncio.get_running_loop().call_later(90, stop.set)
            await until(stop, program, "0.0.0.0", 80)
            return None
        await asyncio.sleep(0.05)
        return await program.ask("node0", 80)

    return main


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_has_the_same_result_between_nodes_and_over_loopback(program):
    programs, _ = run(as_nodes(program()), 2)
    assert programs.results.get(1, programs.pending) == over_loopback(program())


@pytest.mark.parametrize("program", OVER_RADIO)
@pytest.mark.parametrize(
    "engine", [pytest.param("ns3", marks=pytest.mark.ns3), pytest.param("omnet", marks=pytest.mark.omnet)]
)
def test_a_program_has_the_same_result_over_simulated_tcp_and_over_loopback(engine, program):
    made = program()
    if program is SlowReader:
        made.size = 20_000  # a radio takes its time
    programs, _ = run_on(engine, as_nodes(made), in_a_row(2, metres=20))
    assert programs.results.get(1, programs.pending) == over_loopback(program())
