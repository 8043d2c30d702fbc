"""VCube's failure detector as a protocol: periodic tests, and replies that carry the known crashes.

Each process has a detector on a separate node (`first_node` + process), so that tests do not wait behind packets of the
broadcast. According to the message counts of ladc18, Table 4, they do not wait in the paper either. The system is
synchronous and crashes are permanent. Therefore the detector is perfect, and VCube's state counters reduce to one bit
for each process.

In a round, a detector tests all processes of which it is the first correct tester. It waits for their replies in order,
up to `timeout_ps` for each; a process that has not replied by then has crashed. The next round begins `interval_ps`
after the last reply or its time limit.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from causeway.pycontrol.node import Node
from causeway.pycontrol.protocols.vcube.tree import tested_by

TEST, REPLY = "TEST", "REPLY"
TEST_BYTES = 20
NEVER = 2**62


class Detector(Node):
    """The failure detector of one process."""

    def __init__(
        self,
        process: int,
        processes: int,
        interval_ps: int,
        timeout_ps: int,
        notify: Callable[[int], None],
        more: Callable[[], bool],
        first_node: int = 0,
    ) -> None:
        """Prepare the detector of one process.

        Args:
            process: The process.
            processes: The number of processes, a power of two.
            interval_ps: The time between two rounds.
            timeout_ps: The time limit of a reply.
            notify: Called once for each crashed process.
            more: A function that returns whether to begin another round.
            first_node: The node of the first process's detector.
        """
        self.process, self.processes, self.first_node = process, processes, first_node
        self.interval_ps, self.timeout_ps = interval_ps, timeout_ps
        self.notify, self.more = notify, more
        self.correct = bytearray([1]) * processes
        self.crashed = 0
        """The crashed processes as a bit mask, which replies carry."""
        self.awaited: list[int] = []
        """The tested processes whose replies are awaited, the next one last."""
        self.replied: set[int] = set()
        self.limit_ps = NEVER
        """The time limit of the next awaited reply."""
        self.tests = 0

    # ---- a round --------------------------------------------------------------------------------------------------
    def on_start(self) -> None:
        """Begin the first round."""
        self.begin_round()

    def begin_round(self) -> None:
        """Test all processes of which this one is the first correct tester."""
        self.awaited = tested_by(self.process, self.processes, self.correct)[::-1]
        self.replied.clear()
        for j in reversed(self.awaited):
            self.tests += 1
            self.send(self.first_node + j, (TEST, 0), TEST_BYTES)
        self.await_next()

    def await_next(self) -> None:
        """Wait for the next missing reply or, if none is missing, for the next round."""
        while self.awaited and self.awaited[-1] in self.replied:
            self.awaited.pop()
        if self.awaited:
            self.limit_ps = self.now_ps + self.timeout_ps
            self.set_timer("reply", self.timeout_ps - self.runtime.context.reaction_ps)
        else:
            self.limit_ps = NEVER
            self.cancel_timer("reply")
            self.set_timer("round", self.interval_ps - self.runtime.context.reaction_ps)

    # ---- events ---------------------------------------------------------------------------------------------------
    def on_packet(self, content: Any, sender: int, interface: int) -> None:
        """Reply to a test, or process a reply with the crashes that it carries."""
        kind, news = content
        if kind == TEST:
            self.send(sender, (REPLY, self.crashed), TEST_BYTES)
            return
        self.learn(news & ~self.crashed)
        self.replied.add(sender - self.first_node)
        if self.awaited and self.awaited[-1] == sender - self.first_node:
            self.await_next()

    def on_timer(self, key: Hashable) -> None:
        """End the time limit of a reply, or begin a round."""
        if key == "reply":
            self.time_out()
        elif self.more():
            self.begin_round()

    def notice_due(self) -> None:
        """Handle a time limit that ends now. The process calls it, so that limits come before packets of an instant."""
        if self.limit_ps <= self.now_ps:
            self.time_out()

    def time_out(self) -> None:
        """Consider the process whose reply is awaited as crashed."""
        silent = self.awaited.pop()
        if self.correct[silent]:
            self.learn(1 << silent)
        self.await_next()

    def learn(self, news: int) -> None:
        """Process newly crashed processes, given as a bit mask."""
        while news:
            lowest = news & -news
            j = lowest.bit_length() - 1
            self.crashed |= lowest
            self.correct[j] = 0
            self.notify(j)
            news ^= lowest
