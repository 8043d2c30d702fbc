"""Packages of PyPI, unmodified, on simulated nodes. Each is skipped where it is not installed.

`make test` installs them; by hand: pip install --target DIR --no-deps -r requirements-programs.txt, and
CAUSEWAY_AIO_DEPS=DIR pytest tests/aio
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import logging
import os
import random
import sys

import pytest

from causeway.aio import Programs
from causeway.network.networks import constant_delay
from causeway.pycontrol.loop import Outcome
from tests.helpers.aio_programs import faults, in_a_row, results, run, run_on

FOLDER = os.environ.get("CAUSEWAY_AIO_DEPS", "")
if FOLDER and FOLDER not in sys.path:
    sys.path.append(FOLDER)


def need(package: str):
    """Return the package, or skip the test with the reason."""
    try:
        return importlib.import_module(package)
    except ModuleNotFoundError:
        pytest.skip(f"{package} is not here: make test installs it")


RADIO = [pytest.param("ns3", marks=pytest.mark.ns3), pytest.param("omnet", marks=pytest.mark.omnet)]


def on_radio(engine: str, main, nodes: int, duration_s: float = 0) -> tuple[Programs, Outcome]:
    """Return a network of standing hosts within reach of each other."""
    return run_on(engine, main, in_a_row(nodes, metres=110 / nodes), duration_s=duration_s)


# ---- kademlia: datagrams ------------------------------------------------------------------------------------------
NODES, PORT = 60, 8468


async def _kademlia(node):
    server = importlib.import_module("kademlia.network").Server()
    await server.listen(PORT)
    await asyncio.sleep(0.1 * node.id)
    if node.id:
        await server.bootstrap([("10.0.0.1", PORT)])
    await asyncio.sleep(60 - 0.1 * node.id)
    await server.set(f"key{node.id}", f"value{node.id}")
    await asyncio.sleep(60)
    wanted = random.randrange(NODES)
    found = await server.get(f"key{wanted}")
    await asyncio.sleep(30)
    server.stop()
    return found == f"value{wanted}"


@pytest.fixture
def quiet():
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


def test_kademlia_finds_every_key_on_sixty_nodes():
    need("kademlia")
    assert results(_kademlia, NODES, jitter_ms=5) == [True] * NODES


def test_kademlia_finds_most_keys_where_one_packet_in_twenty_is_lost_and_all_runs_are_the_same(quiet):
    need("kademlia")
    (one, first), (other, second) = (run(_kademlia, NODES, jitter_ms=5, loss=0.05) for _ in range(2))
    assert sum(one.results.values()) > NODES / 2
    assert first.digest == second.digest and one.results == other.results


@pytest.mark.parametrize("engine", RADIO)
def test_kademlia_finds_nearly_every_key_over_a_radio(engine, quiet):
    need("kademlia")
    programs, _ = on_radio(engine, _kademlia, NODES)
    assert sum(programs.results.values()) > 0.9 * NODES


# ---- aiocoap: datagrams, block-wise transfer, observation ---------------------------------------------------------
@pytest.mark.parametrize("loss", [0.0, 0.1])
def test_aiocoap_transfers_block_by_block_and_notifies_observers_of_changes(loss):
    assert results(_coap(), 2, jitter_ms=5, loss=loss, duration_s=390)[1] == (True, True)


@pytest.mark.parametrize("engine", RADIO)
def test_aiocoap_does_so_over_a_radio(engine):
    assert on_radio(engine, _coap(), 2, duration_s=390)[0].results[1] == (True, True)


def _coap():
    """Run a server on node 0, and clients on the others."""
    aiocoap = need("aiocoap")
    resource = importlib.import_module("aiocoap.resource")
    payload = bytes(range(250)) * 20

    class Big(resource.Resource):
        async def render_get(self, request):
            return aiocoap.Message(payload=payload)

    class Clock(resource.ObservableResource):
        async def tick(self):
            self.now = 0
            while True:
                await asyncio.sleep(10)
                self.now += 1
                self.updated_state()

        async def render_get(self, request):
            return aiocoap.Message(payload=b"%d" % self.now)

    async def main(node):
        if node.id == 0:
            site, clock = resource.Site(), Clock()
            site.add_resource(["big"], Big())
            site.add_resource(["clock"], clock)
            ticking = asyncio.create_task(clock.tick())
            context = await aiocoap.Context.create_server_context(
                site, bind=(node.address, 5683), transports=["simplesocketserver"]
            )
            await asyncio.sleep(400)
            ticking.cancel()
            await context.shutdown()
            return None
        await asyncio.sleep(1)
        context = await aiocoap.Context.create_client_context(transports=["simple6"])
        answer = await context.request(aiocoap.Message(code=aiocoap.GET, uri="coap://10.0.0.1/big")).response
        watch = context.request(aiocoap.Message(code=aiocoap.GET, uri="coap://10.0.0.1/clock", observe=0))
        await watch.response
        seen = []
        async for message in watch.observation:
            seen.append(int(message.payload))
            if len(seen) == 5:
                break
        await context.shutdown()
        return answer.payload == payload, seen == sorted(seen)

    return main


# ---- h11 and websockets: streams ----------------------------------------------------------------------------------
async def _h11_exchange(h11, reader, writer, connection, until):
    """Yield the events of one HTTP exchange."""
    data = b""
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            connection.receive_data(await reader.read(4096))
        elif isinstance(event, h11.Data):
            data += bytes(event.data)
        elif isinstance(event, until):
            return data


def _h11(size_bytes):
    """Post this many bytes to node 0, which sends them back."""
    h11 = need("h11")

    async def handle(reader, writer):
        connection = h11.Connection(h11.SERVER)
        body = await _h11_exchange(h11, reader, writer, connection, h11.EndOfMessage)
        headers = [("content-length", str(len(body)))]
        for event in (h11.Response(status_code=200, headers=headers), h11.Data(data=body), h11.EndOfMessage()):
            writer.write(connection.send(event))
        await writer.drain()
        writer.close()

    async def main(node):
        if node.id == 0:
            async with await asyncio.start_server(handle, port=80):
                await asyncio.sleep(1000)
            return None
        body = random.randbytes(size_bytes)
        reader, writer = await asyncio.open_connection("node0", 80)
        connection = h11.Connection(h11.CLIENT)
        headers = [("host", "node0"), ("content-length", str(len(body)))]
        for event in (h11.Request(method="POST", target="/", headers=headers), h11.Data(data=body), h11.EndOfMessage()):
            writer.write(connection.send(event))
        back = await _h11_exchange(h11, reader, writer, connection, h11.EndOfMessage)
        writer.close()
        return back == body

    return main


@pytest.mark.parametrize("loss", [0.0, 0.05])
def test_an_http_server_and_client_of_h11_exchange_a_megabyte(loss):
    assert results(_h11(1_000_000), 2, loss=loss, jitter_ms=5)[1] is True


@pytest.mark.parametrize("engine", RADIO)
def test_h11_exchanges_a_hundred_kilobytes_over_simulated_tcp(engine):
    assert on_radio(engine, _h11(100_000), 2)[0].results[1] is True


@pytest.mark.parametrize("loss", [0.0, 0.05])
def test_websockets_talk(loss):
    assert results(_websockets(), 3, loss=loss, jitter_ms=5)[1:] == [True, True]


@pytest.mark.parametrize("engine", RADIO)
def test_websockets_talk_over_simulated_tcp(engine):
    programs, _ = on_radio(engine, _websockets(), 3)
    assert [programs.results[n] for n in (1, 2)] == [True, True]


def _websockets():
    """Run a server on node 0 that reverses every message."""
    need("websockets")
    connect = importlib.import_module("websockets.asyncio.client").connect
    serve = importlib.import_module("websockets.asyncio.server").serve

    async def echo(socket):
        async for message in socket:
            await socket.send(message[::-1])

    async def main(node):
        if node.id == 0:
            async with serve(echo, "0.0.0.0", 8765):
                await asyncio.sleep(500)
            return None
        async with connect("ws://node0:8765/") as socket:
            answers = []
            for i in range(20):
                await socket.send(f"message {i}")
                answers.append(await socket.recv())
        return answers == [f"message {i}"[::-1] for i in range(20)]

    return main


# ---- aiohttp: server and client -----------------------------------------------------------------------------------
def _aiohttp():
    """Run posts and a slow stream."""
    aiohttp = need("aiohttp")
    web = importlib.import_module("aiohttp.web")

    async def size(request):
        return web.json_response({"size": len(await request.read()), "from": request.remote})

    async def slowly(request):
        response = web.StreamResponse()
        await response.prepare(request)
        for _ in range(10):
            await response.write(bytes(2000))
            await asyncio.sleep(0.1)
        return response

    async def main(node):
        if node.id == 0:
            app = web.Application()
            app.add_routes([web.post("/size", size), web.get("/slowly", slowly)])
            runner = web.AppRunner(app, handle_signals=False)
            await runner.setup()
            await web.TCPSite(runner, "0.0.0.0", 80).start()
            await asyncio.sleep(60)
            await runner.cleanup()
            return None
        async with aiohttp.ClientSession() as session:
            async with session.post("http://node0/size", data=bytes(20_000 * node.id)) as response:
                answer = await response.json()
            async with session.get("http://node0/slowly") as response:
                return answer, len(await response.read())

    return main


AIOHTTP = {n: ({"size": 20_000 * n, "from": f"10.0.0.{n + 1}"}, 20_000) for n in (1, 2)}


@pytest.mark.parametrize("loss", [0.0, 0.05])
def test_aiohttp_serves_and_asks(loss):
    assert results(_aiohttp(), 3, loss=loss, jitter_ms=5)[1:] == list(AIOHTTP.values())


@pytest.mark.parametrize("engine", RADIO)
def test_aiohttp_serves_and_asks_over_simulated_tcp(engine):
    programs, _ = on_radio(engine, _aiohttp(), 3)
    assert programs.results == {0: None, **AIOHTTP}


# ---- amqtt: a broker, one who publishes, one who subscribes ---------------------------------------------------------
MESSAGES = 20


def _mqtt():
    """Publish messages of all three qualities of service."""
    need("amqtt")
    broker, client = importlib.import_module("amqtt.broker"), importlib.import_module("amqtt.client")
    open_to_all = {"amqtt.plugins.authentication.AnonymousAuthPlugin": {"allow_anonymous": True}}

    async def main(node):
        if node.id == 0:
            listeners = {"default": {"type": "tcp", "bind": "0.0.0.0:1883"}}
            server = broker.Broker({"listeners": listeners, "plugins": open_to_all})
            await server.start()
            await asyncio.sleep(50)
            await server.shutdown()
            return None
        mine = client.MQTTClient(client_id=f"client{node.id}", config={"auto_reconnect": False})
        await asyncio.sleep(1 + node.id * 0.1)
        await mine.connect("mqtt://node0:1883/")
        heard = []
        if node.id == 1:
            for number in range(MESSAGES):
                await asyncio.sleep(1)
                await mine.publish("room/temperature", b"%d" % number, qos=number % 3)
        else:
            await mine.subscribe([("room/#", 2)])
            while len(heard) < MESSAGES:
                message = await asyncio.wait_for(mine.deliver_message(), 20)
                heard.append(int(message.publish_packet.payload.data))
        await asyncio.sleep(2)
        await mine.disconnect()
        return heard

    return main


@pytest.mark.parametrize("loss", [0.0, 0.05])
def test_amqtt_publishes_to_subscribers(loss, quiet):
    assert results(_mqtt(), 3, loss=loss, jitter_ms=5)[2] == list(range(MESSAGES))


@pytest.mark.parametrize("engine", RADIO)
def test_amqtt_publishes_over_simulated_tcp(engine, quiet):
    assert on_radio(engine, _mqtt(), 3)[0].results[2] == list(range(MESSAGES))


# ---- aioraft-ng: elections of Raft ----------------------------------------------------------------------------------
MEMBERS, ANSWER_S = 5, 0.04


class Calls(asyncio.DatagramProtocol):
    """Sends aioraft-ng's calls as datagrams. The library leaves the transport to its user (gRPC has sockets in C)."""

    def __init__(self):
        self.waiting, self.answer, self.last = {}, None, 0

    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, data, addr):
        number, kind, rest = data.split(b" ", 2)
        if kind != b"answer":
            self.answering = asyncio.ensure_future(self.reply(number, kind, rest, addr))
        elif (waiting := self.waiting.pop(int(number), None)) is not None and not waiting.done():
            waiting.set_result(rest)

    async def reply(self, number, kind, rest, addr):
        self.transport.sendto(b"%s answer %s" % (number, await self.answer(kind, rest)), addr)

    async def ask(self, to, kind, message):
        self.last += 1
        self.waiting[self.last] = waiting = asyncio.get_running_loop().create_future()
        host, port = to.split(":")
        self.transport.sendto(b"%d %s %s" % (self.last, kind, message.SerializeToString()), (host, int(port)))
        with contextlib.suppress(TimeoutError):
            return await asyncio.wait_for(waiting, ANSWER_S)
        return None


def _raft():
    """Run members for 30 s. Each returns (is leader, term) and keeps the terms that it led in its store."""
    raft = need("aioraft")
    pb = importlib.import_module("aioraft.protos.raft_pb2")
    leader = importlib.import_module("aioraft.types").RaftState.LEADER

    class Client(importlib.import_module("aioraft.client").AbstractRaftClient):
        def __init__(self, calls):
            self.calls = calls

        async def append_entries(self, *, to, **fields):
            answer = await self.calls.ask(to, b"append", pb.AppendEntriesRequest(**fields))
            if answer is None:
                return fields["term"], False
            return (reported := pb.AppendEntriesResponse.FromString(answer)).term, reported.success

        async def request_vote(self, *, to, **fields):
            answer = await self.calls.ask(to, b"vote", pb.RequestVoteRequest(**fields))
            if answer is None:
                return fields["term"], False
            return (reported := pb.RequestVoteResponse.FromString(answer)).term, reported.vote_granted

    class Server(importlib.import_module("aioraft.server").AbstractRaftServer):
        def bind(self, protocol):
            self.protocol = protocol

        async def answer(self, kind, rest):
            asked, made, handler = {
                b"append": (pb.AppendEntriesRequest, pb.AppendEntriesResponse, self.protocol.on_append_entries),
                b"vote": (pb.RequestVoteRequest, pb.RequestVoteResponse, self.protocol.on_request_vote),
            }[kind]
            request = asked.FromString(rest)
            term, agreed = await handler(**{f.name: getattr(request, f.name) for f in asked.DESCRIPTOR.fields})
            field = "success" if kind == b"append" else "vote_granted"
            return made(term=term, **{field: agreed}).SerializeToString()

    async def main(node):
        loop, server = asyncio.get_running_loop(), Server()
        _, calls = await loop.create_datagram_endpoint(Calls, local_addr=("0.0.0.0", 50051))
        calls.answer = server.answer
        led = node.store.setdefault("led", [])
        others = [f"{node.address_of(n)}:50051" for n in range(node.nodes) if n != node.id]
        changes = []

        def changed(state):
            changes.append(state)
            if state is leader:
                led.append(member.current_term)

        member = await raft.Raft.new(
            f"{node.address}:50051", server=server, client=Client(calls), configuration=others, on_state_changed=changed
        )
        running = asyncio.create_task(member.main())
        await asyncio.sleep(30 - loop.time())
        running.cancel()
        return member.has_leadership(), member.current_term

    return main


def _one_leader_a_term(programs) -> list[int]:
    """Return the terms with a leader, after checking that no term has two."""
    led = [term for node in programs.nodes for term in node.store["led"]]
    assert len(led) == len(set(led)) >= 1, led
    leads, terms = zip(*(programs.results[n] for n in range(MEMBERS)), strict=True)
    assert sum(leads) == 1 and set(terms) == {max(led)}
    return led


def test_raft_has_one_leader_a_term_and_another_one_when_the_leader_fails(quiet):
    """aioraft-ng keeps term and vote in memory, so a member that comes back may vote twice: only one fails here."""
    programs, _ = run(_raft(), MEMBERS, delay=constant_delay(2))
    (term,) = _one_leader_a_term(programs)
    first = next(n for n in range(MEMBERS) if programs.results[n][0])
    off = faults((10, first, 0), (14, first, 1))
    programs, _ = run(_raft(), MEMBERS, delay=constant_delay(2), faults=off)
    led = _one_leader_a_term(programs)
    assert min(led) == term and len(led) >= 2


@pytest.mark.parametrize("engine", RADIO)
def test_raft_has_one_leader_over_a_radio(engine, quiet):
    assert _one_leader_a_term(on_radio(engine, _raft(), MEMBERS)[0])
