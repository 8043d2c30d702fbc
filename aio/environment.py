"""The environment of a program while its node runs: the clocks, random numbers and names of the simulation.

While a simulated loop runs in this thread, the functions of `causeway.pycontrol.answers` use its clock and its random
numbers. The functions below, for names and sockets, are only for programs.
"""

from __future__ import annotations

import contextlib
import logging
import socket
from asyncio import events
from collections.abc import Callable
from typing import Any

from causeway.aio import sockets
from causeway.aio.networked import NetworkedLoop
from causeway.aio.program_node import NodeLoop
from causeway.aio.watch import Watch
from causeway.pycontrol import answers, confined
from causeway.pycontrol.confined import Row


def _loop() -> NetworkedLoop | None:
    """Return the simulated loop that runs in this thread."""
    loop = events._get_running_loop()
    return loop if isinstance(loop, NetworkedLoop) else None


def _record_of_node(real: Callable[..., logging.LogRecord]) -> Callable[..., logging.LogRecord]:
    """Return a factory of log records that begin with the node's name and simulated time.

    The attributes `node` and `sim_s` of a record contain the two separately.
    """

    def record(*args: Any, **options: Any) -> logging.LogRecord:
        made: Any = real(*args, **options)
        loop = _loop()
        made.node, made.sim_s = (loop.name, loop.time()) if isinstance(loop, NodeLoop) else ("", -1.0)
        if made.node:
            made.msg = f"[{made.node} {made.sim_s:.6f} s] " + str(made.msg)
        return made

    return record


PROGRAMS_ONLY = [
    Row(socket, "getaddrinfo", lambda loop, *args, **opts: loop.stack.names.getaddrinfo(loop.node, *args, **opts)),
    Row(socket, "getnameinfo", lambda loop, addr, flags: loop.stack.names.getnameinfo(loop.node, addr, flags)),
    Row(socket, "gethostbyname", lambda loop, name: loop.stack.names.address(name, loop.node)),
    Row(socket, "getfqdn", lambda loop, name="": name or loop.name),
    Row(socket.socket, "__init__", sockets.make),
    Row(socket, "socketpair", sockets.pair),
    Row(socket.socket, "bind", sockets.bind),
    Row(socket.socket, "setsockopt", sockets.set_option),
    Row(socket.socket, "getsockopt", sockets.get_option),
    Row(socket.socket, "connect", sockets.connect_now),
    Row(socket.socket, "listen", sockets.nothing),
    Row(socket.socket, "setblocking", sockets.nothing),
    Row(socket.socket, "settimeout", sockets.nothing),
    Row(socket.socket, "set_inheritable", sockets.set_inheritable),
    Row(socket.socket, "get_inheritable", sockets.get_inheritable),
    Row(socket.socket, "getsockname", sockets.name),
    Row(socket.socket, "getpeername", sockets.peer),
    Row(socket.socket, "close", sockets.close),
    *(
        Row(socket.socket, name, answers.refused("a real socket", "socket"))
        for name in ("connect_ex", "accept", "recv", "send", "sendall", "recvfrom", "sendto")
    ),
]

confined.add_finder(_loop)
confined.add_answers(PROGRAMS_ONLY, _loop)
confined.add_wrapper(logging, "_logRecordFactory", _record_of_node)


class Environment:
    """The substitutes for functions of the process during one run. Several runs may overlap."""

    def __init__(self) -> None:
        with contextlib.ExitStack() as stack:
            stack.callback(Watch().end)
            stack.enter_context(confined.confined())
            self._ends = stack.pop_all()

    def leave(self) -> None:
        """Remove the substitutes at the end of the run. May be called twice."""
        self._ends.close()
