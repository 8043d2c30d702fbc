"""Best-effort broadcast over VCube trees with bundled messages: the reference implementation (ladc18, Algorithm 2).

The class is one process. The vectorized implementation is `vectorized.py`; both give the same digest. Names of state
and messages are the paper's, `# l. N` is its line. Departures are marked, and explained in docs/papers/ladc18.md.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field

from causeway.pycontrol.node import Node, PerNode
from causeway.pycontrol.protocols.ladc18.vectorized import Limits
from causeway.pycontrol.protocols.vcube.detector import Detector
from causeway.pycontrol.protocols.vcube.tree import cluster_of, dimension, ff_neighbor, subtree

TREE, ACK = 0, 1


@dataclass(frozen=True, slots=True)
class Message:
    """A message m of the application, identified by (src, ts). `number` is its id for the observers."""

    src: int
    ts: int
    number: int = field(compare=False)


Item = tuple[int, Message]
"""<TREE, m> or <ACK, (m.src, m.ts)>"""


@dataclass
class Tally:
    """The common counters of all processes of a run."""

    packets: int = 0
    tree_messages: int = 0
    ack_messages: int = 0
    unfinished: int = 0
    """The number of pending acks and bundles of live processes; 0 when every broadcast is complete."""
    last_arrival_ps: int = 0
    learned_ps: int = 0
    """The last time at which a process learned of a crash."""


class Process(Node):
    """Process p_i."""

    def __init__(self, i: int, limits: Limits, tally: Tally) -> None:
        self.i, self.limits, self.tally = i, limits, tally
        self.size_of = (limits.tree_size, limits.ack_size)
        self.height = dimension(limits.processes)
        self.correct = bytearray([1]) * limits.processes
        self.rcv_base: dict[int, int] = {}
        self.rcv_win: dict[int, set[int]] = {}
        self.ack_set: dict[Message, list[tuple[int, int]]] = {}
        """Pending acks, m -> [(j, k)]: m came from j and was forwarded to k. Its keys are msg_set."""
        self.delay_msg: dict[int, list[Item]] = {}
        self.length: dict[int, int] = {}
        """Bytes in delay_msg[k]."""
        self.due_ps: dict[int, int] = {}
        """The time at which timer[k] expires, in order of expiry, since all timers have the same length."""
        self.ts = 0
        self.detector: Detector | None = None

    # ---- broadcasting (l. 8-35) -----------------------------------------------------------------------------------
    def on_broadcast(self, number: int, size_bytes: int) -> None:
        """Broadcast a new message."""
        m = Message(self.i, self.ts, self.new_message())
        self.ts += 1
        self.handle_message(m, self.i)

    def handle_message(self, m: Message, j: int) -> None:  # l. 10
        """Deliver a message from j if it is new, forward it, and acknowledge it if no acknowledgement is pending."""
        base = self.rcv_base.get(m.src, -1)
        if m.ts > base and m.ts not in self.rcv_win.get(m.src, ()):  # l. 12
            self.deliver(m.number)
            self.update_window(m)
        self.forward(m, j)
        self.check_acks(m, j)

    def update_window(self, m: Message) -> None:  # l. 18; base -1 is "no message yet"
        """Mark a message as received from its source."""
        base = self.rcv_base.get(m.src, -1)
        if m.ts != base + 1:
            self.rcv_win.setdefault(m.src, set()).add(m.ts)
            return
        base += 1
        window = self.rcv_win.get(m.src)
        while window and base + 1 in window:  # l. 27
            base += 1
            window.remove(base)
        self.rcv_base[m.src] = base

    def forward(self, m: Message, j: int) -> None:  # l. 32
        """Send a message from j to the children in its tree."""
        # Departure (l. 33): the subtree depends on j, from which the message came, and not on its source.
        height = self.height if j == self.i else cluster_of(self.i, j) - 1
        for k in subtree(self.i, height, self.correct):
            self.check_bundle((TREE, m), k)
            self.expect_ack(m, j, k)

    # ---- bundling (l. 36-50, 70-72) -------------------------------------------------------------------------------
    def check_bundle(self, item: Item, k: int) -> None:  # l. 36
        """Add an item to the bundle for k, and send the bundle if it is full."""
        limits, length = self.limits, self.size_of[item[0]]
        if length >= limits.max_payload:
            self.send_bundle([item], k)
            return
        total = self.length.get(k, 0) + length
        if total > limits.max_payload:  # l. 39
            self.flush(k)
            total = length
        if k not in self.due_ps:
            self.delay_msg[k] = []
            self.due_ps[k] = self.now_ps + limits.max_delay_ps
            self.set_timer(k, limits.max_delay_ps - self.runtime.context.reaction_ps)
            self.tally.unfinished += 1
        self.delay_msg[k].append(item)
        self.length[k] = total
        if total == limits.max_payload:  # l. 43
            self.flush(k)

    def flush(self, k: int) -> None:
        """Send the bundle for k and stop its timer."""
        self.cancel_timer(k)
        self.send_bundle(self.forget_bundle(k), k)

    def forget_bundle(self, k: int) -> list[Item]:
        """Remove the bundle for k and return its items."""
        del self.due_ps[k]
        self.length[k] = 0
        self.tally.unfinished -= 1
        return self.delay_msg.pop(k)

    def flush_due(self) -> None:
        """Send the bundles that are due, before another event of this instant is handled.

        The paper does not define this order; the message counts of Tables 3 and 4 show it.
        """
        while self.due_ps:
            k, due_ps = next(iter(self.due_ps.items()))
            if due_ps > self.now_ps:
                return
            self.flush(k)

    def on_timer(self, key: Hashable) -> None:  # l. 70
        """Send the bundle whose timer expired."""
        assert isinstance(key, int)
        self.send_bundle(self.forget_bundle(key), key)

    def send_bundle(self, bundle: list[Item], k: int) -> None:
        """Send items to k as one packet."""
        acks = sum(kind for kind, _ in bundle)
        size_bytes = acks * self.limits.ack_size + (len(bundle) - acks) * self.limits.tree_size
        self.tally.packets += 1
        self.tally.ack_messages += acks
        self.tally.tree_messages += len(bundle) - acks
        if self.i == 0:
            self.record("bundled", len(bundle))
            self.record("bytes", size_bytes)
        self.send(k, bundle, size_bytes)

    # ---- receiving (l. 51-69) -------------------------------------------------------------------------------------
    def on_packet(self, content: list[Item], sender: int, interface: int) -> None:  # l. 56
        """Handle the items of a packet, after the time limits of this instant."""
        self.tally.last_arrival_ps = self.now_ps
        if self.detector:
            self.detector.notice_due()
        self.flush_due()
        for kind, m in content:
            if kind == ACK:
                self.receive_ack(m, sender)
            elif self.correct[m.src] and self.correct[sender]:  # l. 63
                self.handle_message(m, sender)

    def receive_ack(self, m: Message, j: int) -> None:  # l. 66
        """Handle the ack of m by j."""
        # Departure (l. 67): m may have come from several parents x and been forwarded to j for each, but j acks it
        # once. The ack counts for all of them, since every process below j has m. After a crash, none may be pending.
        parents = [x for x, k in self.ack_set.get(m, ()) if k == j]
        for x in parents:
            self.drop_ack(m, x, j)
        for x in parents:
            self.check_acks(m, x)

    def check_acks(self, m: Message, k: int) -> None:  # l. 51
        """Acknowledge m to k if no ack of it is pending for k."""
        # Departure (l. 53): m stays in msg_set while any ack of it is pending, not only one for k.
        if any(x == k for x, _ in self.ack_set.get(m, ())):
            return
        if k != self.i and self.correct[m.src] and self.correct[k]:
            self.check_bundle((ACK, m), k)

    def expect_ack(self, m: Message, j: int, k: int) -> None:
        """Add (j, k) to the pending acks of m."""
        entries = self.ack_set.setdefault(m, [])
        if (j, k) not in entries:
            entries.append((j, k))
            self.tally.unfinished += 1

    def drop_ack(self, m: Message, j: int, k: int) -> None:
        """Remove (j, k) from the pending acks of m."""
        entries = self.ack_set[m]
        entries.remove((j, k))
        self.tally.unfinished -= 1
        if not entries:
            del self.ack_set[m]

    # ---- crashes (l. 73-87) ---------------------------------------------------------------------------------------
    def on_crash(self, j: int) -> None:
        """Repair the trees after a crash of j, which the failure detector reports."""
        self.flush_due()
        self.correct[j] = 0
        self.tally.learned_ps = self.now_ps
        if j in self.due_ps:  # l. 75
            self.cancel_timer(j)
            self.forget_bundle(j)
        k = ff_neighbor(self.i, cluster_of(self.i, j), self.correct)  # l. 76
        for m, entries in list(self.ack_set.items()):
            for p, q in list(entries):
                if not (self.correct[m.src] and self.correct[p]):  # l. 78
                    self.drop_ack(m, p, q)
                elif q == j:
                    if k >= 0 and (p, k) not in entries:  # l. 82
                        self.expect_ack(m, p, k)
                        self.check_bundle((TREE, m), k)
                    self.drop_ack(m, p, j)
                    self.check_acks(m, p)  # l. 87; it has no effect on the remaining entries

    def on_down(self) -> None:
        """Clear the pending acks and bundles of this process, which crashes."""
        self.tally.unfinished -= sum(map(len, self.ack_set.values())) + len(self.due_ps)
        self.ack_set.clear()
        self.due_ps.clear()
        self.left()


class BundledProcesses(PerNode):
    """All processes (nodes 0..n-1) and, if the network has 2n nodes, their failure detectors (nodes n..2n-1)."""

    def __init__(self, limits: Limits) -> None:
        super().__init__(self.make_node)
        self.limits = limits
        self.tally = Tally()
        self.processes: list[Process] = []

    def make_node(self, id_: int) -> Node:
        """Return the process or detector of a node id."""
        limits = self.limits
        if id_ < limits.processes:
            self.processes.append(self.make_process(id_))
            return self.processes[id_]
        process = self.processes[id_ - limits.processes]
        process.detector = Detector(
            process.i, limits.processes, limits.test_interval_ps, limits.reply_timeout_ps,
            process.on_crash, self.busy, limits.processes,
        )  # fmt: skip
        return process.detector

    def same_machine(self, one: int, other: int) -> bool:
        """Return whether one node is the failure detector of the other."""
        return abs(one - other) == self.limits.processes

    def make_process(self, i: int) -> Process:
        """Return process i. Tests override it."""
        return Process(i, self.limits, self.tally)

    def busy(self) -> bool:
        """Return whether detectors continue: a broadcast is incomplete, or `test_until_ps` has not been reached."""
        return self.tally.unfinished > 0 or self.now_ps < self.limits.test_until_ps

    def scalars(self) -> Mapping[str, float]:
        """Return the counters of messages, packets and tests."""
        tally = self.tally
        tests = sum(node.tests for node in self.nodes if isinstance(node, Detector))
        return {
            "packets": tally.packets,
            "tree_messages": tally.tree_messages,
            "ack_messages": tally.ack_messages,
            "tests": tests,
            "unfinished": tally.unfinished,
            "last_arrival_ps": tally.last_arrival_ps,
            "learned_ps": tally.learned_ps,
        }
