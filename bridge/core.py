"""Which cores a run's two processes have, and whether the simulator runs ahead of the controller.

With a core for each of them, the simulator sends a window as soon as it can and goes on until the answer can take
effect, while the controller works. Else both take turns on one: waking up another core costs more than a window. Other
processes that compute need cores, too: where they leave less than two, or a campaign has runs for all of them (SWITCH),
there is one.

A core is chosen among those this process may use and claimed for the run, so that runs side by side get one each; where
none is free, both processes stay where the system puts them. The core of a controller may become another run's, if
there is no better one: then that one shares it.
"""

from __future__ import annotations

import os
import socket
import time

SWITCH = "CAUSEWAY_SHARE_CORE"
"""Environment: 1: simulator and controller share a core, always; 0: no process is bound to a core."""
CLAIM = "causeway-core"
LOOKS, LOOK_S = 5, 0.002


class Cores:
    """Claims cores for a simulator and the calling thread; `release` undoes it.

    Threads and processes begin where the one that starts them is: the simulator is started after `simulator_begins`.
    """

    def __init__(self, ahead: bool | None = None) -> None:
        """`ahead`: whether the simulator runs ahead; None: if there is a core for each."""
        self.simulator: int | None = None
        self.controller: int | None = None
        self.ahead = bool(ahead)
        """Whether the simulator runs ahead."""
        self._claims: list[socket.socket] = []
        self._allowed: set[int] = set()
        if not hasattr(os, "sched_setaffinity") or os.environ.get(SWITCH) == "0":
            return
        allowed = os.sched_getaffinity(0)
        if len(allowed) < 2 or (core := self._claim_best(allowed)) is None:
            return
        self._allowed = allowed
        self.simulator = self.controller = core
        if ahead is None:
            ahead = os.environ.get(SWITCH) != "1" and others_running() + 2 <= len(allowed)
        if ahead:
            self._look_for_another(allowed - {core})
            self.ahead = self.ahead or self.are_two
        os.sched_setaffinity(0, {self.controller})

    def _claim_best(self, allowed: set[int]) -> int | None:
        """A core that is no run's; better one where no controller is, either."""
        second_best = None
        for core in sorted(allowed, reverse=True):  # the first cores have the interrupts
            if (claim := _claim(f"{core}")) is None:
                continue
            if (other := _claim(f"{core}-controller")) is not None:
                other.close()
                self._claims.append(claim)
                return core
            if second_best is not None:
                claim.close()
                continue
            second_best = core, claim
        if second_best is None:
            return None
        self._claims.append(second_best[1])
        return second_best[0]

    def _look_for_another(self, allowed: set[int]) -> None:
        """A core for the controller, that no run has claimed."""
        for core in sorted(allowed, reverse=True):
            if (free := _claim(f"{core}")) is not None:
                free.close()
                if (claim := _claim(f"{core}-controller")) is not None:
                    self._claims.append(claim)
                    self.controller = core
                    return

    @property
    def are_two(self) -> bool:
        """Whether each of the two has a core of its own."""
        return self.simulator != self.controller

    def simulator_begins(self) -> None:
        """What this thread starts now is the simulator."""
        if self.simulator is not None:
            os.sched_setaffinity(0, {self.simulator})

    def simulator_began(self) -> None:
        """The calling thread is the controller again."""
        if self.controller is not None:
            os.sched_setaffinity(0, {self.controller})

    def release(self) -> None:
        """May be called twice."""
        if self._claims:
            os.sched_setaffinity(0, self._allowed)
        for claim in self._claims:
            claim.close()
        self._claims = []


def others_running() -> int:
    """How many processes but this one want a core just now: the least of some looks, since most come and go."""
    least = None
    for _ in range(LOOKS):
        with open("/proc/loadavg") as file:
            running = int(file.read().split()[3].split("/")[0]) - 1
        least = running if least is None else min(least, running)
        if not least:
            break
        time.sleep(LOOK_S)
    return least or 0


def _claim(name: str) -> socket.socket | None:
    """A name in Linux's abstract namespace: it has one owner at a time, and is gone with the process."""
    claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        claim.bind(f"\0{CLAIM}-{name}")
    except OSError:
        claim.close()
        return None
    return claim
