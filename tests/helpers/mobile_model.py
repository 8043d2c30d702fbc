"""A small network for the mobile protocol: a lossy, reordering channel; FIFO wires; moves and failures on command.

Deterministic: all chance comes from the `WirelessChannel` it is given. `Verdict` checks what the hosts deliver,
exactly.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from causeway.bridge.events import Act, Kind, pack_position
from causeway.network.networks import WIRE, WIRELESS
from causeway.pycontrol.node import EVERYONE, Node, PerNode
from causeway.pycontrol.protocol import BROADCAST, DELIVER, JOINED, LEFT, Context
from causeway.pycontrol.protocols.mobile import Host, Meter, Station, Timing, tree_neighbours

MS_PS = 10**9
S_PS = 10**12
REACTION_PS = MS_PS // 10
WIRE_PS = 10 * MS_PS


class WirelessChannel:
    """Decides for every copy on the air: lost (None), or how long it travels."""

    def delay_ps(self, content: Any, sender: int, receiver: int) -> int | None:
        return MS_PS

    def wire_ps(self, content: Any, sender: int, receiver: int) -> int:
        return WIRE_PS


@dataclass
class BadChannel(WirelessChannel):
    """Loses and reorders copies at random, until `healed` is set."""

    random: Random
    loss: float = 0.0
    spread_ps: int = MS_PS
    wire_spread_ps: int = 0
    healed: bool = False

    def delay_ps(self, content: Any, sender: int, receiver: int) -> int | None:
        if self.healed:
            return MS_PS
        if self.random.random() < self.loss:
            return None
        return MS_PS + int(self.spread_ps * self.random.random() ** 4)

    def wire_ps(self, content: Any, sender: int, receiver: int) -> int:
        return WIRE_PS if self.healed else WIRE_PS + int(self.wire_spread_ps * self.random.random() ** 4)


@dataclass
class Verdict:
    """Checks causal order (Definition 2), duplicates and owed messages by whole sets. A host that returns is new."""

    problems: list[str] = field(default_factory=list)
    past: dict[int, frozenset[int]] = field(default_factory=dict)
    known: dict[int, set[int]] = field(default_factory=dict)
    delivered: dict[int, set[int]] = field(default_factory=dict)
    owed: dict[int, set[int]] = field(default_factory=dict)
    """Maps members to the messages that were broadcast since they joined."""

    def add(self, op: int, time_ps: int, node: int, message: int) -> None:
        if op == BROADCAST:
            self.past[message] = frozenset(self.known.setdefault(node, set()))
            self.known[node].add(message)
            for owed in self.owed.values():
                owed.add(message)
        elif op == JOINED:
            self.owed[node], self.delivered[node] = set(), set()
        elif op == LEFT:
            self.owed.pop(node, None)
            self.known[node] = set()
        elif op == DELIVER:
            self._deliver(time_ps, node, message)

    def _deliver(self, time_ps: int, node: int, message: int) -> None:
        where = f"t={time_ps / S_PS:.4f}s: host {node} delivers {message}"
        if node not in self.owed:
            self.problems.append(f"{where} without being a member")
            return
        if message in self.delivered[node]:
            self.problems.append(f"{where} again")
        later = [m for m in self.delivered[node] if message in self.past[m]]
        if later:
            self.problems.append(f"{where} after {later}, which it precedes")
        gap = self.past[message] & (self.owed[node] - self.delivered[node])
        if gap:
            self.problems.append(f"{where} before {sorted(gap)}, which precede it")
        self.delivered[node].add(message)
        self.known.setdefault(node, set()).update(self.past[message], {message})

    def missing(self) -> list[str]:
        """Return the messages that are owed and not delivered."""
        lost = {node: sorted(owed - self.delivered[node]) for node, owed in self.owed.items()}
        return [f"host {node} never got {messages}" for node, messages in lost.items() if messages]


class Steps(PerNode):
    """A `PerNode` that is driven one event at a time."""

    def step(self, time_ps: int, do: Callable[[], None]) -> tuple[list[Any], list[Any]]:
        """Run `do` at a time; return the actions and the rows for the observers."""
        self.now_ps = time_ps
        self._actions, self._reported = [], []
        do()
        return self._actions, self._reported

    def note(self, op: int, node: int, message: int) -> None:
        self._reported.append((op, self.now_ps, node, message))


class Model:
    """Stations 0 .. S-1, hosts after. A host's place is the tuple of stations in reach, the nearest first."""

    def __init__(
        self,
        wires: Sequence[tuple[int, int]],
        hosts: int,
        air: WirelessChannel,
        timing: Timing | None = None,
        make_station: type[Station] = Station,
        make_host: type[Host] = Host,
    ) -> None:
        self.stations = len(wires) + 1
        self.air = air
        self.now_ps = 0
        self.verdict = Verdict()
        self.places: dict[int, tuple[int, ...]] = {}
        self.down: set[int] = set()
        self.log: list[str] = []
        self._queue: list[tuple[int, int, int, int, int, int]] = []
        self._order = 0
        self._wire_free: dict[tuple[int, int], int] = {}
        self._cancelled: set[int] = set()
        neighbours, meter, timing = tree_neighbours(self.stations, wires), Meter(), timing or Timing()

        def make(id_: int) -> Node:
            if id_ < self.stations:
                return make_station(timing, meter, neighbours[id_])
            return make_host(timing, meter, joins_by_itself=False)

        self.protocol = Steps(make)
        context = Context(self.stations + hosts, 1, REACTION_PS)
        self._run(lambda: self.protocol.start(context))

    @property
    def host_ids(self) -> range:
        return range(self.stations, len(self.protocol.nodes))

    def host(self, id_: int) -> Any:
        return self.protocol.nodes[id_]

    def station(self, id_: int) -> Any:
        return self.protocol.nodes[id_]

    # ---- commands -------------------------------------------------------------------------------------------------
    def move(self, host: int, *reach: int) -> None:
        """Move a host to a place that these stations reach, the nearest first."""
        self.places[host] = reach
        nearest = reach[0] if reach else -1
        self._event(Kind.STATION, host, pack_position(0, 0), nearest)

    def broadcast(self, host: int) -> None:
        if host not in self.down:
            self._event(Kind.BROADCAST, host, 0, 100)

    def join(self, host: int) -> None:
        if host not in self.down and self.host(host).state.value == "out":
            self._run(self.host(host).Join)

    def leave(self, host: int) -> None:
        if host not in self.down and self.host(host).state.value != "out":
            self._run(self.host(host).Leave)

    def fail(self, host: int) -> None:
        if host not in self.down:
            self._event(Kind.NODE, host, 0, 0)
            self.down.add(host)

    def recover(self, host: int) -> None:
        if host in self.down:
            self.down.discard(host)
            self._event(Kind.NODE, host, 0, 1)

    # ---- running --------------------------------------------------------------------------------------------------
    def run(self, for_ps: int) -> None:
        """Run the model for this time."""
        end_ps = self.now_ps + for_ps
        while self._queue and self._queue[0][0] <= end_ps:
            time_ps, _, kind, node, ref, arg = heapq.heappop(self._queue)
            self.now_ps = time_ps
            if kind == Kind.TIMER and ref in self._cancelled:
                self._cancelled.discard(ref)
            elif node not in self.down and not (kind == Kind.ARRIVAL and not self._reaches(ref, node, arg)):
                self._event(kind, node, ref, arg)
        self.now_ps = end_ps

    def _reaches(self, packet: int, node: int, interface: int) -> bool:
        """Return whether the receiver is still in range."""
        if interface == WIRE:
            return True
        sender = self.protocol.kept_packets[packet][1]
        host, station = max(sender, node), min(sender, node)
        return station in self.places.get(host, ())

    def _event(self, kind: int, node: int, ref: int, arg: int) -> None:
        self._run(lambda: self.protocol._handle([(kind, self.now_ps, node, ref, arg)]))

    def _run(self, do: Callable[[], None]) -> None:
        actions, log = self.protocol.step(self.now_ps, do)
        for op, time_ps, node, message in log:
            self.verdict.add(op, time_ps, node, message)
        for kind, time_ps, node, ref, peer, _, interface, _ in actions:
            if kind == Act.SEND:
                self._send(time_ps, node, ref, peer, interface)
            elif kind == Act.SET_TIMER:
                self._push(time_ps, Kind.TIMER, node, ref, 0)
            elif kind == Act.CANCEL_TIMER:
                self._cancelled.add(ref)

    def _send(self, time_ps: int, node: int, packet: int, peer: int, interface: int) -> None:
        content = self.protocol.kept_packets[packet][0]
        if interface == WIRE:
            wire = (node, peer)
            arrival_ps = max(self._wire_free.get(wire, 0), time_ps + self.air.wire_ps(content, node, peer))
            self._wire_free[wire] = arrival_ps
            self._push(arrival_ps, Kind.ARRIVAL, peer, packet, WIRE)
            return
        assert peer == EVERYONE
        for receiver in self._in_reach(node):
            delay_ps = self.air.delay_ps(content, node, receiver)
            if delay_ps is not None:
                self._push(time_ps + delay_ps, Kind.ARRIVAL, receiver, packet, WIRELESS)

    def _in_reach(self, node: int) -> list[int]:
        if node < self.stations:
            return [h for h, reach in sorted(self.places.items()) if node in reach]
        return list(self.places.get(node, ()))

    def _push(self, time_ps: int, kind: int, node: int, ref: int, arg: int) -> None:
        self._order += 1
        heapq.heappush(self._queue, (time_ps, self._order, kind, node, ref, arg))

    # ---- the end --------------------------------------------------------------------------------------------------
    def heal(self, quiet_ps: int) -> None:
        """Recover all nodes, put all hosts in cells, stop losses, and run for a while."""
        if isinstance(self.air, BadChannel):
            self.air.healed = True
        for host in self.host_ids:
            self.recover(host)
            if not self.places.get(host):
                self.move(host, host % self.stations)
        self.run(quiet_ps)

    def complaints(self) -> list[str]:
        """Return all violations after a quiet time: of deliveries, buffers and connections."""
        found = self.verdict.problems + self.verdict.missing()
        for id_ in range(self.stations):
            station = self.station(id_)
            if len(station.SBuffer):
                found.append(f"station {id_} still keeps {[e.id for e in station.SBuffer]}")
            for host, h in station.h.items():
                if h.H_lock or h.m_nd or h.RBuffer or self.host(host).id_C != id_:
                    found.append(f"station {id_} still keeps {h} of host {host}")
        for id_ in self.host_ids:
            found += self._complaints_of_host(id_)
        return found

    def _complaints_of_host(self, id_: int) -> list[str]:
        host, found = self.host(id_), []
        keepers = [s for s in range(self.stations) if id_ in self.station(s).h]
        wanted = ("estab", self.places[id_][:1]) if host.state.value != "out" else ("out", ())
        if (host.state.value, tuple(keepers)) != wanted:
            found.append(f"host {id_} is {host.state.value} at {self.places[id_]}, kept by {keepers}")
        if host.SBuffer or host.RBuffer or host.RBuffer_Co:
            found.append(f"host {id_} still keeps {host.SBuffer} {host.RBuffer} {host.RBuffer_Co}")
        return found
