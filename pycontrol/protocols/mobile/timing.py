"""The times and bounds of Section V, in one place."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

MS_PS = 10**9
TURN_JITTER_PS = 10 * MS_PS
"""Standard deviation around a node's turn, in the authors' later program."""


@dataclass(frozen=True)
class Timing:
    """All that a study may tune; the defaults are the paper's where it gives one."""

    ack_ps: int = 500 * MS_PS
    """From the first message that is not acknowledged to the acknowledgement: at most one in that time, on average."""
    idle_acks: bool = False
    """Acknowledge even if nothing arrived since the last time, as Algorithm 1 (53) and 3 (51) print it. The paper's 0.4
    messages for each delivery leave no room for that: the acknowledgements of 70 hosts alone would be 0.36."""
    ack_turns: int = 0
    """Acknowledge every `ack_ps` sharp, each node at its own turn of so many, give or take `TURN_JITTER_PS`: the
    authors' later program. 0: wherever the last one left it, give or take a quarter."""
    station_ack_ps: int = 0
    """The same for stations; 0: as hosts."""
    ack_intervals: bool = False
    """Beyond the paper: a host tells what it has received out of order, too, and only what some host lacks is sent
    again."""
    retry_max_ps: int = 1000 * MS_PS
    """A pending message is sent again after this long if few are pending..."""
    retry_min_ps: int = 200 * MS_PS
    """... and after this long if `outstanding` are; linear in between (the paper gives the ends only)."""
    retry_by_age: bool = False
    """Not how many are pending counts but a message's place among them: `retry_max_ps` for the newest, down to
    `retry_min_ps` for the oldest. The authors' later program has such a line, from 1 to 1/2 of a base."""
    host_retry_ps: int = 0
    """A host sends its own message again after this long; 0: as stations."""
    outstanding: int = 150
    """A station sends only the oldest so many pending messages; the rest wait their turn."""
    connect_ps: int = 1000 * MS_PS
    """A join, init or leave is sent again after this long without an answer."""
    spread_ps: int = 500 * MS_PS
    """The first join falls anywhere in this long: hosts that start together must not speak together."""
    memory_ps: int = 60_000 * MS_PS
    """How long a station remembers that a session is over. No packet may travel longer over the air."""

    def retry_ps(self, pending: int) -> int:
        """calcTimeout of the paper: how long to wait before sending again, with so many messages pending."""
        load = min(pending, self.outstanding)
        return self.retry_max_ps - (self.retry_max_ps - self.retry_min_ps) * load // self.outstanding

    def retry_at_ps(self, place: int, pending: int) -> int:
        """The same for the message that is the place-th oldest (from 1) of those pending."""
        if not self.retry_by_age:
            return self.retry_ps(pending)
        return self.retry_min_ps + (self.retry_max_ps - self.retry_min_ps) * place // pending

    def own_retry_ps(self, pending: int) -> int:
        """How long a host waits before it sends a message of its own again."""
        return self.host_retry_ps or self.retry_ps(pending)

    @property
    def soonest_ack_ps(self) -> int:
        """A host acknowledges a message no sooner than this long after it arrived."""
        return self.ack_ps // 4 if self.ack_turns else self.ack_ps - self.ack_ps // 4

    def ack_wait_ps(self, period_ps: int, node: int, now_ps: int, random: Random) -> int:
        """How long until a node acknowledges next; never less than a quarter of the period."""
        if not self.ack_turns:
            return self.jittered_ps(period_ps, random)
        turn_ps = period_ps * (node % self.ack_turns) // self.ack_turns
        soonest_ps = now_ps + period_ps // 2
        wait_ps = soonest_ps - now_ps + (turn_ps - soonest_ps) % period_ps
        return wait_ps + max(-period_ps // 4, min(period_ps // 4, round(random.gauss(0, TURN_JITTER_PS))))

    @staticmethod
    def jittered_ps(wait_ps: int, random: Random) -> int:
        """That long, give or take a quarter: nodes that begin to wait at the same instant (the hosts of a cell that
        hear one message, two stations that do not hear each other) must not collide for ever."""
        return wait_ps - wait_ps // 4 + random.randrange(wait_ps // 2)
