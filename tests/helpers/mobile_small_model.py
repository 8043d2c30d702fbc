"""Exhaustive search of two stations and two hosts: copies on the channel, wires, the application, one loss.

A choice is to let one copy on the air arrive (in any order), lose it (as often as the budget allows), let the head of a
wire arrive, or let the application act. Only when nothing is on its way the next timer is due: what lies between two
timers takes no time. States that were seen before, from whatever history, are not explored again.
"""

from __future__ import annotations

import pickle
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from causeway.bridge.events import Act, Kind, pack_position
from causeway.network.networks import WIRE, WIRELESS
from causeway.pycontrol.node import Node
from causeway.pycontrol.protocol import Context
from causeway.pycontrol.protocols.mobile import Host, Station
from causeway.studies.mobile20.exploration import SteadyTiming
from tests.helpers.mobile_model import REACTION_PS, Steps, Verdict

COMMON = frozenset({"runtime", "handoff", "timing", "meter", "random", "SBuffer"})

Choice = tuple[Any, ...]
Action = tuple[str, int, int]
"""The actions of the application: (kind, host, station); a kind is broadcast, move, fail or recover."""


class NoMeter:
    """A meter that counts nothing."""

    clock: Any = None

    def nothing(self, *_: Any) -> None:
        pass

    sent = arrived = heard = addressed = lost = broadcast = delivered = moved = handed_off = handoff_done = nothing


@dataclass
class SmallModel:
    """Two stations, a wire, and hosts that are each in the cell of one station."""

    actions: list[Action]
    losses: int = 0
    early_timers: int = 0
    """The number of timers that may fire before the application has done all its actions."""
    places: dict[int, int] = field(default_factory=dict)
    down: set[int] = field(default_factory=set)
    now_ps: int = 0
    timers_fired: int = 0
    air: list[tuple[int, int, Any]] = field(default_factory=list)
    """(sender, receiver, content)"""
    wires: dict[tuple[int, int], deque[Any]] = field(default_factory=dict)
    timers: dict[int, tuple[int, int]] = field(default_factory=dict)
    verdict: Verdict = field(default_factory=Verdict)

    @classmethod
    def begin(
        cls, places: dict[int, int], actions: list[Action], losses: int, early_timers: int, ack_intervals: bool = False
    ) -> SmallModel:
        """Begin with all hosts established and no packet in flight."""
        model = cls([], early_timers=1000)
        model.wires = {(0, 1): deque(), (1, 0): deque()}
        timing, meter = SteadyTiming(ack_intervals=ack_intervals), NoMeter()

        def make(id_: int) -> Node:
            if id_ < 2:
                return Station(timing, meter, [1 - id_])  # type: ignore[arg-type]
            return Host(timing, meter, joins_by_itself=False)  # type: ignore[arg-type]

        model.protocol = Steps(make)
        model._run(lambda: model.protocol.start(Context(2 + len(places), 1, REACTION_PS)))
        model.protocol.make = None  # type: ignore[assignment]
        for node in model.protocol.nodes:
            node.random = None  # type: ignore[attr-defined]
        for host, station in places.items():
            model._act(("move", host, station))
            model._run(model.protocol.nodes[host].Join)
        while choices := model.choices():
            if choices[0][0] == "timer" and all(h.state.value == "estab" for h in model.protocol.nodes[2:]):
                break
            model.take(choices[0])
        model.actions, model.losses, model.early_timers, model.timers_fired = list(actions), losses, early_timers, 0
        return model

    # ---- choices --------------------------------------------------------------------------------------------------
    def choices(self) -> list[Choice]:
        """Return all events that can happen next."""
        found: list[Choice] = [("air", i) for i in range(len(self.air))]
        found += [("wire", *wire) for wire, packets in self.wires.items() if packets]
        if not found and (not self.actions or self.timers_fired < self.early_timers) and self.timers:
            found.append(("timer",))
        if self.losses:
            found += [("lose", i) for i in range(len(self.air))]
        if self.actions:
            found += [("act", i) for i in range(len(self.actions)) if self._may_act(i)]
        return found

    def _may_act(self, i: int) -> bool:
        """Actions of one host keep their order."""
        return all(before[1] != self.actions[i][1] for before in self.actions[:i])

    def take(self, choice: Choice) -> None:
        """Execute an event."""
        match choice:
            case ("air", i):
                sender, receiver, content = self.air.pop(i)
                self._run(lambda: self.protocol.nodes[receiver].on_packet(content, sender, WIRELESS))
            case ("lose", i):
                self.air.pop(i)
                self.losses -= 1
            case ("wire", sender, receiver):
                content = self.wires[sender, receiver].popleft()
                self._run(lambda: self.protocol.nodes[receiver].on_packet(content, sender, WIRE))
            case ("timer",):
                self._fire()
            case ("act", i):
                self._act(self.actions.pop(i))

    def _fire(self) -> None:
        timer = min(self.timers, key=lambda t: (self.timers[t], t))
        self.now_ps = max(self.now_ps, self.timers[timer][0])
        _, node = self.timers.pop(timer)
        self.timers_fired += 1
        self._run(lambda: self.protocol._handle([(Kind.TIMER, self.now_ps, node, timer, 0)]))

    def _act(self, action: Action) -> None:
        what, host, station = action
        if what in ("move", "fail"):  # what is on the air from or to the host is lost
            self.air = [copy for copy in self.air if host not in copy[:2]]
        if what == "move":
            self.places[host] = station
            self._run(lambda: self.protocol._handle([(Kind.STATION, self.now_ps, host, pack_position(0, 0), station)]))
        elif what == "broadcast":
            self._run(lambda: self.protocol._handle([(Kind.BROADCAST, self.now_ps, host, 0, 100)]))
        else:
            up = what == "recover"
            (self.down.discard if up else self.down.add)(host)
            self._run(lambda: self.protocol._handle([(Kind.NODE, self.now_ps, host, 0, int(up))]))

    def _run(self, do: Any) -> None:
        actions, log = self.protocol.step(self.now_ps, do)
        for op, time_ps, node, message in log:
            self.verdict.add(op, time_ps, node, message)
        for kind, time_ps, node, ref, peer, _, interface, _ in actions:
            if kind == Act.SEND:
                self._send(node, peer, interface, self.protocol._kept.packets.pop(ref)[0])
            elif kind == Act.SET_TIMER:
                self.timers[ref] = (time_ps, node)
            elif kind == Act.CANCEL_TIMER:
                self.timers.pop(ref, None)
        self.protocol._kept._ends.clear()

    def _send(self, node: int, peer: int, interface: int, content: Any) -> None:
        if interface == WIRE:
            self.wires[node, peer].append(content)
        elif node < 2:
            here = [h for h, station in self.places.items() if station == node and h not in self.down]
            self.air += [(node, host, content) for host in here]
        else:
            self.air.append((node, self.places[node], content))

    # ---- states ---------------------------------------------------------------------------------------------------
    def key(self) -> int:
        """Return a value that is equal for states with equal futures and verdicts."""
        names = {timer: key for key, timer in self.protocol.timers.items()}
        return hash((
            tuple(sorted(repr(copy) for copy in self.air)),
            repr(list(self.wires.values())),
            tuple(sorted(repr((due, names.get(t))) for t, (due, _) in self.timers.items())),
            repr([_facts(node) for node in self.protocol.nodes]),
            repr((self.places, self.down, self.actions, self.losses, self.now_ps)),
            self.timers_fired if self.actions else 0,
            repr((self.verdict.known, self.verdict.delivered, self.verdict.owed, self.verdict.past)),
        ))  # fmt: skip

    def finished(self) -> bool:
        """Return True if no event is left and no node keeps a message."""
        stations, hosts = self.protocol.nodes[:2], self.protocol.nodes[2:]
        return (
            not self.actions
            and not self.air
            and not any(self.wires.values())
            and not any(len(s.SBuffer) for s in stations)  # type: ignore[attr-defined]
            and all(h.state.value == "estab" and not h.SBuffer for h in hosts)  # type: ignore[attr-defined]
        )

    def problems(self) -> list[str]:
        """Return the violation at the end."""
        found = self.verdict.problems + self.verdict.missing()
        for station in self.protocol.nodes[:2]:
            for host, h in station.h.items():  # type: ignore[attr-defined]
                if h.H_lock or self.places[host] != station.id:
                    found.append(f"station {station.id} still keeps {h} of host {host}")
        return found


def _facts(node: Any) -> Any:
    """Return a node's state, without shared objects and references back to the model."""
    buffer = node.SBuffer
    facts = {k: v for k, v in vars(node).items() if k not in COMMON}
    return facts, list(buffer) if isinstance(node, Station) else buffer, getattr(buffer, "seq_C", 0)


@dataclass
class Explored:
    """The result of an exploration."""

    states: int = 0
    ends: int = 0
    deepest: int = 0
    problems: list[str] = field(default_factory=list)


def explore(model: SmallModel, most_timers: int = 60, most_states: int = 2_000_000) -> Explored:
    """Visit all reachable states; stop at the first violation."""
    seen: set[int] = set()
    result = Explored()
    stack = [(pickle.dumps(model), ())]
    while stack:
        saved, path = stack.pop()
        for choice in pickle.loads(saved).choices():
            state: SmallModel = pickle.loads(saved)
            state.take(choice)
            done = state.finished()
            found = state.problems() if done else list(state.verdict.problems)
            if state.timers_fired > most_timers:
                found.append("it never ends")
            if found:
                result.problems = [*found, f"after {[*path, choice]}"]
                return result
            key = state.key()
            if key in seen:
                continue
            seen.add(key)
            result.states += 1
            result.deepest = max(result.deepest, len(path) + 1)
            assert result.states < most_states, "too many states"
            if done:
                result.ends += 1
            else:
                stack.append((pickle.dumps(state), (*path, choice)))
    return result
