"""The same file as real processes: one for each node, real sockets, loopback only.

Node n has the address 127.77.x.y that counts from 127.77.0.1, and its name and its simulated address are understood,
too. A wildcard address is the node's own, so that all nodes can have the same ports. Time is real, nothing is lost.
What a program tells of itself (`deliver`, `record`) is printed as lines of JSON.
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
from causeway.bridge.errors import UserError

MOST_PROCESSES = 64
GRACE_S = 2.0


def loopback_of(node: int) -> str:
    """127.77.x.y"""
    return "127.77." + address_of(node).split(".", 2)[2]


class LoopbackNames:
    """Any name or address of the simulation as one of loopback; everything else is refused."""

    def __init__(self, me: int, nodes: int) -> None:
        self.own, self.nodes = loopback_of(me), nodes
        self._known = {name_of(n): loopback_of(n) for n in range(nodes)}
        self._known |= {address_of(n): loopback_of(n) for n in range(nodes)}
        self._known |= {loopback_of(n): loopback_of(n) for n in range(nodes)}

    def __call__(self, host: Any) -> str:
        host = host.decode("ascii") if isinstance(host, bytes) else host
        if host is None or host in WILDCARDS or host in ("localhost", "127.0.0.1"):
            return self.own
        if host not in self._known:
            raise socket.gaierror(socket.EAI_NONAME, f"no '{host}' here: --real has node0 to {name_of(self.nodes - 1)}")
        return self._known[host]

    def end(self, addr: Any) -> tuple[str, int] | None:
        return (self(addr[0]), port_number(addr[1])) if addr else None


class LoopbackTransport(asyncio.DatagramTransport):
    """A real UDP transport that understands the simulation's addresses."""

    def __init__(self, inner: Any, names: LoopbackNames, broadcasts: bool) -> None:
        super().__init__()
        self._inner, self._names, self._broadcasts = inner, names, broadcasts

    def sendto(self, data: Any, addr: Any = None) -> None:
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
        return self._inner.get_extra_info(name, default)

    def is_closing(self) -> bool:
        return self._inner.is_closing()

    def close(self) -> None:
        self._inner.close()

    def abort(self) -> None:
        self._inner.abort()


class _Introduced:
    """A protocol that is given a LoopbackTransport for its own."""

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
    """asyncio's own loop; only addresses are translated."""

    def __init__(self, names: LoopbackNames) -> None:
        super().__init__()
        self.names = names

    async def getaddrinfo(self, host: Any, port: Any, **options: Any) -> Any:
        return await super().getaddrinfo(self.names(host), port, **options)

    async def create_datagram_endpoint(
        self, protocol_factory: Callable[[], Any], local_addr: Any = None, remote_addr: Any = None, **options: Any
    ) -> tuple[Any, Any]:
        local = self.names.end(local_addr) or (self.names.own, 0)
        broadcasts = bool(options.pop("allow_broadcast", False))
        _, outer = await super().create_datagram_endpoint(
            lambda: _Introduced(protocol_factory(), self.names, broadcasts),
            local,
            self.names.end(remote_addr),
            **options,
        )
        return outer.transport, outer.protocol

    async def create_connection(
        self, protocol_factory: Any, host: Any = None, port: Any = None, *, local_addr: Any = None, **options: Any
    ) -> Any:
        local = self.names.end(local_addr) or (self.names.own, 0)
        return await super().create_connection(
            protocol_factory, self.names(host), port_number(port), local_addr=local, **options
        )

    async def create_server(self, protocol_factory: Any, host: Any = None, port: Any = None, **options: Any) -> Any:
        host = host[0] if isinstance(host, list | tuple) and host else host
        return await super().create_server(protocol_factory, self.names(host), port, **options)


class RealNode:
    """What `main` is given: as causeway.aio.node.ProgramNode, without a simulation."""

    life, place = 0, None

    def __init__(self, id_: int, nodes: int, params: Any) -> None:
        self.id, self.nodes, self.params = id_, nodes, params
        self.name, self.address = name_of(id_), loopback_of(id_)
        self.store: dict[Any, Any] = {}
        self._broadcasts = 0

    def address_of(self, node: int) -> str:
        return loopback_of(node)

    def _tell(self, what: str, **values: Any) -> None:
        print(json.dumps({"node": self.id, "time": round(time.time(), 6), "what": what, **values}), flush=True)

    async def asked(self) -> tuple[int, int]:
        """There is no workload: waits for ever."""
        return await asyncio.get_running_loop().create_future()

    def broadcast(self) -> int:
        """An id that no other node gives."""
        message = self._broadcasts * self.nodes + self.id
        self._broadcasts += 1
        self._tell("broadcast", message=message)
        return message

    def deliver(self, message: int) -> None:
        self._tell("deliver", message=message)

    def record(self, name: str, value: float) -> None:
        self._tell("record", name=name, value=value)


def run_one(file: str, id_: int, nodes: int, settings: Mapping[str, str]) -> None:
    """One process."""
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
        raise UserError(f"{file} is no ProgramStudy, so there is nothing to run for real")
    return study, make_params(study, {**settings, "nodes": nodes})


def run_processes(file: str, nodes: int, settings: Mapping[str, str], seconds: float) -> int:
    """All processes, for so long at most; 0 if every one of them ended well or was still running at the end."""
    if not 1 <= nodes <= MOST_PROCESSES:
        raise UserError(f"--real {nodes}: give 1 to {MOST_PROCESSES} processes")
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
    """Ends when all have ended, one has failed, or the time is over."""
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
