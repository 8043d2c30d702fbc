"""The times and bounds of Section V, in one place."""

from __future__ import annotations

from dataclasses import dataclass

MS_PS = 10**9


@dataclass(frozen=True)
class Timing:
    """All that a study may tune; the defaults are the paper's where it gives one."""

    ack_ps: int = 500 * MS_PS
    """Between two acknowledgements of a node."""
    retry_max_ps: int = 1000 * MS_PS
    """A pending message is sent again after this long if few are pending..."""
    retry_min_ps: int = 200 * MS_PS
    """... and after this long if `outstanding` are; linear in between (the paper gives the ends only)."""
    outstanding: int = 150
    """A station sends only the oldest so many pending messages; the rest wait their turn."""
    connect_ps: int = 1000 * MS_PS
    """A join, init or leave is sent again after this long without an answer."""
    spread_ps: int = 500 * MS_PS
    """The first join, and the first acknowledgement of a connection, fall anywhere in this long: nodes that start
    together must not speak together for ever."""
    memory_ps: int = 60_000 * MS_PS
    """How long a station remembers that a session is over. No packet may travel longer over the air."""

    def retry_ps(self, pending: int) -> int:
        """calcTimeout of the paper: how long to wait before sending again, with so many messages pending."""
        load = min(pending, self.outstanding)
        return self.retry_max_ps - (self.retry_max_ps - self.retry_min_ps) * load // self.outstanding
