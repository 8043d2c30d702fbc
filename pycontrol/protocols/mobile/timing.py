"""The times and bounds of Section V, in one place."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

MS_PS = 10**9
TURN_JITTER_PS = 10 * MS_PS
"""The standard deviation around a node's turn in the authors' later program."""


@dataclass(frozen=True)
class Timing:
    """The parameters that a study may tune. The defaults are the paper's values, where it prints them."""

    ack_ps: int = 500 * MS_PS
    """The mean time from the first unacknowledged message to the acknowledgement."""
    idle_acks: bool = False
    """Acknowledge even if nothing arrived since the last time, as Algorithms 1 (53) and 3 (51) are printed. The paper's
    0.4 messages for each delivery exclude that: the acknowledgements of 70 hosts alone would be 0.36."""
    ack_turns: int = 0
    """Divide `ack_ps` into this number of turns. A node acknowledges at its turn, with a jitter of `TURN_JITTER_PS`, as
    in the authors' later program. With 0, it acknowledges after `ack_ps`, plus or minus a quarter."""
    station_ack_ps: int = 0
    """`ack_ps` of stations; 0: the same as for hosts."""
    ack_intervals: bool = False
    """Beyond the paper: acknowledge messages received out of order, and send again only those that a host lacks."""
    retry_max_ps: int = 1000 * MS_PS
    """The time after which a pending message is sent again if few messages are pending."""
    retry_min_ps: int = 200 * MS_PS
    """The same time if `retry_full` messages are pending. In between it is interpolated linearly (the paper defines
    only the ends)."""
    retry_full: int = 0
    """The number of pending messages at which `retry_min_ps` is reached; 0: `outstanding`."""
    retry_by_age: bool = False
    """Interpolate over a message's place among the pending ones, instead of their number: from `retry_max_ps` for the
    newest to `retry_min_ps` for the oldest. The authors' later program does so, from 1 to 1/2 of a base."""
    host_retry_ps: int = 0
    """The time after which a host sends its own message again; 0: the same as for stations."""
    outstanding: int = 150
    """The maximum number of pending messages that a station sends, the oldest ones. The others wait."""
    connect_ps: int = 1000 * MS_PS
    """The time after which a join, init or leave without an answer is sent again."""
    spread_ps: int = 500 * MS_PS
    """The first join is at a random time up to this one, so that hosts do not all send at the start."""
    late_first_ack: bool = False
    """A host that recovers sends its first acknowledgement 2 to 3 s later, as in the authors' later program."""
    forget_ps: int = 0
    """A station forgets a host from which it has heard nothing for this time (T of Section IV.E); 0: never."""
    memory_ps: int = 60_000 * MS_PS
    """The time for which a station remembers that a session is over. No packet on the radio may take longer."""

    def retry_ps(self, pending: int) -> int:
        """Return the time after which to send a message again (calcTimeout of the paper)."""
        full = self.retry_full or self.outstanding
        return self.retry_max_ps - (self.retry_max_ps - self.retry_min_ps) * min(pending, full) // full

    def retry_at_ps(self, place: int, pending: int) -> int:
        """Return the time after which to send the place-th oldest (from 1) of the pending messages again."""
        if not self.retry_by_age:
            return self.retry_ps(pending)
        return self.retry_min_ps + (self.retry_max_ps - self.retry_min_ps) * place // pending

    def own_retry_ps(self, pending: int) -> int:
        """Return the time after which a host sends a message of its own again."""
        return self.host_retry_ps or self.retry_ps(pending)

    @property
    def soonest_ack_ps(self) -> int:
        """The minimum time between the arrival of a message at a host and its acknowledgement."""
        return self.ack_ps // 4 if self.ack_turns else self.ack_ps - self.ack_ps // 4

    def ack_wait_ps(self, period_ps: int, node: int, now_ps: int, random: Random) -> int:
        """Return the time until a node's next acknowledgement, which is at least a quarter of the period."""
        if not self.ack_turns:
            return self.jittered_ps(period_ps, random)
        turn_ps = period_ps * (node % self.ack_turns) // self.ack_turns
        soonest_ps = now_ps + period_ps // 2
        wait_ps = soonest_ps - now_ps + (turn_ps - soonest_ps) % period_ps
        return wait_ps + max(-period_ps // 4, min(period_ps // 4, round(random.gauss(0, TURN_JITTER_PS))))

    @staticmethod
    def jittered_ps(wait_ps: int, random: Random) -> int:
        """Return a time plus or minus a random part of up to a quarter.

        Otherwise nodes that begin to wait at the same instant, such as the hosts of a cell that receive the same
        message, would collide repeatedly.
        """
        return wait_ps - wait_ps // 4 + random.randrange(wait_ps // 2)
