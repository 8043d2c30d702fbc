"""The times and bounds of Section V, in one place."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

MS_PS = 10**9


@dataclass(frozen=True)
class Timing:
    """All that a study may tune; the defaults are the paper's where it gives one."""

    ack_ps: int = 500 * MS_PS
    """From the first message that is not acknowledged to the acknowledgement: at most one in that time, on average."""
    idle_acks: bool = False
    """Acknowledge even if nothing arrived since the last time, as Algorithm 1 (53) and 3 (51) print it. The paper's 0.4
    messages for each delivery leave no room for that: the acknowledgements of 70 hosts alone would be 0.36."""
    ack_intervals: bool = False
    """Beyond the paper: a host tells what it has received out of order, too, and only what some host lacks is sent
    again."""
    retry_max_ps: int = 1000 * MS_PS
    """A pending message is sent again after this long if few are pending..."""
    retry_min_ps: int = 200 * MS_PS
    """... and after this long if `outstanding` are; linear in between (the paper gives the ends only)."""
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

    @property
    def soonest_ack_ps(self) -> int:
        """A host acknowledges a message no sooner than this long after it arrived."""
        return self.ack_ps - self.ack_ps // 4

    @staticmethod
    def jittered_ps(wait_ps: int, random: Random) -> int:
        """That long, give or take a quarter: nodes that begin to wait at the same instant (the hosts of a cell that
        hear one message, two stations that do not hear each other) must not collide for ever."""
        return wait_ps - wait_ps // 4 + random.randrange(wait_ps // 2)
