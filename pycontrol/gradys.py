"""Run unmodified protocols of gradysim (a package of PyPI) on Causeway's networks.

    protocol = Drones([(Sensor, (150, 0, 0)), (Drone, (0, 0, 0)), (Ground, (0, 0, 0))], range_m=30)

Its `IProtocol` uses a provider for messages, timers, movement and telemetry. Here the provider is a `GradysNode`.

On the abstract network, which has no positions, this module moves the nodes as gradysim's own massless mobility does,
and a message reaches the nodes within `range_m`. On networks with positions, the radio determines the receivers of a
message, and a movement command moves the host. Telemetry then reports the position of the last STATION event, so set a
short `position_every_ps`.

gradysim draws from Python's shared generator, which is seeded with the run's seed at the start.
"""

from __future__ import annotations

import math
import random
from collections.abc import Hashable, Sequence
from typing import Any

from causeway.errors import RunError, UserError, shown_type
from causeway.network.field_shapes import is_number
from causeway.network.networks import AbstractNetwork
from causeway.network.units import MOST_PS
from causeway.pycontrol.node import EVERYONE, Node, PerNode
from causeway.pycontrol.protocol import Context
from causeway.signatures import checked_arguments

S_PS = 10**12
DEFAULT_SPEED_M_S, UPDATE_S = 10.0, 0.01
"""gradysim's own defaults."""
SEND, BROADCAST = 0, 1
GOTO, GOTO_GEO, SET_SPEED = 1, 2, 3
Position = tuple[float, float, float]


class Tracked(dict[str, Any]):
    """`provider.tracked_variables`, a dict that records numbers as time series."""

    def __init__(self, node: GradysNode) -> None:
        super().__init__()
        self._node = node

    def __setitem__(self, name: str, value: Any) -> None:
        super().__setitem__(name, value)
        if isinstance(value, int | float):
            self._node.record(name, float(value))


class GradysNode(Node):
    """A node that is the provider of one gradysim protocol."""

    runtime: Drones

    def __init__(self, id_: int, drones: Drones) -> None:
        super().__init__()
        self._drones = drones
        self.kind, position = drones.nodes_to_make[id_]
        self.position: Position = (float(position[0]), float(position[1]), float(position[2]))
        self.target: Position | None = None
        self.speed_m_s = DEFAULT_SPEED_M_S
        self.tracked_variables = Tracked(self)
        self.protocol: Any = None
        self._set = 0

    # ---- gradysim's IProvider -------------------------------------------------------------------------------------
    def send_communication_command(self, command: Any) -> None:
        """Send a message to one node, or to all in reach."""
        if command.command_type == BROADCAST:
            self._drones.to_all(self, command.message)
            return
        if command.destination is None or not 0 <= command.destination < self.node_count:
            raise RunError(f"node {self.id} sends to node {command.destination}, which does not exist")
        if command.destination == self.id:
            raise RunError(f"node {self.id} sends to itself; use schedule_timer instead")
        self._drones.to_one(self, command.destination, command.message)

    def send_mobility_command(self, command: Any) -> None:
        """Set the node's speed, or move it to a position."""
        if command.command_type == SET_SPEED:
            self.speed_m_s = float(command.param_1)
        elif command.command_type == GOTO:
            self.target = (command.param_1, command.param_2, command.param_3)
        else:
            from gradysim.protocol.position import geo_to_cartesian

            place = (command.param_1, command.param_2, command.param_3)
            self.target = geo_to_cartesian(self._drones.reference, place)
        if not self._drones.moves and self.target is not None:
            self._move_host()

    def _move_host(self) -> None:
        """Make the network move this host to its target."""
        if self.id < self._drones.stations:
            raise RunError(f"node {self.id} is a station and cannot move; send mobility commands to hosts only")
        x, y, z = (round(1000 * value) for value in self.target or self.position)
        Node.move(self, x, y, max(1, round(1000 * self.speed_m_s)), z)

    def schedule_timer(self, timer: str, timestamp: float) -> None:
        """Set a timer for an absolute time in seconds. Several timers may have one name."""
        due_ps = round(timestamp * S_PS)
        if due_ps < self.now_ps:
            raise RunError(
                f"node {self.id} sets a timer for {timestamp:g} s, which has passed; choose a time from "
                f"{self.current_time():g} s on"
            )
        self._set += 1
        self.set_timer((timer, self._set), max(0, due_ps - self.now_ps - self.runtime.context.reaction_ps))

    def cancel_timer(self, key: Hashable) -> None:
        """Cancel all timers of this name."""
        for node, set_ in list(self.runtime.timers):
            if node == self.id and isinstance(set_, tuple) and set_[0] == key:
                super().cancel_timer(set_)

    def current_time(self) -> float:
        """Return the simulated time in seconds."""
        return self.now_ps / S_PS

    def get_id(self) -> int:
        """Return the id of the node."""
        return self.id

    # ---- handlers -------------------------------------------------------------------------------------------------
    def on_start(self) -> None:
        """Make the protocol and initialize it."""
        self.protocol = self.kind.instantiate(self)
        self.protocol.initialize()

    def on_packet(self, content: Any, sender: int, interface: int) -> None:
        """Pass a message to the protocol."""
        self.protocol.handle_packet(content)

    def on_timer(self, key: Any) -> None:
        """Pass a timer to the protocol."""
        self.protocol.handle_timer(key[0])

    def on_station(self, station: int, x_mm: int, y_mm: int, z_mm: int = 0) -> None:
        """Store the position that the network reports."""
        self.position = (x_mm / 1000, y_mm / 1000, z_mm / 1000)

    def tell_position(self) -> None:
        """Pass the node's position to the protocol as telemetry."""
        self.protocol.handle_telemetry(self._drones.telemetry(current_position=self.position))

    def advance(self, seconds: float) -> None:
        """Move the node towards its target for a time, unless the network moves it, and report its position."""
        if self._drones.moves and self.target is not None:
            way, left_m = self.speed_m_s * seconds, math.dist(self.position, self.target)
            share = 1.0 if way >= left_m else way / left_m
            x, y, z = (a + (b - a) * share for a, b in zip(self.position, self.target, strict=True))
            self.position = self.target if share == 1.0 else (x, y, z)
        self.tell_position()


@checked_arguments
class Drones(PerNode):
    """Runs gradysim's protocols, one on each node."""

    def __init__(
        self, nodes: Sequence[tuple[Any, Position]], range_m: float | None = 60.0, update_s: float = UPDATE_S,
        reference: Position = (0.0, 0.0, 0.0),
    ) -> None:  # fmt: skip
        """Prepare a run.

        Args:
            nodes: The protocol class and the first position of each node.
            range_m: The range of a message on the abstract network; None: unlimited.
            update_s: The time between two telemetry reports, and on the abstract network between two movements.
            reference: The geographic coordinates of the origin, for GOTO_GEO commands.

        Raises:
            UserError: gradysim is not installed, `nodes` is no list, or `update_s` is not a time.
        """
        super().__init__(lambda id_: GradysNode(id_, self))
        if not isinstance(nodes, Sequence) or isinstance(nodes, str):
            raise UserError(f"Drones: nodes is {shown_type(nodes)}; allowed: a list of (protocol class, position)")
        if not is_number(update_s) or not 1 / S_PS <= update_s <= MOST_PS / S_PS:
            raise UserError(f"Drones: update_s is {update_s!r}; allowed: a number of seconds above 0")
        try:
            from gradysim.protocol.messages.telemetry import Telemetry
        except ModuleNotFoundError:
            raise UserError("gradysim is not installed: pip install gradysim") from None
        self.telemetry = Telemetry
        self.nodes_to_make, self.range_m, self.reference = list(nodes), range_m, reference
        self._update_ps = round(update_s * S_PS)
        self.moves = False
        """True if the network has no positions, so that this object moves the nodes."""
        self.stations = 0

    def start(self, context: Context) -> None:
        """Seed Python's shared generator, and start the nodes.

        Raises:
            UserError: The number of nodes differs from the number of protocols.
        """
        if len(self.nodes_to_make) != context.nodes:
            raise UserError(
                f"there are {len(self.nodes_to_make)} protocols for {context.nodes} nodes; pass one for each node"
            )
        self.moves = isinstance(context.network, AbstractNetwork) or context.network is None
        self.stations = len(getattr(context.network, "station_xy_mm", ()))
        self.every(self._update_ps, self._move_all)
        random.seed(context.seed)
        super().start(context)

    def drone(self, node: int) -> GradysNode:
        """Return the node with this id."""
        found = self.nodes[node]
        assert isinstance(found, GradysNode)
        return found

    def _move_all(self, _: Node) -> None:
        for node in range(len(self.nodes)):
            self.drone(node).advance(self._update_ps / S_PS)

    def to_one(self, sender: GradysNode, destination: int, message: str) -> None:
        """Send a message to one node, if it is in reach."""
        reached = not self.moves or self.range_m is None
        if reached or math.dist(sender.position, self._place(destination)) <= (self.range_m or 0):
            Node.send(sender, destination, message, max(1, len(message.encode())))

    def to_all(self, sender: GradysNode, message: str) -> None:
        """Send a message to all nodes in reach."""
        if not self.moves:
            Node.send(sender, EVERYONE, message, max(1, len(message.encode())))
            return
        for node in range(len(self.nodes_to_make)):
            if node != sender.id:
                self.to_one(sender, node, message)

    def _place(self, node: int) -> Position:
        """Return the position of a node, even if the node has not been made yet."""
        return self.drone(node).position if node < len(self.nodes) else self.nodes_to_make[node][1]

    def scalars(self) -> dict[str, float]:
        """Finish the protocols, and return the scalars of the nodes."""
        for node in range(len(self.nodes)):
            self.drone(node).protocol.finish()
        return dict(super().scalars())
