"""Packages of PyPI, unmodified, on simulated nodes. Each is skipped where it is not installed.

pip install --target DIR kademlia aiocoap h11 websockets aiohttp
CAUSEWAY_AIO_DEPS=DIR pytest tests/aio
"""

from __future__ import annotations

import asyncio
import importlib
import logging
import os
import random
import sys

import pytest

from causeway.aio import Programs
from causeway.pycontrol.loop import Outcome
from tests.worlds.aio_world import in_a_row, results, run, run_on

FOLDER = os.environ.get("CAUSEWAY_AIO_DEPS", "")
if FOLDER and FOLDER not in sys.path:
    sys.path.append(FOLDER)


def need(package: str):
    """The package, or the reason why there is no test."""
    try:
        return importlib.import_module(package)
    except ModuleNotFoundError:
        pytest.skip(f"{package} is not here: pip install --target DIR {package}, and CAUSEWAY_AIO_DEPS=DIR")


RADIO = [pytest.param("ns3", marks=pytest.mark.ns3), pytest.param("omnet", marks=pytest.mark.omnet)]


def on_radio(engine: str, main, nodes: int, duration_s: float = 0) -> tuple[Programs, Outcome]:
    """Hosts that stand within reach of each other."""
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
def test_aiocoap_transfers_block_by_block_and_is_told_of_changes(loss):
    assert results(_coap(), 2, jitter_ms=5, loss=loss, duration_s=390)[1] == (True, True)


@pytest.mark.parametrize("engine", RADIO)
def test_aiocoap_does_so_over_a_radio(engine):
    assert on_radio(engine, _coap(), 2, duration_s=390)[0].results[1] == (True, True)


def _coap():
    """A server on node 0, clients on the others."""
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
    """Events of one HTTP exchange, up to the last one."""
    data = b""
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            connection.receive_data(await reader.read(4096))
        elif isinstance(event, h11.Data):
            data += bytes(event.data)
        elif isinstance(event, until):
            return data


@pytest.mark.parametrize("loss", [0.0, 0.05])
def test_an_http_server_and_client_of_h11_exchange_a_megabyte(loss):
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
        body = random.randbytes(1_000_000)
        reader, writer = await asyncio.open_connection("node0", 80)
        connection = h11.Connection(h11.CLIENT)
        headers = [("host", "node0"), ("content-length", str(len(body)))]
        for event in (h11.Request(method="POST", target="/", headers=headers), h11.Data(data=body), h11.EndOfMessage()):
            writer.write(connection.send(event))
        back = await _h11_exchange(h11, reader, writer, connection, h11.EndOfMessage)
        writer.close()
        return back == body

    assert results(main, 2, loss=loss, jitter_ms=5)[1] is True


@pytest.mark.parametrize("loss", [0.0, 0.05])
def test_websockets_talk(loss):
    assert results(_websockets(), 3, loss=loss, jitter_ms=5)[1:] == [True, True]


@pytest.mark.parametrize("engine", RADIO)
def test_websockets_talk_over_simulated_tcp(engine):
    programs, _ = on_radio(engine, _websockets(), 3)
    assert [programs.results[n] for n in (1, 2)] == [True, True]


def _websockets():
    """A server on node 0 that says everything backwards."""
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
    """Posts and a slow stream."""
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
