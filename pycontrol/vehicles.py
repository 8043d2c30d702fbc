"""Run SUMO beside the network, with a node for each of its vehicles. SUMO is one step ahead of the network.

At the time t of each step, SUMO has computed its state at t, and now computes its state at t + step. From t to t + step
each vehicle moves in a straight line between its positions in these two states. At t, a node is added for each new
vehicle, and the node of each vehicle that has left is removed. Nodes see their vehicles as they were at the last step.
Their commands take effect in SUMO's next step, since the current one has been computed.
"""

from __future__ import annotations

import importlib
import importlib.util
import math
import os
import shutil
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from causeway.errors import RunError, UserError
from causeway.network.field_shapes import is_number
from causeway.network.networks import InetNetwork, MobileNetwork
from causeway.network.traffic import Sumo
from causeway.pycontrol.protocol_errors import Misuse, misuse
from causeway.pycontrol.repeated import NEVER_AGAIN, Repeated

if TYPE_CHECKING:
    from causeway.pycontrol.node import PerNode

S_PS = 10**12
POSITION, SPEED, ROAD, ROUTE = 0x39, 0x40, 0x50, 0x54
"""SUMO's ids of the variables that it reports for each vehicle."""
SEEDS = 2**31
LONGEST_PS = 3600 * S_PS
"""The time for which vehicles are counted if the run has no duration."""
QUIET = ("--no-step-log", "true", "--duration-log.disable", "true", "--no-warnings", "true")


class VehicleState(NamedTuple):
    """The state of a vehicle at the beginning of a step."""

    x_mm: int
    y_mm: int
    z_mm: int
    speed: float
    road: str
    route: tuple[str, ...]


class Vehicle:
    """The vehicle of a node (`self.vehicle`), as it was at SUMO's last step. Commands take effect in the next one."""

    def __init__(self, name: str, state: VehicleState, traffic: Traffic) -> None:
        self.name = name
        """SUMO's id of the vehicle."""
        self._state, self._traffic = state, traffic

    @property
    def speed(self) -> float:
        """The speed in m/s."""
        return self._state.speed

    @property
    def road(self) -> str:
        """The edge of the road network, or the junction, on which the vehicle is."""
        return self._state.road

    @property
    def route(self) -> tuple[str, ...]:
        """The edges of its whole route."""
        return self._state.route

    def slow_down(self, speed: float, over_s: float = 0.0) -> None:
        """Change to a speed, in m/s, within `over_s` seconds, and then drive as usual."""
        for name, value in ("speed", speed), ("over_s", over_s):
            if not is_number(value) or not 0 <= value < math.inf:  # NaN, too
                raise misuse("slow_down", name, value, "a number, 0 and up")
        self._command("slowDown", float(speed), float(over_s))

    def hold(self, speed: float) -> None:
        """Keep a speed, in m/s; 0 stops the vehicle. A negative speed lets it drive as usual again."""
        if not is_number(speed) or not math.isfinite(speed):
            raise misuse("hold", "speed", speed, "a number")
        self._command("setSpeed", float(speed))

    def follow(self, route: Sequence[str]) -> None:
        """Take another route: a list of edges that begins with the current one."""
        self._command("setRoute", list(route))

    def avoid(self, edge: str) -> None:
        """Take the quickest route to its destination that does not use an edge, if there is one."""
        self._command("setAdaptedTraveltime", edge, 1e9)
        self._command("rerouteTraveltime")

    def _command(self, name: str, *values: Any) -> None:
        self._traffic.command(self.name, name, *values)


class Traffic:
    """A running SUMO, and the node of each vehicle."""

    def __init__(self, sumo: Sumo, seed: int, hosts: Sequence[int], duration_ps: int) -> None:
        self._sumo, self._duration_ps = sumo, duration_ps
        self._hosts, self._free = hosts, sorted(hosts, reverse=True)
        self.node_of: dict[str, int] = {}
        self.vehicles: dict[int, Vehicle] = {}
        self._now: dict[str, VehicleState] = {}
        self._next: dict[str, VehicleState] = {}
        self._there: set[str] = set()
        self._client = client_of(sumo)
        self._is_open = True
        options = ["-c", sumo.config, "--step-length", str(sumo.step / S_PS), "--seed", str(seed % SEEDS), *QUIET]
        self._call("start", self._start, [*options, *sumo.options])
        self._next = self._call("start", self._compute)

    def place_first(self, runtime: PerNode) -> None:
        """Put hosts where the vehicles of the first step are."""
        if isinstance(runtime.context.network, InetNetwork):
            for node in self._hosts:  # INET refuses a host that cannot move now, not when it becomes a vehicle
                runtime.move(node, 0, 0, 1)
        for name, state in self._next.items():
            runtime.move(self._node_for(name), state.x_mm, state.y_mm, 1, state.z_mm)  # absent: put there at once

    def refuse_move(self, node: int) -> None:
        """Refuse to move a vehicle past SUMO, which would put it back in its next step."""
        if node in self.vehicles:
            raise Misuse(f"move: node {node} is a vehicle, which SUMO moves; steer it by self.vehicle")

    def step(self, runtime: PerNode) -> int | None:
        """Carry out the step that begins one reaction time from now, and let SUMO compute the next one."""
        self._now, before = self._next, self._now
        gone = [name for name in before if name in self._there and name not in self._now]
        for name in gone:
            runtime.switch(self.node_of[name], False)
        for name, state in self._now.items():
            if name not in self._there:
                runtime.switch(self.node_of[name], True)
                self._there.add(name)
            self.vehicles[self.node_of[name]] = Vehicle(name, state, self)
        self._next = self._call("step", self._compute)
        for name, state in self._next.items():
            known = name in self.node_of
            speed = self._speed(self._now[name], state) if known else 1  # an absent host is moved there at once
            if speed > 0:
                runtime.move(
                    self.node_of[name] if known else self._node_for(name), state.x_mm, state.y_mm, speed, state.z_mm
                )
        for name in gone:  # at the end, so that a new vehicle gets a host that has been absent for a step
            self._there.remove(name)
            node = self.node_of.pop(name)
            self.vehicles.pop(node, None)
            self._free.append(node)
        self._free.sort(reverse=True)
        return None if self._next or self._now or self._expected() else NEVER_AGAIN

    def command(self, name: str, what: str, *values: Any) -> None:
        """Send a command to a vehicle. It is ignored if the vehicle leaves the road within this step."""
        if name in self._next:
            self._call(what, getattr(self._client.vehicle, what), name, *values)

    def close(self) -> None:
        """End SUMO."""
        if self._is_open:
            self._is_open = False
            try:
                self._client.close()
            except Exception:  # SUMO has ended already
                return

    def _start(self, options: list[str]) -> None:
        try:
            self._client.start([_program(self._sumo), *options])
        except Exception:
            self.close()  # traci keeps the connection, and would refuse that of the next run
            raise

    def _compute(self) -> dict[str, VehicleState]:
        client = self._client
        client.simulationStep()
        for name in client.simulation.getDepartedIDList():
            client.vehicle.subscribe(name, [POSITION, SPEED, ROAD, ROUTE])
        return {name: _state(values) for name, values in sorted(client.vehicle.getAllSubscriptionResults().items())}

    def _expected(self) -> int:
        return int(self._call("step", self._client.simulation.getMinExpectedNumber))

    def _node_for(self, name: str) -> int:
        if not self._free:
            hosts, needed = len(self._hosts), self._needed()
            raise UserError(
                f"SUMO has more vehicles at once than the network has hosts ({hosts}); this run needs {needed} hosts"
            )
        self.node_of[name] = self._free.pop()
        return self.node_of[name]

    def _needed(self) -> int:
        """Return the number of hosts for all vehicles, if nobody gives them commands from now on.

        A host is in use from the step before a vehicle comes to the step after it has gone.
        """
        end_ps = self._duration_ps or LONGEST_PS
        now, coming = set(self._now), set(self._next)
        most = len(set(self.node_of) | coming)
        while self._expected() and self._call("step", self._client.simulation.getTime) * S_PS < end_ps:
            before, now, coming = now, coming, set(self._call("step", self._compute))
            most = max(most, len(before | now | coming))
        return most

    def _speed(self, old: VehicleState, new: VehicleState) -> int:
        """Return the lowest speed, in mm/s, at which a vehicle reaches its new position in time."""
        way_mm = math.dist((old.x_mm, old.y_mm, old.z_mm), (new.x_mm, new.y_mm, new.z_mm))
        return math.ceil(way_mm * S_PS / self._sumo.step)

    def _call(self, what: str, function: Callable[..., Any], *values: Any) -> Any:
        try:
            return function(*values)
        except (UserError, RunError):
            raise
        except Exception as error:
            words = " ".join(str(error).split()) or type(error).__name__
            if what == "start":
                raise UserError(f"SUMO does not start with {self._sumo.config}: {words}") from None
            if "closed" in words or isinstance(error, OSError):
                raise RunError(f"SUMO has ended in the middle of the run: {words}") from None
            raise Misuse(f"SUMO refuses {what}{values}: {words}") from None


def begin(runtime: PerNode) -> Traffic | None:
    """Start SUMO if the run's network uses it, and plan its steps."""
    network = runtime.context.network
    if not isinstance(network, MobileNetwork | InetNetwork) or network.movement is None:
        return None
    sumo, reaction_ps = network.movement, runtime.context.reaction_ps
    if 2 * reaction_ps > sumo.step:
        raise UserError(f"Sumo: step is {sumo.step} ps; allowed: at least twice the reaction time of {reaction_ps} ps")
    hosts = network.vehicle_nodes
    traffic = Traffic(sumo, runtime.context.seed, hosts, runtime.context.duration_ps)
    others = sorted(set(range(network.nodes)) - set(hosts))
    clock = others[0] if others else 0
    job = Repeated(sumo.step, lambda _: traffic.step(runtime), sumo.step - reaction_ps, clock, always=not others)
    runtime._repeated.append(job)
    return traffic


def place_first(runtime: PerNode) -> None:
    """Put hosts where the vehicles of SUMO's first step are, if the run has SUMO."""
    if runtime._traffic is not None:
        runtime._traffic.place_first(runtime)


def vehicle_of(runtime: Any, node: int) -> Vehicle:
    """Return the vehicle of a node.

    Raises:
        Misuse: The node is not a vehicle.
    """
    traffic: Traffic | None = getattr(runtime, "_traffic", None)
    found = None if traffic is None else traffic.vehicles.get(node)
    if found is None:
        raise Misuse(f"vehicle: node {node} is no vehicle; vehicles are the hosts of a network with movement=Sumo(...)")
    return found


def client_of(sumo: Sumo) -> Any:
    """Return the module that talks to SUMO.

    Raises:
        UserError: It is not installed.
    """
    name = sumo.client or ("traci" if _has_program() else "libsumo")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # libsumo misses SUMO_HOME, of which nothing is needed
            return importlib.import_module(name)
    except ImportError:
        raise UserError(f"{name} is not installed: pip install {name} (and eclipse-sumo for traci)") from None


def _has_program() -> bool:
    return bool(_path_of_program()) and importlib.util.find_spec("traci") is not None


def _path_of_program() -> str:
    home = os.environ.get("SUMO_HOME")
    return shutil.which("sumo") or (shutil.which("sumo", path=str(Path(home) / "bin")) if home else "") or ""


def _program(sumo: Sumo) -> str:
    return _path_of_program() or "sumo"


def _state(values: Mapping[int, Any]) -> VehicleState:
    x, y, z = values[POSITION]
    return VehicleState(
        round(x * 1000), round(y * 1000), round(z * 1000), values[SPEED], values[ROAD], tuple(values[ROUTE])
    )
