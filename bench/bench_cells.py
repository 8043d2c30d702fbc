"""What a host and simulated second cost as the network grows (mobile20, static, ten hosts a cell), on both packet-level
engines, at the same broadcasts a second in all.

    python -m bench.bench_cells [ENGINE [CELLS ...]]

Processor time of controller and simulator together; of two runs of different length the difference, so that building
the network and joining it do not count.
"""

from __future__ import annotations

import resource
import sys

from bench.mobile import run_mobile
from causeway.bridge import engines
from causeway.studies.mobile20.study import CELLS, Mobile20Params

RATE = 20.0
"""Broadcasts a second of all hosts together."""
SHORT_S, LONG_S = 1, 5

COMPARED = {f"{name} {CELLS[-1]} cells over {CELLS[0]}": "lower" for name in ("omnet", "ns3")}


def run(names: tuple[str, ...] = ("omnet", "ns3"), sizes: tuple[int, ...] = (CELLS[0], CELLS[-1])) -> dict[str, float]:
    """Microseconds for each host and simulated second, and how they grow."""
    figures: dict[str, float] = {}
    for name in names:
        _cost(name, 1)  # imports and kernels
        for cells in sizes:
            figures |= _cost(name, cells)
        if len(sizes) > 1:
            ends = [figures[f"{name} {cells} cells us per host and s"] for cells in (sizes[0], sizes[-1])]
            figures[f"{name} {sizes[-1]} cells over {sizes[0]}"] = ends[1] / ends[0]
    return figures


def _cost(name: str, cells: int) -> dict[str, float]:
    engine, used, controller = engines.get(name), [], []
    for duration_s in (SHORT_S, LONG_S):
        params = Mobile20Params(cells=cells, hosts=10 * cells, rate=RATE, duration_s=duration_s, drain_s=1, warmup_s=2)
        before = _cpu_s()
        run_mobile(engine, params)
        used.append(sum(_cpu_s()) - sum(before))
        controller.append(_cpu_s()[0] - before[0])
    per = 1e6 / (params.hosts * (LONG_S - SHORT_S))
    return {
        f"{name} {cells} cells us per host and s": (used[1] - used[0]) * per,
        f"{name} {cells} cells of it controller": (controller[1] - controller[0]) * per,
        f"{name} {cells} cells start and first {SHORT_S + 2} s": used[0],
    }


def _cpu_s() -> list[float]:
    """Processor time of this process, and of the simulators it has run so far."""
    return [sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]


if __name__ == "__main__":
    chosen = tuple(sys.argv[1:2]) or ("omnet", "ns3")
    for figure, value in run(chosen, tuple(map(int, sys.argv[2:])) or CELLS).items():
        print(f"{figure:50} {value:12,.3f}")
