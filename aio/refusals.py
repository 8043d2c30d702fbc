"""Refuse the methods of an event loop that are impossible in simulated time. Every error names an alternative."""

from __future__ import annotations

import functools
from typing import Any

from causeway.pycontrol.outside import outside

DATAGRAMS = "use create_datagram_endpoint, whose packets cross the simulated network"
STREAMS = "use asyncio.open_connection and asyncio.start_server, which cross the simulated network"
EXECUTOR = (
    "there is one thread; await a coroutine, call the function if it is quick, or set executor = 'at once' in the "
    "study to call all such functions directly"
)
SIGNALS = "a simulated node gets no signals; end `main`, or let the study fail the node"


def _refused(what: str, instead: str) -> Any:
    """Return a coroutine method that refuses `what` with any arguments, and names an alternative."""

    async def refuse(self: Any, *args: Any, **options: Any) -> Any:
        raise outside(what, instead)

    return refuse


class Refusals:
    """Methods of AbstractEventLoop that need something outside the simulation. They raise OutsideError."""

    calls_in_place = False
    """True if functions for a thread are called directly. They must not block, and take no simulated time."""

    def run_forever(self) -> None:
        """Refuse the call, since the simulator runs the loop."""
        raise outside("run_forever inside a node", "the simulator runs the loop; await what you wait for")

    def run_until_complete(self, future: Any) -> Any:
        """Refuse the call, since the simulator runs the loop."""
        raise outside("run_until_complete inside a node", "the simulator runs the loop; await the coroutine")

    def stop(self) -> None:
        """Refuse the call, since the simulator runs the loop."""
        raise outside("loop.stop()", "end `main`, or call node.stop() to end the whole run")

    def run_in_executor(self, executor: Any, func: Any, *args: Any) -> Any:
        """Call the function directly if the study allows it; otherwise refuse."""
        if not self.calls_in_place:
            raise outside(f"run_in_executor({_name(func)})", EXECUTOR)
        loop: Any = self
        future = loop.create_future()
        try:
            loop.call_soon(_settle, future.set_result, future, func(*args))
        except Exception as error:
            loop.call_soon(_settle, future.set_exception, future, error)
        return future

    def set_default_executor(self, executor: Any) -> None:
        """Refuse the call, since there is only one thread."""
        raise outside("set_default_executor", EXECUTOR)

    def add_reader(self, fd: Any, callback: Any, *args: Any) -> None:
        """Refuse the call, since simulated sockets have no descriptors."""
        raise outside("add_reader", DATAGRAMS)

    def remove_reader(self, fd: Any) -> bool:
        """Return False, since there is no reader."""
        return False

    def add_writer(self, fd: Any, callback: Any, *args: Any) -> None:
        """Refuse the call, since simulated sockets have no descriptors."""
        raise outside("add_writer", DATAGRAMS)

    def remove_writer(self, fd: Any) -> bool:
        """Return False, since there is no writer."""
        return False

    def add_signal_handler(self, sig: int, callback: Any, *args: Any) -> None:
        """Refuse the call, since a simulated node gets no signals."""
        raise outside(f"add_signal_handler({sig})", SIGNALS)

    def remove_signal_handler(self, sig: int) -> bool:
        """Return False, since there is no handler."""
        return False

    subprocess_exec = subprocess_shell = _refused("a subprocess", "run its work as a coroutine or as a separate node")
    connect_read_pipe = connect_write_pipe = _refused("a pipe", "use an asyncio.Queue")
    create_unix_connection = create_unix_server = _refused("a Unix socket", STREAMS)
    connect_accepted_socket = _refused("connect_accepted_socket", STREAMS)
    start_tls = _refused("TLS", "use plain text inside the simulation (ssl=None)")
    sendfile = _refused("sendfile", "read the file and transport.write() it")

    # Simulated sockets transfer no bytes themselves. Loops with a network have a `sock_connect`.
    sock_connect = _refused("sock_connect", STREAMS)
    sock_accept = _refused("sock_accept", STREAMS)
    sock_recv = _refused("sock_recv", STREAMS)
    sock_recv_into = _refused("sock_recv_into", STREAMS)
    sock_sendall = _refused("sock_sendall", STREAMS)
    sock_sendfile = _refused("sock_sendfile", STREAMS)
    sock_recvfrom = _refused("sock_recvfrom", DATAGRAMS)
    sock_recvfrom_into = _refused("sock_recvfrom_into", DATAGRAMS)
    sock_sendto = _refused("sock_sendto", DATAGRAMS)


def _settle(settle: Any, future: Any, value: Any) -> None:
    if not future.done():
        settle(value)


def _name(func: Any) -> str:
    while isinstance(func, functools.partial):  # asyncio.to_thread wraps the function with its context
        func = func.args[0] if func.args and getattr(func.func, "__name__", "") == "run" else func.func
    return getattr(func, "__qualname__", None) or repr(func)
