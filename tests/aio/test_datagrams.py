"""UDP of simulated nodes."""

from __future__ import annotations

import asyncio
import errno
import socket

import pytest

from causeway.aio import ProgramNode
from causeway.aio.packets import DATAGRAM_HEADER_BYTES
from tests.helpers.aio_programs import DELAY_S, REACTION_S, faults, results, run


class Inbox(asyncio.DatagramProtocol):
    """Keeps the datagrams that arrive."""

    def __init__(self):
        self.got, self.errors, self.ended = asyncio.Queue(), [], []

    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, data, addr):
        self.got.put_nowait((asyncio.get_running_loop().time(), data, addr))

    def error_received(self, exc):
        self.errors.append(exc)

    def connection_lost(self, exc):
        self.ended.append(exc)


async def endpoint(**options) -> Inbox:
    loop = asyncio.get_running_loop()
    return (await loop.create_datagram_endpoint(Inbox, **options))[1]


def test_a_datagram_leaves_a_reaction_later_and_contains_its_sender():
    async def main(node):
        box = await endpoint(local_addr=("0.0.0.0", 5000 + node.id))
        if node.id == 0:
            box.transport.sendto(b"hello", ("node1", 5001))
            return None
        return await box.got.get()

    assert results(main)[1] == (REACTION_S + DELAY_S, b"hello", ("10.0.0.1", 5000))


def test_an_answer_to_the_address_of_a_datagram_arrives():
    async def main(node):
        if node.id == 0:
            box = await endpoint(remote_addr=("10.0.0.2", 7))
            box.transport.sendto(b"ping")
        else:
            box = await endpoint(local_addr=("10.0.0.2", 7))
        _, data, addr = await box.got.get()
        if node.id == 1:
            box.transport.sendto(b"pong", addr)
            await asyncio.sleep(1)
        return data

    assert results(main) == [b"pong", b"ping"]


def test_the_length_on_the_wire_is_the_bytes_and_the_header(monkeypatch):
    sizes = []
    real = ProgramNode.transmit

    def transmit(self, peer, content, size_bytes):
        sizes.append(size_bytes)
        real(self, peer, content, size_bytes)

    async def main(node):
        box = await endpoint(local_addr=("0.0.0.0", 9))
        if node.id == 0:
            box.transport.sendto(bytes(100), ("node1", 9))
        await asyncio.sleep(1)
        return box.got.qsize()

    monkeypatch.setattr(ProgramNode, "transmit", transmit)
    assert results(main) == [0, 1]
    assert sizes == [100 + DATAGRAM_HEADER_BYTES]


def test_time_on_the_wire_grows_with_the_length():
    async def main(node):
        box = await endpoint(local_addr=("0.0.0.0", 9))
        if node.id == 0:
            box.transport.sendto(bytes(1000), ("node1", 9))
            return None
        return (await box.got.get())[0]

    microsecond_a_byte = results(main, send_ps_per_byte=10**6)[1]
    assert microsecond_a_byte == pytest.approx(REACTION_S + DELAY_S + (1000 + DATAGRAM_HEADER_BYTES) * 1e-6, abs=1e-12)


def test_several_sockets_of_one_node_get_the_datagrams_of_their_ports():
    async def main(node):
        boxes = [await endpoint(local_addr=("0.0.0.0", port)) for port in (1, 2, 3)]
        if node.id == 0:
            for port in (3, 1, 3):
                boxes[0].transport.sendto(b"%d" % port, ("node1", port))
        await asyncio.sleep(1)
        return [box.got.qsize() for box in boxes]

    assert results(main)[1] == [1, 0, 2]


def test_a_socket_without_a_port_gets_a_free_one_and_a_taken_port_is_refused():
    async def main(node):
        box = await endpoint(local_addr=("0.0.0.0", 0))
        port = box.transport.get_extra_info("sockname")[1]
        with pytest.raises(OSError, match="is in use") as caught:
            await endpoint(local_addr=("0.0.0.0", port))
        assert caught.value.errno == errno.EADDRINUSE
        box.transport.close()
        again = await endpoint(local_addr=("0.0.0.0", port))
        return port > 49_000 and again.transport.get_extra_info("sockname") == ("0.0.0.0", port) and box.ended == [None]

    assert results(main) == [True, True]


def test_an_address_of_another_node_cannot_be_bound():
    async def main(node):
        with pytest.raises(OSError, match=f"is not an address of node {node.id}"):
            await endpoint(local_addr=(f"node{1 - node.id}", 5))
        return True

    assert results(main) == [True, True]


def test_a_broadcast_reaches_all_and_needs_permission():
    async def main(node):
        box = await endpoint(local_addr=("0.0.0.0", 9), allow_broadcast=True)
        shy = await endpoint(local_addr=("0.0.0.0", 10))
        if node.id == 2:
            box.transport.sendto(b"all", ("255.255.255.255", 9))
            shy.transport.sendto(b"no", ("255.255.255.255", 10))
        await asyncio.sleep(1)
        return box.got.qsize(), [type(error) for error in shy.errors]

    assert results(main, 4) == [(1, []), (1, []), (1, [PermissionError]), (1, [])]


def test_a_connected_socket_is_reported_when_nobody_listens():
    async def main(node):
        if node.id == 0:
            box = await endpoint(remote_addr=("node1", 1234))
            box.transport.sendto(b"anybody?")
            await asyncio.sleep(1)
            return [type(error) for error in box.errors]
        return None

    assert results(main)[0] == [ConnectionRefusedError]


def test_a_node_that_is_down_answers_nothing():
    async def main(node):
        if node.id == 0:
            await asyncio.sleep(2)
            box = await endpoint(remote_addr=("node1", 1234))
            box.transport.sendto(b"anybody?")
            await asyncio.sleep(1)
            return box.errors
        return None

    assert results(main, faults=faults((1, 1, 0)))[0] == []


def test_a_connected_socket_hears_only_its_peer():
    async def main(node):
        if node.id == 0:
            box = await endpoint(local_addr=("0.0.0.0", 9), remote_addr=("node1", 9))
            await asyncio.sleep(1)
            return box.got.qsize()
        box = await endpoint(local_addr=("0.0.0.0", 9))
        box.transport.sendto(b"x", ("node0", 9))
        return None

    assert results(main, 3)[0] == 1


def test_a_datagram_that_is_too_long_is_an_error_of_the_socket():
    async def main(node):
        box = await endpoint(remote_addr=("node1", 9))
        box.transport.sendto(bytes(1001))
        box.transport.sendto(bytes(1000))
        await asyncio.sleep(0)
        return [error.errno for error in box.errors]

    assert results(main, programs={"mtu_bytes": 1000})[0] == [errno.EMSGSIZE]


def test_datagrams_that_cannot_be_sent_are_counted_and_the_first_is_reported(caplog):
    async def main(node):
        box = await endpoint(local_addr=("0.0.0.0", 9))
        if node.id == 1:
            await asyncio.sleep(0.5)
            box.transport.sendto(bytes(65_508), ("node0", 9))
            box.transport.sendto(b"x", ("8.8.8.8", 53))
            box.transport.sendto(b"x", ("10.0.0.9", 53))
            box.transport.sendto(b"x", ("nobody.example", 53))
        await asyncio.sleep(1)
        return [error.errno for error in box.errors]

    protocol, outcome = run(main)
    assert protocol.results[1] == [errno.EMSGSIZE, errno.ENETUNREACH, errno.ENETUNREACH, socket.EAI_NONAME]
    assert outcome.scalars["refused_datagrams"] == 4
    reported = [record.getMessage() for record in caplog.records if "datagram" in record.getMessage()]
    assert len(reported) == 1 and reported[0].startswith("[node1 0.50")
    assert "65508 bytes" in reported[0] and "test_datagrams.py:" in reported[0] and "refused_datagrams" in reported[0]


def test_a_node_talks_to_itself_without_the_network():
    async def main(node):
        box = await endpoint(local_addr=("127.0.0.1", 9))
        box.transport.sendto(b"me", ("127.0.0.1", 9))
        return await box.got.get()

    assert results(main, 1, loss=0.99) == [(REACTION_S, b"me", ("127.0.0.1", 9))]


def test_a_socket_on_localhost_is_not_seen_from_outside():
    async def main(node):
        if node.id == 0:
            box = await endpoint(remote_addr=("node1", 9))
            box.transport.sendto(b"x")
            await asyncio.sleep(1)
            return [type(error) for error in box.errors]
        box = await endpoint(local_addr=("127.0.0.1", 9))
        await asyncio.sleep(1)
        return box.got.qsize()

    assert results(main) == [[ConnectionRefusedError], 0]


def test_sockets_are_lost_with_the_node():
    async def main(node):
        if node.id == 1:
            if node.life == 0:
                await endpoint(local_addr=("0.0.0.0", 9))
            await asyncio.sleep(50)
            return None
        box = await endpoint(remote_addr=("node1", 9))
        await asyncio.sleep(3)
        box.transport.sendto(b"x")
        await asyncio.sleep(1)
        return [type(error) for error in box.errors]

    assert results(main, faults=faults((1, 1, 0), (2, 1, 1)))[0] == [ConnectionRefusedError]


def test_losses_come_from_the_network():
    async def main(node):
        box = await endpoint(local_addr=("0.0.0.0", 9))
        if node.id == 0:
            for _ in range(1000):
                box.transport.sendto(b"x", ("node1", 9))
                await asyncio.sleep(0.001)
        await asyncio.sleep(5)
        return box.got.qsize()

    assert 620 < results(main, loss=0.3)[1] < 780


def test_names_and_addresses_are_resolved_and_nothing_else():
    async def main(node):
        loop = asyncio.get_running_loop()
        rows = await loop.getaddrinfo("node1", 80, type=socket.SOCK_STREAM)
        assert rows == [(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", ("10.0.0.2", 80))]
        assert socket.gethostbyname("node1") == "10.0.0.2"
        assert socket.gethostname() == node.name
        assert await loop.getnameinfo(("10.0.0.2", 80)) == ("node1", "80")
        assert (await loop.getaddrinfo("localhost", "http"))[0][4] == ("127.0.0.1", 80)
        for host in ("example.org", "10.0.0.3", "8.8.8.8"):
            with pytest.raises(socket.gaierror, match="in the simulation: it has node0 to node1"):
                await loop.getaddrinfo(host, 80)
        with pytest.raises(socket.gaierror, match="IPv4"):
            await loop.getaddrinfo("node1", 80, family=socket.AF_INET6)
        return True

    assert results(main) == [True, True]


def test_the_outcome_does_not_depend_on_how_events_were_batched():
    async def main(node):
        box = await endpoint(local_addr=("0.0.0.0", 9))
        for i in range(20):
            await asyncio.sleep(0.013)
            box.transport.sendto(b"%d" % i, (f"node{(node.id + 1 + i) % 8}", 9))
        return [await box.got.get() for _ in range(2)]

    (one, first), (other, second) = (run(main, 8, cap=cap, jitter_ms=5) for cap in (0, 1))
    assert first.digest == second.digest and one.results == other.results
