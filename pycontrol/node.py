"""`PerNode` runs a protocol that is written as one process: it calls a node's handlers, one event at a time.

    class Echo(Node):
        def on_broadcast(self, number, size_bytes):
            message = self.new_message()            # report a broadcast to the observers; returns the message's id
            self.deliver(message)
            self.send(EVERYONE, message, size_bytes)

        def on_packet(self, content, sender, interface):
            self.deliver(content)

    protocol = PerNode(Echo)

A handler runs at the time of its event (`self.now_ps`). Its node's state changes at once; the packets it sends and the
timers it sets take effect one reaction time later. The contents of packets stay in this process: the simulator carries
an id and a length.

`Node` (in `handlers.py`) lists the handlers and services. `on_window` calls handlers; `send` passes an action on.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Container, Hashable, Iterable, Mapping, Sequence
from typing import Any, ClassVar

from causeway.bridge.events import (
    IGNORED,
    NO_ACTIONS,
    PAD,
    TOPICS,
    Act,
    ActionRows,
    Actions,
    Kind,
    Lookahead,
    Window,
    no_actions,
    pack_position,
)
from causeway.bridge.validation import INTERFACES
from causeway.bridge.validation_kernel import FAR_PS
from causeway.bridge.validation_messages import MOST_BYTES
from causeway.errors import RunError
from causeway.pycontrol import arguments, batteries, heights, presence, vehicles
from causeway.pycontrol.after_end import refuse_services
from causeway.pycontrol.answers import Actor
from causeway.pycontrol.class_state import ClassState
from causeway.pycontrol.confined import acting
from causeway.pycontrol.contents import messages_in
from causeway.pycontrol.handler_errors import raise_with_context
from causeway.pycontrol.handlers import Node as Node
from causeway.pycontrol.handlers import check_names
from causeway.pycontrol.kept_packets import CONTENT, LIFETIME_PS, KeptPackets, lifetime_of
from causeway.pycontrol.making import idle_nodes, maker_of, new_node, unheard_broadcasts
from causeway.pycontrol.node_requests import Exchange, inside
from causeway.pycontrol.node_timers import fire
from causeway.pycontrol.overload import check_load, in_words
from causeway.pycontrol.protocol import BROADCAST, DELIVER, LEFT, Context, Protocol
from causeway.pycontrol.protocol_errors import ProtocolError, broken_lookahead, call, misuse
from causeway.pycontrol.repeated import Repeated, repeat
from causeway.pycontrol.services import EVERYONE as EVERYONE
from causeway.pycontrol.services import check_turn
from causeway.pycontrol.shared import Contents, watch_if_wanted
from causeway.pycontrol.short_timers import ShortTimers
from causeway.pycontrol.watchdog import calls_handlers
from causeway.signatures import checked_arguments

ARRIVAL, LOST, TIMER, STATION, NODE = map(int, (Kind.ARRIVAL, Kind.LOST, Kind.TIMER, Kind.STATION, Kind.NODE))
WORKLOAD, CONNECTED = int(Kind.BROADCAST), int(Kind.CONNECTED)
SEND, SET_TIMER, CANCEL_TIMER = map(int, (Act.SEND, Act.SET_TIMER, Act.CANCEL_TIMER))
SWITCH, MOVE, CONNECT = map(int, (Act.NODE, Act.MOVE, Act.CONNECT))
"""Plain ints, since comparing and storing an IntEnum for every event is slow."""


@checked_arguments
class PerNode(Protocol):
    """A protocol whose nodes are objects with handlers. It makes one Python call per event."""

    can_be_copied: ClassVar[bool] = True
    """True if a node's state is in its attributes. If it is False, `causeway check --every` replays a node's past
    instead of copying the node."""
    contents: Contents | None = None
    """Checks the contents of packets for changes; None: they are not checked."""
    packet_lifetime_ps = LIFETIME_PS
    """The time for which a packet's content is kept on networks that do not report its last copy."""

    def __init__(self, make: type[Node] | Callable[[int], Node], copies_of_broadcast: int | None = None) -> None:
        """Prepare a protocol for one run.

        Args:
            make: A class of nodes, which is called without arguments, or a function that returns a new node for a node
                id.
            copies_of_broadcast: The number of ARRIVAL and LOST events that a packet to EVERYONE causes, for an engine
                of your own that reports each of them. The abstract network needs no such number.
        """
        self.make = maker_of(make)
        self.acting: Node | int = 0
        """The node whose handler runs, or the id of the node that is being made."""
        self.runs_job = False
        """True while a job of the study runs (`every`). Such a job may act for any node."""
        self.actor = Actor(self)
        self.copies_of_broadcast = copies_of_broadcast
        self.now_ps = 0
        self.stop = False
        self.nodes: list[Node] = []
        self._presence = presence.Presence()
        self._traffic: vehicles.Traffic | None = None
        self._short = ShortTimers(0)
        self.timers: dict[tuple[int, Hashable], int] = {}
        self._due: dict[int, tuple[int, Hashable]] = {}
        self._kept = KeptPackets(copies_of_broadcast, self.packet_lifetime_ps)
        self._next_packet = 0
        self._next_timer = 0
        self._next_connection = 0
        self._vouches = True
        """False if the actions of this window include moves or connections, which only the validation can check."""
        self._next_message = 0
        self._actions: list[tuple[int, ...]] = []
        """Rows of `causeway.bridge.events.ROW`."""
        self._lookahead: dict[tuple[int, int], int] = {}
        """The lookahead that each (node, topic) has declared."""
        self._lookaheads: dict[tuple[int, int], int] = {}
        """Declarations that the engine does not have yet."""
        self._key: Hashable = None
        """The key of the timer that fired last, for error messages."""
        self._topic = 0
        """The topic of the packet being handled. It becomes 0 when a new lookahead is declared, which the engine does
        not know yet."""
        self._repeated: list[Repeated] = []
        self._classes = ClassState()
        self._columns: tuple[list[int], ...] = ([], [])
        """The columns of the window being handled, as lists: kind, time_ps, node, ref, arg."""

    # ---- called by studies, before the run ------------------------------------------------------------------------
    @checked_arguments
    def every(
        self, period_ps: int, handler: Callable[[Node], int | None], *, node: int = 0, first_ps: int | None = None
    ) -> None:
        """Call `handler(node)` periodically in simulated time, at the same exact instants on every engine.

        Studies use it for jobs outside the protocol, such as sampling a run or failing hosts.

        Args:
            period_ps: The time between two calls.
            handler: The job. It may return the delay until its next call, or NEVER_AGAIN.
            node: The node whose timer triggers the job. Choose one that does not fail.
            first_ps: The time of the first call; by default one period after the start.
        """
        self._repeated.append(Repeated(period_ps, handler, period_ps if first_ps is None else first_ps, node))

    def recorded(self, kind: str, node: int, said: Any) -> None:
        """Record an operation that the application begins or ends. Only models use these records."""

    def about(self, content: Any) -> tuple[Iterable[int], Iterable[int]]:
        """Return the messages that a packet carries and the nodes that it mentions, for `causeway explain`.

        Override it if messages are not numbers in the content, or in its fields `message`, `number` or `id`.
        """
        return messages_in(inside(content)), ()

    @property
    def kept_packets(self) -> Mapping[int, list[Any]]:
        """The packets that may still arrive, by id. The first item of each value is the content."""
        return self._kept.packets

    def packets_on_their_way(self) -> Container[int]:
        """Return the ids of the packets with copies that may still arrive."""
        return self._kept.packets

    # ---- called by the nodes --------------------------------------------------------------------------------------
    def send(self, node: int, peer: int, content: Any, size_bytes: int, interface: int, topic: int) -> int:
        """Send a packet, keep its content until its last copy has arrived, and return the packet's id."""
        if not (
            type(node) is type(peer) is type(size_bytes) is type(interface) is type(topic) is int
            and 0 <= node < self._count
            and -1 <= peer < self._count
            and self._least_bytes <= size_bytes <= MOST_BYTES
            and (peer != node or not self._least_bytes)
            and 0 <= interface < INTERFACES
            and 0 <= topic < TOPICS
        ):
            node = arguments.node("send", node, self._count)
            peer, size_bytes, interface, topic = arguments.packet(
                peer, size_bytes, interface, topic, self._count, node, self.context.network
            )
        packet = self._next_packet
        self._next_packet += 1
        self._kept.keep(packet, content, node, peer, interface, topic, self.now_ps)
        effect_ps = self.now_ps + self.context.reaction_ps
        self._act((SEND, effect_ps, node, packet, peer, size_bytes, interface, topic, *PAD[8]))
        return packet

    def declare_lookahead(self, node: int, topic: int, lookahead_ps: int) -> None:
        """Declare the lookahead of a node for a topic: the minimum time until it reacts to such packets."""
        topic, lookahead_ps = arguments.lookahead(topic, lookahead_ps)
        earlier_ps = self._lookahead.get((node, topic), 0)
        if lookahead_ps == earlier_ps:
            return
        if earlier_ps == IGNORED:  # resuming would make the outcome depend on the ends of windows
            raise ValueError(f"node {node} has unsubscribed from topic {topic}, which is permanent")
        self._lookahead[node, topic] = self._lookaheads[node, topic] = lookahead_ps
        self._topic = 0

    def set_timer(self, node: int, key: Hashable, delay_ps: int) -> None:
        """Set a node's timer. An existing timer under the same key is cancelled."""
        due_ps = self.now_ps + self.context.reaction_ps
        if type(node) is not int or not 0 <= node < self._count:
            node = arguments.node("set_timer", node, self._count)
        if type(delay_ps) is not int or not self._short.limit_ps <= delay_ps < FAR_PS - due_ps:
            delay_ps = self._short.checked(node, key, arguments.delay(delay_ps, due_ps))
        self.cancel_timer(node, key)
        timer = self._next_timer
        self._next_timer += 1
        self.timers[(node, key)] = timer
        self._due[timer] = (node, key)
        self._act((SET_TIMER, due_ps + delay_ps, node, timer, *PAD[4]))

    def cancel_timer(self, node: int, key: Hashable) -> None:
        """Cancel a node's timer, if it is set."""
        try:
            hash(key)  # `pop` of an empty dict accepts unhashable keys
            timer = self.timers.pop((node, key), None)
        except TypeError:
            raise misuse(
                "a timer", "key", key, "a possible key of a dict (a name, a number, a tuple of these)"
            ) from None
        if timer is not None:
            del self._due[timer]
            effect_ps = self.now_ps + self.context.reaction_ps
            self._act((CANCEL_TIMER, effect_ps, node, timer, *PAD[4]))

    def switch(self, node: int, up: bool) -> None:
        """Make a node fail or recover."""
        node = arguments.node("recover" if up else "crash", node, self._count)
        self._presence.switch(node, up, self.now_ps)
        effect_ps = self.now_ps + self.context.reaction_ps
        self._act((SWITCH, effect_ps, node, 0, int(up), *PAD[5]))

    def move(self, node: int, x_mm: int, y_mm: int, speed_mm_s: int, z_mm: int = 0) -> None:
        """Move a host in a straight line to a position."""
        node = arguments.node("move", node, self._count)
        if self._traffic is not None and not self.runs_job:
            self._traffic.refuse_move(node)
        x_mm, y_mm, z_mm, speed_mm_s = arguments.way(self.context.network, x_mm, y_mm, z_mm, speed_mm_s)
        self._vouches = False  # only the validation knows which nodes can move
        effect_ps = self.now_ps + self.context.reaction_ps
        self._act((MOVE, effect_ps, node, pack_position(x_mm, y_mm), z_mm, speed_mm_s, *PAD[6]))

    def connect(self, node: int, peer: int, port: int, interface: int) -> int:
        """Open a TCP connection to a port of `peer` and return its number, which both ends use."""
        connection = self._next_connection
        self._next_connection += 1
        self._vouches = False
        effect_ps = self.now_ps + self.context.reaction_ps
        self._act((CONNECT, effect_ps, node, connection, peer, port, interface, *PAD[7]))
        return connection

    def on_tcp(self, act: int, node: int, connection: int, size_bytes: int, peer: int = 0) -> None:
        """Carry out an action on a TCP connection: LISTEN, WRITE, READ, CLOSE or ABORT (see proto/causeway.proto)."""
        self._vouches = False
        self._act((act, self.now_ps + self.context.reaction_ps, node, connection, peer, size_bytes, *PAD[6]))

    def new_message(self, node: int) -> int:
        """Report a new message of a node to the observers and return the message's id."""
        message = self._next_message
        self._next_message += 1
        self.note(BROADCAST, node, message)
        return message

    def note(self, op: int, node: int, message: int) -> None:
        """Report an observation (DELIVER, LEFT, JOINED, FLAGGED, HELD) of a node to the observers."""
        if op == DELIVER and not (type(message) is int and 0 <= message < self._next_message):
            message = arguments.message(message, self._next_message)
        self._noted((op, self.now_ps, node, message))

    def drop_later(self) -> None:
        """Drop the events of this window after the current instant, so that the outcome does not depend on windows."""
        kept = bisect_right(self._columns[1], self.now_ps)
        for column in self._columns:
            del column[kept:]

    # ---- called by the loop ---------------------------------------------------------------------------------------
    def start(self, context: Context) -> None:
        """Make the nodes and call their `on_start`.

        Raises:
            ProtocolError: This object has already been used in a run.
        """
        if self.nodes:
            name = type(self).__name__
            raise ProtocolError(f"this {name} has already been used in a run; a study's protocol() must make a new one")
        super().start(context)
        self._noted, self._count = context.noted, context.nodes
        self._least_bytes = arguments.least_bytes(context.network)
        copies = context.nodes - 1 if context.reports_all_copies else self.copies_of_broadcast
        self._kept = KeptPackets(copies, *lifetime_of(context, self.packet_lifetime_ps))
        self._short = ShortTimers(context.reaction_ps)
        self._presence, self._traffic = presence.begin(context.network), vehicles.begin(self)
        self._batteries = batteries.begin(self)
        self._each(context.nodes, self._make, "make")
        watch_if_wanted(self)
        self._each(context.nodes, self._begin, "on_start")
        vehicles.place_first(self)

    @calls_handlers
    def _each(self, nodes: int, step: Callable[[int], None], handler: str) -> None:
        acting.host = self.actor
        for id_ in range(nodes):
            try:
                step(id_)
            except BaseException as error:
                raise_with_context(self.nodes, error, id_, self.now_ps, call(handler))
        acting.host = None

    def _begin(self, id_: int) -> None:
        self.acting = self.nodes[id_]
        self.acting.on_start()
        check_names(self.nodes, id_)
        for job in self._repeated:
            if job.node == id_:
                self.plan_job(job, job.first_ps)

    def _make(self, id_: int) -> None:
        there = id_ not in self._presence.down
        self.nodes.append(self._new_node(id_) if there else presence.absent(self, id_))
        if not there:
            self.note(LEFT, id_, -1)

    def _new_node(self, id_: int) -> Node:
        """Return a new node with an id."""
        self.acting = id_
        node = new_node(self.make, id_)
        self._classes.add(type(node))
        node.runtime, node.id = self, id_
        return node

    def on_window(self, window: Window) -> Actions:
        """Call the handler of each event in order and return the actions of all of them."""
        self._columns = (
            window.kind.tolist(), window.time_ps.tolist(), window.node.tolist(), window.ref.tolist(),
            window.arg.tolist(),
        )  # fmt: skip
        self._heights = heights.heights_of(window)
        self._handle(self._rows())
        self._kept.forget_old(self.now_ps)
        self._classes.after_window()
        # other networks keep packets until their lifetime is over, so the number of packets does not show the load
        check_load(self._kept.packets if self.context.reports_all_copies else {}, self.timers, self.now_ps)
        return self._take_actions(window.reply)

    def finish(self, now_ps: int) -> None:
        """Call `on_finish` of every node. From now on the nodes cannot act."""
        self.now_ps = now_ps
        refuse_services(self)
        self._each(len(self.nodes), self._finish, "on_finish")

    def _finish(self, id_: int) -> None:
        self.acting = self.nodes[id_]
        check_names(self.nodes, id_)
        self.acting.on_finish()

    def time_for_logs(self) -> int:
        """Return the time that the nodes' logs show."""
        return self.now_ps

    def check_end(self) -> None:
        """Refuse class attributes that the run changed."""
        self._classes.check()

    def discard(self) -> None:
        """End SUMO, if it runs."""
        if self._traffic is not None:
            self._traffic.close()

    def scalars(self) -> Mapping[str, float]:
        """Return the number of packets sent."""
        return {"packets": self._next_packet}

    def warnings(self) -> Sequence[str]:
        """Return warnings about broadcasts that no node handles, and about failures without effect."""
        short = self._short.warnings(self._next_timer)
        idle = [] if self._repeated or self._next_packet or self._next_timer else idle_nodes(self.nodes)
        unheard = unheard_broadcasts(self.nodes, self.context.network)
        return [*(idle or unheard), *self._presence.warnings(), *short]

    def in_flight(self) -> str:
        """Describe the packets on their way and the timers that are set, with the nodes that have most of them."""
        return in_words(self._kept.packets, self.timers)

    # ---- inside ---------------------------------------------------------------------------------------------------
    def _rows(self) -> Iterable[tuple[int, int, int, int, int]]:
        """Return the events of the window, in order. Learning environments replace it, to stop between two of them."""
        return zip(*self._columns, strict=True)

    @calls_handlers
    def _handle(self, rows: Iterable[tuple[int, int, int, int, int]]) -> None:
        """Call the handlers of events (kind, time_ps, node, ref, arg). Nearly all are arrivals, so these come first."""
        arrived, nodes = self._kept.arrived, self.nodes
        content: Any = None
        sender = kind = node = ref = arg = -1
        acting.host = self.actor
        try:
            for kind, time_ps, node, ref, arg in rows:
                self.now_ps = time_ps
                self.acting = handler = nodes[node]
                if kind != ARRIVAL:
                    self._handle_other(kind, node, ref, arg)
                elif (packet := arrived(ref, node, time_ps)) is not None:
                    content, sender, _, topic, peer, _ = packet
                    if peer != node and peer >= 0:
                        raise RunError(f"the engine delivers packet {ref} to node {node}, but it is for node {peer}")
                    self._topic = topic
                    if type(content) is Exchange:
                        handler._exchange(content, sender, arg)
                    else:
                        handler.on_packet(content, sender, arg)
                    self._topic = 0
        except BaseException as error:
            if kind == ARRIVAL:
                called = call("on_packet", content=inside(content), sender=sender, interface=arg)
            else:
                called = arguments.handler(kind, ref, arg, self._key)
            raise_with_context(self.nodes, error, node, self.now_ps, called)
        finally:
            acting.host = None

    @calls_handlers
    def _handle_other(self, kind: int, node: int, ref: int, arg: int) -> None:
        if kind == TIMER:
            due = self._due.pop(ref, None)
            if due is not None:  # None: cancelled while the event was on its way
                if due[0] != node:
                    raise RunError(f"the engine fires timer {ref} at node {node}, but it belongs to node {due[0]}")
                del self.timers[due]
                self._key = due[1]
                if type(due[1]) is Repeated:
                    repeat(self, due[1])
                else:
                    fire(self.nodes[node], due[1])
        elif kind == LOST:
            packet = self._kept.arrived(ref, node, self.now_ps)
            if packet is not None and node >= 0:
                self.nodes[node].on_lost(inside(packet[CONTENT]), arg)
        elif kind == WORKLOAD:
            self.nodes[node].on_broadcast(ref, arg)
        elif kind == STATION:
            heights.report(self, node, arg, ref)
        elif kind == NODE:
            presence.change(self, node, bool(arg))
        elif kind >= CONNECTED:
            self.nodes[node].on_connection(kind, ref, arg)

    def plan_job(self, job: Repeated, delay_ps: int) -> None:
        """Set the timer of a periodic job."""
        self.set_timer(job.node, job, delay_ps - self.context.reaction_ps)
        if job.always:
            self._actions[-1] = (*self._actions[-1][:6], 1, *PAD[7])

    def same_machine(self, one: int, other: int) -> bool:
        """Return whether two nodes are parts of one machine and may call each other. By default they are not.

        For example, a failure detector beside a process reports crashes by a call, which takes no time.
        """
        return False

    def _act(self, row: tuple[int, ...]) -> None:
        """Add an action of the acting node to the answer for this window. A node may also make another one fail."""
        if self.nodes[row[2]] is not self.acting and row[0] != SWITCH:
            check_turn(self.nodes[row[2]], Act(row[0]).name.lower())
        if self._topic:
            self._check_lookahead(row)
        self._actions.append(row)

    def _check_lookahead(self, row: tuple[int, ...]) -> None:
        """Refuse an action earlier than the declared lookahead, since the engine may have relied on it."""
        _, time_ps, node, *_ = row
        promised_ps, after_ps = self._lookahead.get((node, self._topic), 0), time_ps - self.now_ps
        if after_ps < promised_ps or promised_ps == IGNORED:
            raise broken_lookahead(node, self._topic, promised_ps, after_ps)

    def _take_actions(self, reply: bool) -> Actions:
        """Return and clear the pending actions and, if the window expects a reply, the lookahead declarations."""
        declared = self._lookaheads if reply else {}
        if not self._actions and not declared:
            return no_actions(True) if self.stop else NO_ACTIONS
        rows, self._actions = self._actions, []
        made = (self._next_packet, self._next_timer) if self._vouches else None
        self._vouches = True
        if not declared:
            return ActionRows(rows, self.stop, (), made)
        lookaheads = tuple(Lookahead(node, topic, ps) for (node, topic), ps in declared.items())
        declared.clear()
        return ActionRows(rows, self.stop, lookaheads, made)
