"""VCube's failure detector as a protocol: periodic tests, replies within a time limit, news passed on with the replies.

Each process has one detector; it runs beside the process, on a node of its own (`first_node` + process): tests do not
queue behind the packets of the broadcast (the message counts of ladc18, Table 4, say that they did not). The system is
synchronous and crashes are for good, so the detector is perfect, and the state counters of VCube reduce to one bit a
process: crashed or not.

A round: test all you are the first correct tester of, then look at the replies in that order, waiting up to
`timeout_ps` for each; who has not replied by then has crashed. The next round begins `interval_ps` after the last reply
or its time limit.
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
        """`notify(j)` is told once of each crashed j; a new round begins only if `more()`."""
        self.process, self.processes, self.first_node = process, processes, first_node
        self.interval_ps, self.timeout_ps = interval_ps, timeout_ps
        self.notify, self.more = notify, more
        self.correct = bytearray([1]) * processes
        self.crashed = 0
        """The same as a bit mask: what a reply carries."""
        self.awaited: list[int] = []
        self.replied: set[int] = set()
        self.limit_ps = NEVER
        """When the time limit of the reply waited for is up."""
        self.tests = 0

    # ---- a round --------------------------------------------------------------------------------------------------
    def on_start(self) -> None:
        self.begin_round()

    def begin_round(self) -> None:
        self.awaited = tested_by(self.process, self.processes, self.correct)[::-1]  # the next one is the last
        self.replied.clear()
        for j in reversed(self.awaited):
            self.tests += 1
            self.send(self.first_node + j, (TEST, 0), TEST_BYTES)
        self.await_next()

    def await_next(self) -> None:
        """Waits for the next reply that is still missing; after the last one, for the next round."""
        while self.awaited and self.awaited[-1] in self.replied:
            self.awaited.pop()
        if self.awaited:
            self.limit_ps = self.now_ps + self.timeout_ps
            self.set_timer("reply", self.timeout_ps - self.host.context.reaction_ps)
        else:
            self.limit_ps = NEVER
            self.cancel_timer("reply")
            self.set_timer("round", self.interval_ps - self.host.context.reaction_ps)

    # ---- events ---------------------------------------------------------------------------------------------------
    def on_packet(self, content: Any, sender: int, interface: int) -> None:
        kind, news = content
        if kind == TEST:
            self.send(sender, (REPLY, self.crashed), TEST_BYTES)
            return
        self.learn(news & ~self.crashed)
        self.replied.add(sender - self.first_node)
        if self.awaited and self.awaited[-1] == sender - self.first_node:
            self.await_next()

    def on_timer(self, key: Hashable) -> None:
        if key == "reply":
            self.time_out()
        elif self.more():
            self.begin_round()

    def notice_due(self) -> None:
        """For the process: a time limit that is up at this instant comes before a packet of this instant."""
        if self.limit_ps <= self.now_ps:
            self.time_out()

    def time_out(self) -> None:
        silent = self.awaited.pop()
        if self.correct[silent]:
            self.learn(1 << silent)
        self.await_next()

    def learn(self, news: int) -> None:
        """Processes that are news to us have crashed."""
        while news:
            lowest = news & -news
            j = lowest.bit_length() - 1
            self.crashed |= lowest
            self.correct[j] = 0
            self.notify(j)
            news ^= lowest
