"""Blocking calls in a node: they are refused, or reported while they last, since they stop all nodes."""

from __future__ import annotations

import asyncio
import builtins
import multiprocessing
import os
import queue
import select
import subprocess
import sys
import textwrap
import threading
import time

import pytest

from causeway.aio import SoloLoop
from causeway.aio.solo import solo_environment
from causeway.aio.watch import Watch
from causeway.errors import RunError
from tests.helpers.aio_programs import results, run


def wait_for_the_clock():
    until = time.monotonic() + 1
    while time.monotonic() < until:
        pass


BLOCKING = {
    "waiting for a thread": lambda: queue.Queue().get(),
    "waiting for a thread .": lambda: threading.Event().wait(5),
    "os.system": lambda: os.system("true"),
    "os.fork": lambda: multiprocessing.get_context("fork").Process(target=print).start(),
    "a subprocess": lambda: subprocess.run(["true"], check=False),
    "select.select": lambda: select.select([], [], [], 1),
    r"input\(\)": lambda: builtins.input(),
    "read the clock 1,000,000 times": wait_for_the_clock,
}


@pytest.mark.parametrize("what", BLOCKING)
def test_a_blocking_call_is_refused_with_node_and_line(what):
    async def main(node):
        BLOCKING[what]()

    with pytest.raises(RunError, match=rf"(?s)node0.*{what.strip(' .')}.*use|run its work|give the program") as error:
        run(main, 1)
    assert "test_blocking.py" in str(error.value)


def test_thread_functions_are_called_in_place_if_the_study_allows_it():
    async def main(node):
        with pytest.raises(ZeroDivisionError):
            await asyncio.to_thread(lambda: 1 / 0)
        with pytest.raises(NotImplementedError, match=r"time\.sleep"):
            await asyncio.to_thread(time.sleep, 1)
        return await asyncio.to_thread(sum, (1, 2)), asyncio.get_running_loop().time()

    assert run(main, 1, programs={"executor": "at once"})[0].results == {0: (3, 0.0)}


def test_an_event_that_is_set_already_does_not_block():
    async def main(node):
        event = threading.Event()
        event.set()
        return event.wait(5)

    assert run(main, 1)[0].results == {0: True}


LONG_STEP = """
import asyncio, time
from causeway.aio.solo import SoloLoop
from causeway.aio.watch import Watch

async def main():
    for _ in range(100):
        await asyncio.sleep(1)
    until = time.monotonic() + 1.0  # the real clock: no world here
    while time.monotonic() < until:
        pass
    await asyncio.sleep(1)

watch = Watch(limit_s=0.2)
with asyncio.Runner(loop_factory=SoloLoop) as runner:
    runner.run(main())
watch.end()
"""


@pytest.mark.slow
def test_a_step_that_does_not_end_is_named_while_it_lasts(tmp_path):
    """A lock of C code cannot be refused. The watch sees two steps: a long one, and many short ones."""
    (tmp_path / "long_step.py").write_text(LONG_STEP)  # in a process of its own: no other run confines its clock
    done = subprocess.run([sys.executable, str(tmp_path / "long_step.py")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("causeway: a step of the loop at 100 s has taken 0.2 s so far, at ") == 1
    assert "long_step.py" in done.stderr


def test_many_short_steps_are_not_named(capsys):
    async def main():
        until = time.monotonic() + 0.7
        while time.monotonic() < until:
            await asyncio.sleep(1)

    watch = Watch(limit_s=0.1)
    with asyncio.Runner(loop_factory=SoloLoop) as runner:
        runner.run(main())
    watch.end()
    assert capsys.readouterr().err == ""


def test_a_run_that_ends_leaves_no_thread():
    async def main(node):
        pass

    run(main, 1)
    for thread in threading.enumerate():
        if thread.name == "causeway.aio.watch":
            thread.join(1)
            assert not thread.is_alive(), "the watch goes on"
    assert "causeway.aio.watch" not in {thread.name for thread in threading.enumerate()}


def test_outside_of_a_node_nothing_is_refused():
    program = textwrap.dedent(
        """
        import queue, threading, os
        from causeway.aio.solo import solo_environment
        with solo_environment():
            q = queue.Queue()
            threading.Thread(target=lambda: q.put(1)).start()
            assert q.get() == 1 and os.system("true") == 0
        print("all of it")
        """
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == "all of it\n", done.stderr


def test_a_socket_that_a_server_passes_on_may_be_inheritable():
    import socket

    async def main(node):
        listening = socket.socket()
        listening.bind(("0.0.0.0", 80))
        before = listening.get_inheritable()
        listening.set_inheritable(True)  # as uvicorn and hypercorn do before they listen
        async with await asyncio.start_server(lambda *_: None, sock=listening) as server:
            return before, listening.get_inheritable(), server.sockets[0].get_inheritable()

    assert results(main, 1)[0] == (False, True, False)


def test_a_suite_of_tests_has_sockets_of_its_own_on_the_solo_loop():
    import socket

    async def main():
        loop = asyncio.get_running_loop()
        listening = socket.socket()
        listening.bind(("127.0.0.1", 0))
        port = listening.getsockname()[1]
        heard = loop.create_future()

        async def handle(reader, writer):
            writer.write(await reader.readline())
            writer.close()

        class Hears(asyncio.DatagramProtocol):
            def datagram_received(self, data, addr):
                heard.set_result((data, addr))

        datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        datagrams.bind(("127.0.0.1", 99))
        await loop.create_datagram_endpoint(Hears, sock=datagrams)
        one, other = socket.socketpair()
        left, right = [await asyncio.open_connection(sock=sock) for sock in (one, other)]
        left[1].write(b"a pair\n")
        async with await asyncio.start_server(handle, sock=listening):
            reader, writer = await asyncio.open_connection("localhost", port)
            writer.write(b"a stream\n")
            transport, _ = await loop.create_datagram_endpoint(
                asyncio.DatagramProtocol, local_addr=("127.0.0.1", 98), remote_addr=("127.0.0.1", 99)
            )
            transport.sendto(b"a datagram")
            return await reader.read(), await heard, await right[0].readline(), time.time() < 2**31

    with solo_environment(), asyncio.Runner(loop_factory=SoloLoop) as runner:
        came = runner.run(main())
    assert came == (b"a stream\n", (b"a datagram", ("127.0.0.1", 98)), b"a pair\n", True)
