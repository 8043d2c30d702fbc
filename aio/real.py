"""Run the file of a study as real processes, one for each node, with real sockets on loopback.

Node n has the n-th address from 127.77.0.1 on; its name and its simulated address can be used, too. A wildcard address
becomes the node's own address, so all nodes can use the same ports. Time is real, and no packet is lost. `deliver` and
`record` print lines of JSON.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from causeway.aio.names import BROADCASTS, WILDCARDS, address_of, name_of, port_number
from causeway.aio.study import ProgramStudy
from causeway.deprecated import warn
from causeway.errors import UserError

MOST_PROCESSES = 64
GRACE_S = 2.0


def loopback_of(node: int) -> str:
    """Return the loopback address of a node: 127.77.x.y."""
    return "127.77." + address_of(node).split(".", 2)[2]


class LoopbackNames:
    """Translates names and addresses of the simulation to loopback; refuses all others."""

    def __init__(self, me: int, nodes: int) -> None:
        self.own, self.nodes = loopback_of(me), nodes
        self._known = {name_of(n): loopback_of(n) for n in range(nodes)}
        self._known |= {address_of(n): loopback_of(n) for n in range(nodes)}
        self._known |= {loopback_of(n): loopback_of(n) for n in range(nodes)}

    def __call__(self, host: Any) -> str:
        """Return the loopback address of a host."""
        host = host.decode("ascii") if isinstance(host, bytes) else host
        if host is None or host in WILDCARDS or host in ("localhost", "127.0.0.1"):
            return self.own
        if host not in self._known:
            raise socket.gaierror(socket.EAI_NONAME, f"no '{host}' here: --real has node0 to {name_of(self.nodes - 1)}")
        return self._known[host]

    def end(self, addr: Any) -> tuple[str, int] | None:
        """Return an (address, port) pair translated to loopback; None for None."""
        return (self(addr[0]), port_number(addr[1])) if addr else None


class LoopbackTransport(asyncio.DatagramTransport):
    """A real UDP transport that accepts the simulation's addresses."""

    def __init__(self, inner: Any, names: LoopbackNames, broadcasts: bool) -> None:
        super().__init__()
        self._inner, self._names, self._broadcasts = inner, names, broadcasts

    def sendto(self, data: Any, addr: Any = None) -> None:
        """Send a datagram to one node, or to all for a broadcast address."""
        if addr is None:
            self._inner.sendto(data)
        elif addr[0] not in BROADCASTS:
            self._inner.sendto(data, self._names.end(addr))
        elif not self._broadcasts:
            self._inner.get_protocol().error_received(PermissionError(13, "broadcast needs allow_broadcast=True"))
        else:
            for node in range(self._names.nodes):
                self._inner.sendto(data, (loopback_of(node), addr[1]))

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """Return information about the real transport."""
        return self._inner.get_extra_info(name, default)

    def is_closing(self) -> bool:
        """Return whether the transport is closing."""
        return self._inner.is_closing()

    def close(self) -> None:
        """Close the transport."""
        self._inner.close()

    def abort(self) -> None:
        """Close the transport at once."""
        self._inner.abort()


class _WrappedProtocol:
    """A wrapper of a protocol, which gets a LoopbackTransport instead of the real transport."""

    def __init__(self, protocol: Any, names: LoopbackNames, broadcasts: bool) -> None:
        self.protocol, self._names, self._broadcasts = protocol, names, broadcasts
        self.transport: LoopbackTransport | None = None

    def connection_made(self, transport: Any) -> None:
        self.transport = LoopbackTransport(transport, self._names, self._broadcasts)
        self.protocol.connection_made(self.transport)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.protocol, name)


AnyLoop: Any = asyncio.SelectorEventLoop


class LoopbackLoop(AnyLoop):
    """asyncio's own loop, with translated addresses."""

    def __init__(self, names: LoopbackNames) -> None:
        super().__init__()
        self.names = names

    async def getaddrinfo(self, host: Any, port: Any, **options: Any) -> Any:
        """Resolve a name of the simulation."""
        return await super().getaddrinfo(self.names(host), port, **options)

    async def create_datagram_endpoint(
        self, protocol_factory: Callable[[], Any], local_addr: Any = None, remote_addr: Any = None, **options: Any
    ) -> tuple[Any, Any]:
        """Open a UDP socket on the node's loopback address."""
        local = self.names.end(local_addr) or (self.names.own, 0)
        broadcasts = bool(options.pop("allow_broadcast", False))
        _, outer = await super().create_datagram_endpoint(
            lambda: _WrappedProtocol(protocol_factory(), self.names, broadcasts),
            local,
            self.names.end(remote_addr),
            **options,
        )
        return outer.transport, outer.protocol

    async def create_connection(
        self, protocol_factory: Any, host: Any = None, port: Any = None, *, local_addr: Any = None, **options: Any
    ) -> Any:
        """Connect a stream from the node's loopback address."""
        local = self.names.end(local_addr) or (self.names.own, 0)
        return await super().create_connection(
            protocol_factory, self.names(host), port_number(port), local_addr=local, **options
        )

    async def create_server(self, protocol_factory: Any, host: Any = None, port: Any = None, **options: Any) -> Any:
        """Listen on the node's loopback address."""
        host = host[0] if isinstance(host, list | tuple) and host else host
        return await super().create_server(protocol_factory, self.names(host), port, **options)


class RealNode:
    """The argument of `main` in a real process: a ProgramNode (causeway.aio.program_node) without a simulation."""

    life, place = 0, None

    def __init__(self, id_: int, nodes: int, params: Any) -> None:
        self.id, self.nodes, self.params = id_, nodes, params
        self.name, self.address = name_of(id_), loopback_of(id_)
        self.store: dict[Any, Any] = {}
        self._broadcasts = 0

    def address_of(self, node: int) -> str:
        """Return the loopback address of another node."""
        return loopback_of(node)

    def _report(self, what: str, **values: Any) -> None:
        print(json.dumps({"node": self.id, "time": round(time.time(), 6), "what": what, **values}), flush=True)

    async def asked(self) -> tuple[int, int]:
        """Wait for ever, since there is no workload."""
        return await asyncio.get_running_loop().create_future()

    def broadcast(self) -> int:
        """Print a broadcast; the former name of `new_message`."""
        warn("broadcast", "new_message")
        return self.new_message()

    def new_message(self) -> int:
        """Print a broadcast and return an id for it that no other node uses."""
        message = self._broadcasts * self.nodes + self.id
        self._broadcasts += 1
        self._report("broadcast", message=message)
        return message

    def deliver(self, message: int) -> None:
        """Print a delivery."""
        self._report("deliver", message=message)

    def record(self, name: str, value: float) -> None:
        """Print a sample."""
        self._report("record", name=name, value=value)


def run_one(file: str, id_: int, nodes: int, settings: Mapping[str, str]) -> None:
    """Run the program of one node in this process."""
    study, params = _load(file, nodes, settings)
    names = LoopbackNames(id_, nodes)
    with asyncio.Runner(loop_factory=lambda: LoopbackLoop(names)) as runner:
        result = runner.run(study.program()(RealNode(id_, nodes, params)))  # type: ignore[arg-type]
    if result is not None:
        print(f"main returned {result!r}", flush=True)


def _load(file: str, nodes: int, settings: Mapping[str, str]) -> tuple[ProgramStudy, Any]:
    from causeway.studies import registry
    from causeway.studies.parameters import make_params

    study = registry.get(file)
    if not isinstance(study, ProgramStudy):
        raise UserError(f"{file} has no ProgramStudy; only programs can run as real processes (--real)")
    return study, make_params(study, {**settings, "nodes": nodes})


def run_processes(file: str, nodes: int, settings: Mapping[str, str], seconds: float) -> int:
    """Run all nodes as processes. Return 1 if any of them failed within the time, else 0."""
    if not 1 <= nodes <= MOST_PROCESSES:
        raise UserError(f"--real is {nodes}; allowed: 1 to {MOST_PROCESSES} processes")
    _load(file, nodes, settings)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "causeway.aio.real", json.dumps([file, id_, nodes, dict(settings)])],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment, start_new_session=True,
        )
        for id_ in range(nodes)
    ]  # fmt: skip
    readers = [threading.Thread(target=_pass_on, args=pair, daemon=True) for pair in enumerate(processes)]
    for reader in readers:
        reader.start()
    try:
        return _wait(processes, time.monotonic() + seconds)
    finally:
        _stop(processes)
        for reader in readers:
            reader.join(GRACE_S)


def _pass_on(id_: int, process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        print(f"{name_of(id_)}: {line}", end="", flush=True)


def _wait(processes: list[subprocess.Popen[str]], until: float) -> int:
    """Wait until all processes have ended, one has failed, or the time is over. Return the exit status."""
    while time.monotonic() < until:
        statuses = [process.poll() for process in processes]
        failed = [(id_, status) for id_, status in enumerate(statuses) if status]
        if failed:
            id_, status = failed[0]
            print(f"causeway: the process of {name_of(id_)} ended with status {status}", file=sys.stderr)
            return 1
        if all(status == 0 for status in statuses):
            return 0
        time.sleep(0.05)
    running = [name_of(id_) for id_, process in enumerate(processes) if process.poll() is None]
    print(f"causeway: time is over; still running: {', '.join(running)}", file=sys.stderr)
    return 0


def _stop(processes: list[subprocess.Popen[str]]) -> None:
    for process in processes:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
    deadline = time.monotonic() + GRACE_S
    for process in processes:
        try:
            process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


if __name__ == "__main__":
    run_one(*json.loads(sys.argv[1]))
