"""Measure the cost of a host and simulated second for networks of several sizes, on both packet-level engines.

The study is mobile20 (static, ten hosts per cell); the total rate of broadcasts is the same for all sizes.

    python -m bench.bench_cells [ENGINE [CELLS ...]]

The cost is the processor time of controller and simulator. It is the difference between a long and a short run, so that
building and joining the network do not count; the cost of the whole long run, with them, is beside it. Small networks
are run with several seeds, since their numbers of broadcasts vary.
"""

from __future__ import annotations

import resource
import sys

from bench.mobile import run_mobile
from causeway.bridge import engines
from causeway.studies.mobile20.study import CELLS, Mobile20Params

RATE = 20.0
"""Broadcasts per second of all hosts together."""
SHORT_S, LONG_S = 1, 5
SEEDS_FOR = 64
"""The minimum number of cells in the runs of one size, over all seeds."""
WARMUP_S, DRAIN_S = 2, 1
COSTS = ("us per host and s", "us per host and s of the whole run", "us per copy")
"""The figures whose growth is compared. A copy is one frame at one of its receivers."""

COMPARED = {f"{name} {cost}, {CELLS[-1]} cells over {CELLS[0]}": "lower" for name in ("omnet", "ns3") for cost in COSTS}


def run(names: tuple[str, ...] = ("omnet", "ns3"), sizes: tuple[int, ...] = (CELLS[0], CELLS[-1])) -> dict[str, float]:
    """Return microseconds per host and simulated second for each size, and their growth."""
    figures: dict[str, float] = {}
    for name in names:
        _cost(name, 1)  # loads imports and kernels
        for cells in sizes:
            figures |= _cost(name, cells)
        for cost in COSTS if len(sizes) > 1 else ():
            ends = [figures[f"{name} {cells} cells {cost}"] for cells in (sizes[0], sizes[-1])]
            figures[f"{name} {cost}, {sizes[-1]} cells over {sizes[0]}"] = ends[1] / ends[0]
    return figures


def _cost(name: str, cells: int) -> dict[str, float]:
    engine, seeds = engines.get(name), range(1, 2 + SEEDS_FOR // cells)
    used, controller, copies = {SHORT_S: 0.0, LONG_S: 0.0}, {SHORT_S: 0.0, LONG_S: 0.0}, {SHORT_S: 0.0, LONG_S: 0.0}
    for seed in seeds:
        for duration_s in (SHORT_S, LONG_S):
            params = Mobile20Params(
                cells=cells, hosts=10 * cells, rate=RATE, duration_s=duration_s, drain_s=DRAIN_S, warmup_s=WARMUP_S
            )
            before = _cpu_s()
            reported = run_mobile(engine, params, seed)[0].engine_scalars
            used[duration_s] += sum(_cpu_s()) - sum(before)
            controller[duration_s] += _cpu_s()[0] - before[0]
            copies[duration_s] += reported["network", "copies_received"] + reported["network", "copies_lost"]
    host_s = params.hosts * (LONG_S - SHORT_S) * len(seeds)
    whole_s = params.hosts * (WARMUP_S + LONG_S + DRAIN_S) * len(seeds)
    used_us, more_copies = 1e6 * (used[LONG_S] - used[SHORT_S]), copies[LONG_S] - copies[SHORT_S]
    return {
        f"{name} {cells} cells us per host and s": used_us / host_s,
        f"{name} {cells} cells us per host and s of the whole run": 1e6 * used[LONG_S] / whole_s,
        f"{name} {cells} cells of it controller": 1e6 * (controller[LONG_S] - controller[SHORT_S]) / host_s,
        f"{name} {cells} cells copies per host and s": more_copies / host_s,
        f"{name} {cells} cells us per copy": used_us / more_copies,
        f"{name} {cells} cells start and first {SHORT_S + WARMUP_S} s": used[SHORT_S] / len(seeds),
    }


def _cpu_s() -> list[float]:
    """Return the processor time of this process, and of the simulators that have ended."""
    return [sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]


if __name__ == "__main__":
    chosen = tuple(sys.argv[1:2]) or ("omnet", "ns3")
    for figure, value in run(chosen, tuple(map(int, sys.argv[2:])) or CELLS).items():
        print(f"{figure:50} {value:12,.3f}")
