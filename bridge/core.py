"""One core for two processes that take turns.

In lockstep the simulator waits while the controller works and the other way round, so a second core gains nothing, and
waking it up costs: on a virtual machine with two cores, windows come 1.7 times as fast on one of them. The core is
chosen among those this process may use and claimed for the run, so that runs side by side get one each; where none is
free, both processes stay where the system puts them.
"""

from __future__ import annotations

import os
import socket

SWITCH = "CAUSEWAY_SHARE_CORE"
"""Environment: 0 turns this off."""
CLAIM = "causeway-core"


class SharedCore:
    """Claims a core for the calling thread and the processes and threads that it starts; `release` undoes it."""

    def __init__(self) -> None:
        self.core: int | None = None
        self._claim: socket.socket | None = None
        self._allowed: set[int] = set()
        if not hasattr(os, "sched_setaffinity") or os.environ.get(SWITCH) == "0":
            return
        allowed = os.sched_getaffinity(0)
        if len(allowed) < 2:
            return
        for core in sorted(allowed, reverse=True):  # the first cores have the interrupts
            if (claim := _claim(core)) is not None:
                self.core, self._claim, self._allowed = core, claim, allowed
                os.sched_setaffinity(0, {core})
                return

    def release(self) -> None:
        """May be called twice."""
        if self._claim is not None:
            os.sched_setaffinity(0, self._allowed)
            self._claim.close()
            self._claim = None


def _claim(core: int) -> socket.socket | None:
    """A name in Linux's abstract namespace: it has one owner at a time, and is gone with the process."""
    claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        claim.bind(f"\0{CLAIM}-{core}")
    except OSError:
        claim.close()
        return None
    return claim
