"""The services that a node can call in its handlers, and its properties: id, time, random numbers, log.

`handlers.py` adds the handlers. `node_timers.py` and `node_requests.py` add services that use these.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from random import Random
from typing import TYPE_CHECKING, Any, Self

from causeway.bridge.events import BROADCAST_PEER, FOREVER, IGNORED
from causeway.deprecated import warn
from causeway.pycontrol import arguments
from causeway.pycontrol.batteries import BatteryState, battery_of
from causeway.pycontrol.confined import acting, chance_of, stay_of
from causeway.pycontrol.node_log import LOGGER, OFF, SILENT, NodeLog
from causeway.pycontrol.protocol import DELIVER, JOINED, LEFT, Context
from causeway.pycontrol.protocol_errors import Misuse, shown
from causeway.pycontrol.reading import Reading
from causeway.pycontrol.sizes import size_of
from causeway.pycontrol.vehicles import Vehicle, vehicle_of

if TYPE_CHECKING:
    from causeway.pycontrol.node import PerNode

S_PS = 10**12


class Everyone(int):
    """The type of `EVERYONE`. It has one instance, also in copies and pickles."""

    def __reduce__(self) -> str:
        return "EVERYONE"


EVERYONE = Everyone(BROADCAST_PEER)
"""All nodes in reach, as the receiver of a packet. No other number means this, not even an equal one."""
OTHER_NAME = "give the attribute another name"
_passed_ids: set[type] = set()
"""The classes that pass their id to `Node.__init__`. Each of them causes one warning."""


class NoRuntime:
    """The runtime of a node that is not part of a run. It refuses all services."""

    acting = None
    refusal = (
        "is used by a node that is not part of a run; PerNode(MyNode) and causeway.run(MyNode, ...) make the nodes of "
        "a run"
    )

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise Misuse(f"{name} {self.refusal}")


class InitRuntime(NoRuntime):
    """The runtime of a node that PerNode is making. The node can read properties of the run, but cannot act yet."""

    refusal = (
        "is used in __init__, before the run starts; use it in on_start(self), which is called before the first event"
    )

    def __init__(self, context: Context) -> None:
        self.context = context

    def time_for_logs(self) -> int:
        """Return the start of the run."""
        return 0


NO_RUNTIME: Any = NoRuntime()


class Services:
    """The services and properties of a node. Actions take effect one reaction time later."""

    id: int
    """The number of this node, 0 to `node_count - 1`."""
    runtime: PerNode
    """The protocol of the run. Nodes rarely need it."""

    def __new__(cls, *_: Any, **__: Any) -> Self:
        """Make a node. If PerNode makes it, it knows its id and its run, and `__init__` need not be called."""
        node = super().__new__(cls)
        made_by = None if acting.host is None else acting.host.host
        if made_by is not None and type(made_by.acting) is int:
            node.id, node.runtime = made_by.acting, InitRuntime(made_by.context)  # type: ignore[assignment]
            if (came := made_by._presence.comings.get(node.id, 0)) > 1:
                vars(node)["_stay"] = came - 1
        else:  # set on the instance, since a class attribute would slow down every access
            node.id, node.runtime = -1, NO_RUNTIME
        return node

    def __init__(self, id_: int | None = None) -> None:
        if id_ is None:
            return
        if type(self) not in _passed_ids:
            _passed_ids.add(type(self))
            warn(f"passing the id to Node.__init__ in {type(self).__name__}", "__init__ without it; self.id is set")
        if self.runtime is NO_RUNTIME:
            self.id = id_

    # ---- properties -----------------------------------------------------------------------------------------------
    @Reading
    def node_count(self: Any) -> int:
        """The number of nodes of the run."""
        return int(self.runtime.context.nodes)

    @Reading
    def nodes(self: Any) -> range:
        """The ids of all nodes: `range(node_count)`."""
        return range(self.runtime.context.nodes)

    @Reading
    def peers(self: Any) -> list[int]:
        """The ids of all other nodes."""
        return [node for node in range(self.runtime.context.nodes) if node != self.id]

    @Reading
    def now(self: Any) -> float:
        """The time of the event being handled in seconds, for display.

        Use `now_ps`, which is exact, in computations.
        """
        return float(self.runtime.now_ps / S_PS)

    @property
    def now_ps(self) -> int:
        """The time of the event being handled."""
        return self.runtime.now_ps

    @Reading
    def log(self: Any) -> NodeLog:
        """The node's log, a standard `logging.LoggerAdapter`. `causeway run --log LEVEL` turns it on."""
        return SILENT if LOGGER.level == OFF else NodeLog(self)

    @Reading
    def rng(self: Any) -> Random:
        """The node's own random generator. Its numbers depend only on the seed and on the node."""
        runtime = self.runtime
        if runtime is NO_RUNTIME or (acting.host is None and not isinstance(runtime, InitRuntime)):
            raise Misuse(
                "rng is used outside a handler; use it in the handlers and __init__ of a node, and elsewhere use your "
                "own random.Random, made from the seed"
            )
        if runtime.acting is not self and not isinstance(runtime, InitRuntime):
            check_turn(self, "rng")
        drawn = vars(self)["rng"] = chance_of(runtime.context.seed, self.id, "rng", stay_of(self))
        return drawn  # the next access finds the attribute, and does not call this method

    @Reading
    def host(self: Any) -> PerNode:
        """The protocol of the run; the former name of `runtime`."""
        warn("Node.host", "runtime", 4)
        return self.runtime

    @Reading
    def battery(self: Any) -> BatteryState:
        """The node's battery, in a network with `battery=Battery(...)`."""
        return battery_of(self.runtime, self.id)

    # ---- services -------------------------------------------------------------------------------------------------
    def send(self, peer: int, content: Any, size_bytes: int | None = None, interface: int = 0, topic: int = 0) -> None:
        """Send a packet.

        Args:
            peer: The receiving node, or EVERYONE in reach.
            content: Any object. It is not copied; do not change it after sending.
            size_bytes: The size of the packet, without headers; by default `size_of(content)`.
            interface: WIRELESS (0) or another interface of the network.
            topic: 1 to 15 for packets with a lookahead (`declare_lookahead`), otherwise 0.
        """
        runtime = self.runtime
        if runtime.acting is not self:
            check_turn(self, "send")
        if size_bytes is None:
            size_bytes = size_of(content)
        if peer is EVERYONE:
            peer = BROADCAST_PEER
        elif type(peer) is not int or peer < 0:
            arguments.receiver("send", peer)
        runtime.send(self.id, peer, content, size_bytes, interface, topic)

    def declare_lookahead(self, topic: int, lookahead_ps: int = FOREVER) -> None:
        """Declare the lookahead of a topic: the minimum time until this node reacts to such packets.

        The simulator then need not stop for these packets, so a run with many of them is faster. The outcome is the
        same. An action that is too early is an error; `deliver` does not count as an action. The declaration can be
        changed, or ended with 0, but not while a packet of the same topic is handled.
        """
        runtime = self.runtime
        if runtime.acting is not self:
            check_turn(self, "declare_lookahead")
        runtime.declare_lookahead(self.id, topic, arguments.lookahead_of(lookahead_ps))

    def unsubscribe(self, topic: int) -> None:
        """Ignore packets of a topic for the rest of the run. The node may still get some of them."""
        runtime = self.runtime
        if runtime.acting is not self:
            check_turn(self, "unsubscribe")
        runtime.declare_lookahead(self.id, topic, IGNORED)

    def patient(self, topic: int, patience_ps: int = FOREVER) -> None:
        """Declare lookahead; the former name of `declare_lookahead`."""
        warn("Node.patient", "declare_lookahead")
        self.declare_lookahead(topic, patience_ps)

    def ignore(self, topic: int) -> None:
        """Unsubscribe; the former name of `unsubscribe`."""
        warn("Node.ignore", "unsubscribe")
        self.unsubscribe(topic)

    def set_timer(self, key: Hashable, delay_ps: int) -> None:
        """Set the timer `key`. It is due `delay_ps` after one reaction time.

        A timer under the same key is cancelled.
        """
        runtime = self.runtime
        if runtime.acting is not self:
            check_turn(self, "set_timer")
        runtime.set_timer(self.id, key, delay_ps)

    def cancel_timer(self, key: Hashable) -> None:
        """Cancel the timer `key`, if it is set."""
        runtime = self.runtime
        if runtime.acting is not self:
            check_turn(self, "cancel_timer")
        runtime.cancel_timer(self.id, key)

    def has_timer(self, key: Hashable) -> bool:
        """Return whether the timer `key` is set."""
        return (self.id, key) in self.runtime.timers

    def new_message(self) -> int:
        """Report to the observers that this node broadcasts a new message, and return the message's id.

        Ids are 0, 1, 2, ... in the order of broadcasts in the run. No packet is sent.
        """
        runtime = self.runtime
        if runtime.acting is not self:
            check_turn(self, "new_message")
        return runtime.new_message(self.id)

    def broadcast(self) -> int:
        """Report a new message; the former name of `new_message`."""
        warn("Node.broadcast", "new_message")
        return self.new_message()

    def deliver(self, message: int) -> None:
        """Report to the observers that this node delivers a message."""
        runtime = self.runtime
        if runtime.acting is not self:
            check_turn(self, "deliver")
        runtime.note(DELIVER, self.id, message)

    def left(self) -> None:
        """Report to the observers that this node left.

        Its past ends here, and it need not deliver any further messages.
        """
        runtime = self.runtime
        if runtime.acting is not self:
            check_turn(self, "left")
        runtime.note(LEFT, self.id, -1)

    @property
    def vehicle(self) -> Vehicle:
        """The vehicle of SUMO that this node is, in a network with `movement=Sumo(...)`."""
        return vehicle_of(self.runtime, self.id)

    def joined(self) -> None:
        """Report to the observers that this node joined.

        From now on, it must deliver all messages that are broadcast.
        """
        runtime = self.runtime
        if runtime.acting is not self:
            check_turn(self, "joined")
        runtime.note(JOINED, self.id, -1)

    def crash(self, node: int | None = None) -> None:
        """Make this node or another one fail, one reaction time from now."""
        runtime = self.runtime
        if runtime.acting is not self:
            check_turn(self, "crash")
        runtime.switch(self.id if node is None else node, False)

    def recover(self, node: int | None = None) -> None:
        """Make a node that is down, by default this one, recover one reaction time from now."""
        runtime = self.runtime
        if runtime.acting is not self:
            check_turn(self, "recover")
        runtime.switch(self.id if node is None else node, True)

    def switch(self, node: int, up: bool) -> None:
        """Make a node fail or recover; the former name of `crash` and `recover`."""
        warn("Node.switch", "crash or recover")
        if arguments.up(up):
            self.recover(node)
        else:
            self.crash(node)

    def move(self, x_mm: int, y_mm: int, speed_mm_s: int, z_mm: int = 0) -> None:
        """Move this host of a mobile network in a straight line to a position, where it stays.

        It replaces the host's mobility model or trace for the rest of the run. `z_mm` is the height of the position.
        """
        runtime = self.runtime
        if runtime.acting is not self:
            check_turn(self, "move")
        runtime.move(self.id, x_mm, y_mm, speed_mm_s, z_mm)

    def call_begins(self, what: str, key: Hashable, value: Any = None) -> None:
        """Record that the application begins a call, for `causeway check`. A node can have one call at a time.

        Args:
            what: `read`, `write` or `cas` (compare and swap).
            key: The key of the register.
            value: The value to write, or (expected, new) of `cas`.
        """
        runtime = self.runtime
        if runtime.acting is not self:
            check_turn(self, "call_begins")
        arguments.call_of(what)
        runtime.recorded("call", self.id, (what, key, value))

    def call_returns(self, result: Any = None) -> None:
        """Record that the call returns, with the value read or the success of `cas`, for `causeway check`."""
        runtime = self.runtime
        if runtime.acting is not self:
            check_turn(self, "call_returns")
        runtime.recorded("return", self.id, result)

    def record(self, name: str, value: float) -> None:
        """Add a sample to this node's time series `name`."""
        runtime = self.runtime
        if runtime.acting is not self:
            check_turn(self, "record")
        if type(value) is not float or type(name) is not str:
            value = arguments.sample(name, value)
        runtime.context.record(f"node[{self.id}]", name, runtime.now_ps, value)

    def stop(self) -> None:
        """End the run after the current instant. Later events are dropped."""
        self.runtime.stop = True
        self.runtime.drop_later()


def check_turn(node: Services, service: str) -> None:
    """Refuse services of a node in another node's handler, since the two would communicate without a packet."""
    runtime = node.runtime
    if isinstance(runtime, NoRuntime):
        getattr(runtime, service)
    if acting.host is None or runtime.runs_job:  # a study's own code may use the services of any node
        return
    other = runtime.acting
    if isinstance(other, Services) and runtime.same_machine(other.id, node.id):
        return
    if isinstance(other, Services) and other.id == node.id:
        raise Misuse(f"self.id was changed to {node.id}, the id of another node; {OTHER_NAME}")
    who = f"node {other.id}" if isinstance(other, Services) else "another node"
    raise Misuse(
        f"node {node.id} acts ({service}) in a handler of {who}; a node can act only in its own handlers: send it a "
        f"packet with self.send, or override same_machine of the PerNode"
    )


def check_id(nodes: Sequence[Services], id_: int) -> None:
    """Refuse a node that has changed its own id, since its actions would count as another node's."""
    if id_ < len(nodes) and nodes[id_].id != id_:
        raise Misuse(f"self.id was changed from {id_} to {shown(nodes[id_].id)}; {OTHER_NAME}")
