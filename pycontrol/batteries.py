"""The accounts of batteries (`network/battery.py`) in a run, in whole yoctojoules: what 1 pW is in 1 ps.

`Accounts` takes the place of some methods of a PerNode: it sees all packets that a node sends or receives, and all its
failures and recoveries. Between them it draws a constant power, so the instant is known at which its battery is empty
if no packet comes. A timer is set for that instant or, so that not every packet must set it again, half-way there.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from causeway.bridge.events import Kind, unpack_position
from causeway.errors import UserError
from causeway.network.battery import MOST, Battery
from causeway.network.field_shapes import is_number
from causeway.network.workload import LATEST_PS
from causeway.pycontrol.protocol_errors import Misuse, misuse
from causeway.pycontrol.repeated import NEVER_AGAIN, Repeated

if TYPE_CHECKING:
    from causeway.pycontrol.node import PerNode

J, W = 10**24, 10**12
"""The yoctojoules of a joule and the picowatts of a watt."""
SOON_PS = 10**11
"""The timer is set half-way as long as it is due later than this."""
ARRIVAL, NODE, STATION = int(Kind.ARRIVAL), int(Kind.NODE), int(Kind.STATION)
Row = tuple[int, int, int, int, int]


@lru_cache(1024)
def _whole(value: float, unit: int) -> int:
    """Return a number of joules or watts as printed, in whole units: 0.3 J are three times 0.1 J."""
    return round(Fraction(str(float(value))) * unit)


class BatteryState:
    """The battery of a node, as `self.battery` returns it."""

    __slots__ = (
        "_accounts", "_at_ps", "_due_ps", "_job", "_left", "_load_w", "_node", "_place", "_up", "_used", "battery"
    )  # fmt: skip

    def __init__(self, battery: Battery, up: bool, node: int, accounts: Accounts) -> None:
        self.battery = battery
        self._up, self._node, self._accounts = up, node, accounts
        self._left, self._used, self._load_w = _whole(battery.capacity_j, J), 0, 0.0
        self._at_ps, self._due_ps = 0, LATEST_PS
        self._place: tuple[int, tuple[int, ...]] | None = None  # the last reported position, and its time
        self._job = Repeated(SOON_PS, lambda _: accounts.due(self), 0, node)

    @property
    def left_j(self) -> float:
        """The energy in the battery, in joules."""
        self._advance()
        return self._left / J

    @property
    def used_j(self) -> float:
        """The energy that the node has drawn so far, in joules."""
        self._advance()
        return self._used / J

    @property
    def load_w(self) -> float:
        """The power that the node draws from now on besides `idle_w`, in watts: of the motors of a drone, for example.

        It is 0 at the beginning and after a failure.
        """
        return self._load_w

    @load_w.setter
    def load_w(self, watts: float) -> None:
        if not is_number(watts) or not 0 <= watts <= MOST:
            raise misuse("battery", "load_w", watts, f"a number, 0 to {MOST:g}")
        self._advance()
        self._load_w = watts
        self._accounts.plan(self)

    def _power(self) -> int:
        return _whole(self.battery.idle_w, W) + _whole(self._load_w, W) if self._up else 0

    def _draw(self, energy: int) -> None:
        energy = min(energy, self._left)
        self._left, self._used = self._left - energy, self._used + energy

    def _advance(self) -> None:
        """Draw the node's power up to now, and record the series."""
        runtime = self._accounts.runtime
        power, every, now_ps = self._power(), self.battery.series_every_ps, runtime.now_ps
        while every and (next_ps := (self._at_ps // every + 1) * every) <= now_ps:
            self._draw(power * (next_ps - self._at_ps))
            runtime.context.record(f"node[{self._node}]", "joules", next_ps, self._used / J)
            self._at_ps = next_ps
        self._draw(power * (now_ps - self._at_ps))
        self._at_ps = now_ps

    def _empty_ps(self) -> int:
        """Return the instant at which the battery is empty if no packet comes."""
        power = self._power()
        if self._left == 0:
            return self._at_ps
        return min(LATEST_PS, self._at_ps - (-self._left // power)) if power else LATEST_PS


def begin(runtime: PerNode) -> dict[int, BatteryState]:
    """Give the nodes of a run their batteries, if its network has any, and return these.

    Raises:
        UserError: The protocol declares arrivals or positions passive, so that no node can fail because of one, or
            nodes pay for their movement and positions are not reported.
    """
    network: Any = runtime.context.network
    if getattr(network, "battery", None) is None:
        return {}
    moves = any(one.move_w or one.move_j_per_m for one in network.batteries.values())
    if moves and not getattr(network, "position_every_ps", 0):
        raise UserError(
            "Battery: move_w and move_j_per_m need reports of positions; use a MobileNetwork with position_every_ps, "
            "as in position_every_ps=ms(100)"
        )
    if passive := {Kind.ARRIVAL, Kind.NODE, *((Kind.STATION,) if moves else ())} & set(runtime.passive):
        what = "positions" if passive == {Kind.STATION} else "arrivals"
        raise UserError(f"{type(runtime).__name__} declares {what} passive, so its nodes cannot have batteries")
    return Accounts(runtime, network.batteries).of


class Accounts:
    """The batteries of a run."""

    def __init__(self, runtime: PerNode, batteries: dict[int, Battery]) -> None:
        """Take the place of the methods of a protocol that draw energy."""
        self.runtime, self._sizes, self._emptied = runtime, dict[int, int](), set[int]()
        self.of = {
            node: BatteryState(one, runtime._presence.comings.get(node, 1) > 0, node, self)
            for node, one in batteries.items()
        }
        self._begin, self._send, self._scalars = runtime._begin, runtime.send, runtime.scalars
        handle, changed = runtime._handle, vars(runtime)
        changed.update(_begin=self.begin, send=self.send, scalars=self.scalars)
        changed.update(_handle=lambda rows: handle(self.rows(rows)))
        changed.update(declare_lookahead=lambda *_: None)  # any packet may be the last

    # ---- in place of methods of the protocol ----------------------------------------------------------------------
    def begin(self, node: int) -> None:
        """Start a node."""
        self._begin(node)
        if node in self.of:
            self.plan(self.of[node])

    def send(self, node: int, peer: int, content: Any, size_bytes: int, *more: int) -> int:
        """Send a packet that the node's battery can pay, and return its id; -1: it is not sent."""
        state = self.of.get(node)
        if state is not None and isinstance(size_bytes, int | np.integer):
            per_byte = _whole(state.battery.send_j_per_byte, J)
            if not self._pays(state, _whole(state.battery.send_j, J) + per_byte * int(size_bytes)):
                return -1
        packet = self._send(node, peer, content, size_bytes, *more)
        self._sizes[packet] = int(size_bytes)
        return packet

    def rows(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Yield the events of a window, except for packets that a battery cannot pay."""
        for row in rows:
            kind, time_ps, node, packet, up = row
            state = self.of.get(node)
            if state is None or kind not in (ARRIVAL, NODE, STATION):
                yield row
                continue
            self.runtime.now_ps, self.runtime.acting = time_ps, self.runtime.nodes[node]
            if kind == STATION:
                self._move(state, (*unpack_position(packet), self.runtime._heights.get((time_ps, node), 0)))
                yield row
                continue
            if kind == NODE:
                self._switch(state, bool(up))
                yield row
                self.plan(state)
                continue
            per_byte = _whole(state.battery.receive_j_per_byte, J)
            if self._pays(state, _whole(state.battery.receive_j, J) + per_byte * self._sizes.get(packet, 0)):
                yield row
            else:
                self.runtime._kept.arrived(packet, node, time_ps)
        kept = self.runtime._kept.packets
        if len(self._sizes) > 2 * len(kept) + 1000:
            self._sizes = {packet: self._sizes[packet] for packet in kept if packet in self._sizes}

    def scalars(self) -> dict[str, float]:
        """Return the scalars of the protocol, with the joules of all nodes; record those of each node."""
        for node, state in self.of.items():
            self.runtime.context.scalars[f"node[{node}]", "joules"] = state.used_j
        used = sum(state._used for state in self.of.values()) / J
        return {**self._scalars(), "joules": used, "empty_batteries": float(len(self._emptied))}

    # ---- inside ---------------------------------------------------------------------------------------------------
    def _pays(self, state: BatteryState, cost: int) -> bool:
        """Draw the energy of a packet. Return false if the battery has too little."""
        state._advance()
        left = state._left
        state._draw(cost)
        if cost or left == 0:
            self.plan(state)
        return cost <= left > 0

    def _move(self, state: BatteryState, place: tuple[int, ...]) -> None:
        """Draw the energy of the way since the last report."""
        state._advance()
        before, state._place = state._place, (self.runtime.now_ps, place)
        if before is None or before[1] == place:
            return
        way_mm = math.isqrt(sum((a - b) ** 2 for a, b in zip(before[1], place, strict=True)))
        power, per_m = _whole(state.battery.move_w, W), _whole(state.battery.move_j_per_m, J)
        if cost := power * (self.runtime.now_ps - before[0]) + per_m * way_mm // 1000:
            state._draw(cost)
            self.plan(state)

    def _switch(self, state: BatteryState, up: bool) -> None:
        state._advance()
        state._place = None
        if up and not state._up and state._node in self.runtime._presence.comings:  # a new process has a new battery
            state._left = _whole(state.battery.capacity_j, J)
        state._up, state._due_ps, state._load_w = up, LATEST_PS, 0.0

    def due(self, state: BatteryState) -> int:
        """Look at a battery whose timer is due."""
        state._due_ps = LATEST_PS
        state._advance()
        self.plan(state)
        return NEVER_AGAIN

    def plan(self, state: BatteryState) -> None:
        """Make the node fail if its battery is empty. Otherwise set its timer, unless that is due early enough."""
        runtime, node, empty_ps = self.runtime, state._node, state._empty_ps()
        if not state._up or empty_ps >= state._due_ps:
            return
        if state._left == 0:
            state._due_ps = 0
            self._emptied.add(node)
            runtime.switch(node, False)
            return
        reaction_ps = runtime.context.reaction_ps
        wait_ps = max(reaction_ps, empty_ps - runtime.now_ps)
        wait_ps = wait_ps // 2 if wait_ps > 2 * max(SOON_PS, reaction_ps) else wait_ps
        state._due_ps = runtime.now_ps + wait_ps
        runtime.set_timer(node, state._job, wait_ps - reaction_ps)


def battery_of(runtime: Any, node: int) -> BatteryState:
    """Return the battery of a node.

    Raises:
        Misuse: The node has none.
    """
    states: dict[int, BatteryState] = getattr(runtime, "_batteries", {})
    if node not in states:
        raise Misuse(
            f"battery: node {node} has no battery; give its network one, as in AbstractNetwork(5, "
            "battery=Battery(10.0, idle_w=0.1))"
        )
    return states[node]
