"""The world that a program sees while its node runs: clocks, chance and names from the simulation.

A `World` puts a stand-in in the place of each function below, in its own module and in every module that has imported
it by name; its `leave` takes them away. A stand-in looks whether a simulated loop is running in this thread: if so it
answers from the simulation, else it calls the real one. So the rest of the process (the engine, the controller) notices
nothing.

What it does not reach: `datetime.now()` (ask time.time()), numpy's global random numbers, and the order of sets of
strings, which PYTHONHASHSEED decides. `causeway.aio.compare` finds such leaks.
"""

from __future__ import annotations

import builtins
import logging
import os
import random
import select
import socket
import subprocess
import sys
import threading
import time
import types
import uuid
from asyncio import events
from collections.abc import Callable
from functools import wraps
from typing import Any

from causeway.aio import sockets
from causeway.aio.errors import outside
from causeway.aio.networked import NetworkedLoop
from causeway.aio.node import NodeLoop
from causeway.aio.trace import program_line
from causeway.aio.watch import Watch
from causeway.pycontrol.mistakes import ProtocolError

EPOCH_S = 1_767_225_600
"""time.time() at the beginning of a run: 2026-01-01, UTC."""
EPOCH_NS = EPOCH_S * 10**9
UUID_EPOCH_100NS = 0x01B21DD213814000
"""Between 1582 and 1970."""

Answer = Callable[..., Any]
"""What a stand-in answers: it is given the loop that runs, and the arguments."""
_running = events._get_running_loop


def _ns(loop: NetworkedLoop) -> int:
    return loop.clock.now_ps // 1000


def _sleep(loop: NetworkedLoop, seconds: float) -> None:
    raise outside(
        f"time.sleep({seconds:g}) in {loop.name} at {loop.time():g} s ({program_line(sys._getframe())})",
        f"it would stop all nodes and the network; use await asyncio.sleep({seconds:g})",
    )


def _blocks(what: str, instead: str) -> Answer:
    """Waiting for something that cannot happen while a node waits: it would stop the run for ever."""

    def answer(loop: NetworkedLoop, *args: Any, **options: Any) -> Any:
        raise outside(
            f"{what} in {loop.name} at {loop.time():g} s ({program_line(sys._getframe())})",
            f"it would stop all nodes and the network; {instead}",
        )

    return answer


def _clock(read: Answer) -> Answer:
    """Reading a clock. Who does nothing else waits for an instant that does not come."""

    def answer(loop: NetworkedLoop) -> Any:
        if loop.clock.now_ps != loop.read_at_ps:
            loop.read_at_ps, loop.reads = loop.clock.now_ps, 0
        loop.reads += 1
        if loop.reads > CLOCK_READS_AT_ONCE:
            raise ProtocolError(
                f"{loop.name} read the clock {CLOCK_READS_AT_ONCE:,} times at {loop.time():g} s "
                f"({program_line(sys._getframe())}): "
                "simulated time stands while a step computes, so waiting for it in a circle has no end; "
                "use await asyncio.sleep(...)"
            )
        return read(loop)

    return answer


def _uuid1(loop: NetworkedLoop, node: int | None = None, clock_seq: int | None = None) -> uuid.UUID:
    ticks = (EPOCH_NS + _ns(loop)) // 100 + UUID_EPOCH_100NS
    clock_seq = loop.chance.getrandbits(14) if clock_seq is None else clock_seq
    node = 0x02_00_00_00_00_00 + loop.node if node is None else node
    fields = ticks & 0xFFFFFFFF, (ticks >> 32) & 0xFFFF, (ticks >> 48) & 0x0FFF, (clock_seq >> 8) & 0x3F
    return uuid.UUID(fields=(*fields, clock_seq & 0xFF, node), version=1)


def _gmtime(real: Answer) -> Answer:
    def answer(loop: NetworkedLoop, seconds: float | None = None) -> Any:
        return real(EPOCH_S + loop.time() if seconds is None else seconds)

    return answer


def _strftime(real: Answer) -> Answer:
    def answer(loop: NetworkedLoop, form: str, when: Any = None) -> str:
        return real(form, when or time.gmtime(EPOCH_S + loop.time()))

    return answer


def _random(name: str) -> Answer:
    def answer(loop: NetworkedLoop, *args: Any, **options: Any) -> Any:
        return getattr(loop.chance, name)(*args, **options)

    return answer


def _refused(what: str, instead: str) -> Answer:
    def answer(loop: NetworkedLoop, *args: Any, **options: Any) -> Any:
        raise outside(f"{what} in {loop.name}", instead)

    return answer


def _seed(real: Answer) -> Answer:
    """random.Random() without a seed takes one from the system; inside a node, from the node's own chance."""

    @wraps(real)
    def seed(self: random.Random, a: Any = None, version: int = 2) -> None:
        loop = _running()
        if a is None and isinstance(loop, NetworkedLoop):
            a = loop.chance.getrandbits(256)
        real(self, a, version)

    return seed


def _record_of_node(real: Callable[..., logging.LogRecord]) -> Callable[..., logging.LogRecord]:
    """Log lines of a node begin with its name and simulated time; `record.node` and `record.sim_s` have them alone."""

    def record(*args: Any, **options: Any) -> logging.LogRecord:
        made: Any = real(*args, **options)
        loop = _running()
        made.node, made.sim_s = (loop.name, loop.time()) if isinstance(loop, NodeLoop) else ("", -1.0)
        if made.node:
            made.msg = f"[{made.node} {made.sim_s:.6f} s] " + str(made.msg)
        return made

    return record


SHARED = [n for n in dir(random) if isinstance(getattr(getattr(random, n), "__self__", None), random.Random)]
"""Functions of `random` that share one hidden generator."""

PROCESSES = ("system", "fork", "forkpty", "posix_spawn", "posix_spawnp", "waitpid", "wait", "execv", "execve")
CLOCK_READS_AT_ONCE = 1_000_000

ANSWERS: list[tuple[Any, str, Answer]] = [
    (time, "time", _clock(lambda loop: EPOCH_S + loop.time())),
    (time, "time_ns", _clock(lambda loop: EPOCH_NS + _ns(loop))),
    *((time, name, _clock(lambda loop: loop.time())) for name in ("monotonic", "perf_counter", "process_time")),
    *((time, name, _clock(_ns)) for name in ("monotonic_ns", "perf_counter_ns", "process_time_ns")),
    (time, "gmtime", _gmtime(time.gmtime)),
    (time, "localtime", _gmtime(time.gmtime)),
    (time, "strftime", _strftime(time.strftime)),
    (time, "sleep", _sleep),
    *((random, name, _random(name)) for name in SHARED),
    (os, "urandom", lambda loop, size: loop.chance.randbytes(size)),
    (os, "getrandom", lambda loop, size, flags=0: loop.chance.randbytes(size)),
    (os, "getpid", lambda loop: 1000 + loop.node),
    (uuid, "uuid1", _uuid1),
    (uuid, "getnode", lambda loop: 0x02_00_00_00_00_00 + loop.node),
    (socket, "getaddrinfo", lambda loop, *args, **opts: loop.stack.names.getaddrinfo(loop.node, *args, **opts)),
    (socket, "getnameinfo", lambda loop, addr, flags: loop.stack.names.getnameinfo(loop.node, addr, flags)),
    (socket, "gethostbyname", lambda loop, name: loop.stack.names.address(name, loop.node)),
    (socket, "gethostname", lambda loop: loop.name),
    (socket, "getfqdn", lambda loop, name="": name or loop.name),
    (socket.socket, "__init__", sockets.make),
    (socket, "socketpair", sockets.pair),
    (socket.socket, "bind", sockets.bind),
    (socket.socket, "setsockopt", sockets.set_option),
    (socket.socket, "getsockopt", sockets.get_option),
    (socket.socket, "connect", sockets.connect_now),
    (socket.socket, "listen", sockets.nothing),
    (socket.socket, "setblocking", sockets.nothing),
    (socket.socket, "settimeout", sockets.nothing),
    (socket.socket, "set_inheritable", sockets.set_inheritable),
    (socket.socket, "get_inheritable", sockets.get_inheritable),
    (socket.socket, "getsockname", sockets.name),
    (socket.socket, "getpeername", sockets.peer),
    (socket.socket, "close", sockets.close),
    *(
        (socket.socket, name, _refused("a real socket", "use asyncio's streams or create_datagram_endpoint"))
        for name in ("connect_ex", "accept", "recv", "send", "sendall", "recvfrom", "sendto")
    ),
    (subprocess.Popen, "__init__", _refused("a subprocess", "run its work as a coroutine, or as a node of its own")),
    (threading.Thread, "start", _refused("a thread", "use asyncio.create_task")),
    *((os, name, _refused(f"os.{name}", "run its work as a coroutine, or as a node of its own")) for name in PROCESSES),
    (threading.Condition, "wait", _blocks("waiting for a thread", "use asyncio.Event, Condition or Queue")),
    (threading.Thread, "join", _blocks("waiting for a thread", "use await on a task")),
    *((select, name, _blocks(f"select.{name}", "use asyncio's streams")) for name in ("select", "poll", "epoll")),
    (builtins, "input", _blocks("input()", "give the program what it needs as a parameter (node.params)")),
]

INHERITED: Any = object()
_users = 0
_undo: list[tuple[Any, str, Any]] = []


def _stand_in(real: Answer, answer: Answer) -> Answer:
    @wraps(real)
    def either(*args: Any, **options: Any) -> Any:
        loop = _running()
        if isinstance(loop, NetworkedLoop):
            return answer(loop, *args, **options)
        return real(*args, **options)

    return either


class World:
    """The stand-ins, for as long as one run goes on. Several runs may overlap."""

    def __init__(self) -> None:
        global _users
        self._left, self._watch = False, Watch()
        _users += 1
        if _users == 1:
            _enter()

    def leave(self) -> None:
        """The run is over. May be called twice."""
        global _users
        if self._left:
            return
        self._left = True
        self._watch.end()
        _users -= 1
        if _users == 0:
            while _undo:
                owner, name, value = _undo.pop()
                if value is INHERITED:
                    delattr(owner, name)
                else:
                    setattr(owner, name, value)


def _enter() -> None:
    stand_ins: dict[int, Answer] = {}
    for owner, name, answer in ANSWERS:
        if (real := getattr(owner, name, None)) is None:
            continue
        stand_in = _stand_in(real, answer)
        _put(owner, name, stand_in)
        if not isinstance(owner, type):
            stand_ins[id(real)] = stand_in
    _put(random.Random, "seed", _seed(random.Random.seed))
    _put(logging, "_logRecordFactory", _record_of_node(logging.getLogRecordFactory()))
    for module in list(sys.modules.values()):
        if isinstance(module, types.ModuleType) and not module.__name__.startswith("causeway"):
            _replace_in(module, stand_ins)


def _replace_in(module: types.ModuleType, stand_ins: dict[int, Answer]) -> None:
    """`from time import time` has its own name for it."""
    for name, value in list(vars(module).items()):
        if callable(value) and id(value) in stand_ins:
            _put(module, name, stand_ins[id(value)])


def _put(owner: Any, name: str, value: Any) -> None:
    _undo.append((owner, name, vars(owner).get(name, INHERITED)))
    setattr(owner, name, value)
