"""What a host and simulated second cost as the network grows (mobile20, static, ten hosts a cell), on both packet-level
engines, at the same broadcasts a second in all.

    python -m bench.bench_cells [ENGINE [CELLS ...]]

Processor time of controller and simulator together; of two runs of different length the difference, so that building
the network and joining it do not count. Small networks run with several seeds: few broadcasts differ much in number.
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
SEEDS_FOR = 64
"""So many cells are run at least, with one seed after the other."""
COSTS = ("us per host and s", "us per copy")
"""What is told of each size, and how it grows: a copy is one frame at one receiver that it was meant for."""

COMPARED = {f"{name} {cost}, {CELLS[-1]} cells over {CELLS[0]}": "lower" for name in ("omnet", "ns3") for cost in COSTS}


def run(names: tuple[str, ...] = ("omnet", "ns3"), sizes: tuple[int, ...] = (CELLS[0], CELLS[-1])) -> dict[str, float]:
    """Microseconds for each host and simulated second, and how they grow."""
    figures: dict[str, float] = {}
    for name in names:
        _cost(name, 1)  # imports and kernels
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
                cells=cells, hosts=10 * cells, rate=RATE, duration_s=duration_s, drain_s=1, warmup_s=2
            )
            before = _cpu_s()
            reported = run_mobile(engine, params, seed)[0].engine_scalars
            used[duration_s] += sum(_cpu_s()) - sum(before)
            controller[duration_s] += _cpu_s()[0] - before[0]
            copies[duration_s] += reported["network", "copies_received"] + reported["network", "copies_lost"]
    host_s = params.hosts * (LONG_S - SHORT_S) * len(seeds)
    used_us, more_copies = 1e6 * (used[LONG_S] - used[SHORT_S]), copies[LONG_S] - copies[SHORT_S]
    return {
        f"{name} {cells} cells us per host and s": used_us / host_s,
        f"{name} {cells} cells of it controller": 1e6 * (controller[LONG_S] - controller[SHORT_S]) / host_s,
        f"{name} {cells} cells copies per host and s": more_copies / host_s,
        f"{name} {cells} cells us per copy": used_us / more_copies,
        f"{name} {cells} cells start and first {SHORT_S + 2} s": used[SHORT_S] / len(seeds),
    }


def _cpu_s() -> list[float]:
    """Processor time of this process, and of the simulators it has run so far."""
    return [sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]


if __name__ == "__main__":
    chosen = tuple(sys.argv[1:2]) or ("omnet", "ns3")
    for figure, value in run(chosen, tuple(map(int, sys.argv[2:])) or CELLS).items():
        print(f"{figure:50} {value:12,.3f}")
