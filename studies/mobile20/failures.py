"""The faults of Section V.C: a host of one station fails periodically, each time for longer."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, cast

import numpy as np

from causeway.pycontrol.protocols.mobile.meter import S_PS
from causeway.pycontrol.repeated import NEVER_AGAIN

if TYPE_CHECKING:
    from causeway.pycontrol.node import Node
    from causeway.pycontrol.protocols.mobile.station import Station

VICTIM_STATION = 3


@dataclass
class Failures:
    """A repeated job (`PerNode.every`) that makes a host of one station fail every 30 s.

    The first failure takes 3 s, the next ones 4 s, 5 s, ...
    """

    end_ps: int
    every_ps: int = 30 * S_PS
    first_length_ps: int = 3 * S_PS
    longer_ps: int = S_PS
    of_start: tuple[int, ...] = ()
    """The hosts from which victims are drawn; if it is (), those that are connected at the time of a failure."""
    forever: bool = False
    """Hosts do not recover, so no failure has an end that could be measured."""
    count: int = 0
    down: int = -1
    gone: set[int] = field(default_factory=set)
    """The hosts that do not recover."""
    log: list[tuple[int, int]] = field(default_factory=list)
    """(beginning, end) of every finished failure."""

    def run(self, node: Node) -> int:
        """Crash a host, or recover the crashed one; return the time until the next call."""
        station, reaction_ps = cast("Station", node), node.runtime.context.reaction_ps
        length_ps = self.first_length_ps + self.longer_ps * self.count
        if self.down >= 0:
            node.recover(self.down)
            self.down = -1
            self.count += 1
            self.log.append((node.now_ps - length_ps, node.now_ps))
            return self.every_ps - length_ps - reaction_ps
        if self.forever:
            length_ps = 0
        candidates = self.of_start or tuple(host for host, h in station.h.items() if h.holder)
        hosts = sorted(set(candidates) - self.gone)
        if node.now_ps + length_ps >= self.end_ps:
            return NEVER_AGAIN
        if not hosts:
            return S_PS + reaction_ps
        random = Random(node.runtime.context.seed * 1_000_003 + self.count)
        victim = random.choice(hosts)
        node.crash(victim)
        node.runtime.context.record("run", "host_down", node.now_ps, float(victim))
        if self.forever:
            self.gone.add(victim)
            self.count += 1
            return self.every_ps - reaction_ps
        self.down = victim
        return length_ps

    def scalars(self, series: tuple[list[int], list[float]]) -> dict[str, float]:
        """Return the mean recovery time, and the mean peak over the shorter and the longer failures (Figure 8b).

        Args:
            series: Times and sizes of the station's SBuffer. The station has recovered from a failure when its SBuffer
                is as small as in the 10 s before the failure.
        """
        times, sizes = np.array(series[0], np.int64), np.array(series[1])
        waits: list[float] = []
        peaks: list[float] = []
        for began_ps, ended_ps in self.log:
            before = sizes[(times < began_ps) & (times > began_ps - 10 * S_PS)]
            until_ps = min(began_ps + self.every_ps, self.end_ps)
            peaks.append(float(sizes[(times >= began_ps) & (times < until_ps)].max(initial=0.0)))
            after = (times >= ended_ps) & (times <= until_ps) & (sizes <= before.max(initial=0.0))
            if after.any():
                waits.append((int(times[after][0]) - ended_ps) / S_PS)
        found = {"failures": float(len(self.log)), "failures_unrecovered": float(len(self.log) - len(waits))}
        if half := len(peaks) // 2:
            found["failure_peak_short"] = sum(peaks[:half]) / half
            found["failure_peak_long"] = sum(peaks[-half:]) / half
        return found | ({"recovery_s": sum(waits) / len(waits)} if waits else {})
