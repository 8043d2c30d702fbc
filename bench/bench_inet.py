"""Measure the cost of the bridge on OMNeT++/INET, and of a simulated second with more hosts (mobile20, dynamic).

The bridge's cost is a ratio: the time of `dynamic`, divided by that of the same network without a bridge and with plain
UDP traffic. The plain traffic has the same number of datagrams on the radio and on the wires, with the same mean size.
The fastest of several runs counts. The number of windows depends on the reaction time, which is the lookahead: 1 ms in
the study, and longer ones for comparison. For each window, the figures contain the time that the controller worked on
it and the time that the simulator waited for the answer. The rest of its cost is for sending it, for cold caches, and
for starting both programs.
"""

from __future__ import annotations

import os
import resource
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from bench.mobile import PLAIN, SEED, cost_by_hosts, run_mobile
from causeway.bridge.engines.omnet import OmnetEngine
from causeway.bridge.engines.omnet_inet import INET_ADAPTER, missing_inet, plain_command
from causeway.errors import RunError, UserError
from causeway.pycontrol.loop import Outcome
from causeway.studies.mobile20.study import Mobile20Params
from causeway.toolchain.omnet_find import Found, find_omnetpp, pairs

ROUNDS = 3
RUNS = ((1000, 20), (2000, 20), (5000, 20), (1000, 60))
"""Reaction time in µs and measured time in s. In a longer run, a smaller part of the time goes into starting the
simulator."""
HEADERS_BYTES = 8 + 20 + 21 + 11
"""The headers of a frame in addition to its payload: UDP, IPv4, MAC and the header of the unit disk radio."""


def _named(name: str, reaction_us: int, duration_s: int) -> str:
    return f"{name}, reaction {reaction_us / 1000:g} ms, {duration_s} s"


PAIRS_RUN = (1000, 60)
PAIRS_ROUNDS = 5

COMPARED = {_named(name, *run): "lower" for name in ("ratio", "ratio of processor time") for run in RUNS}


def run() -> dict:
    """Measure the bridge's cost, and the cost by number of hosts."""
    engine, found = OmnetEngine(), find_omnetpp()
    why = engine.missing() or (missing_inet(found) if found else None)
    if why or found is None:
        raise UserError(str(why))
    figures: dict[str, float] = {}
    for reaction_us, duration_s in RUNS:
        for name, value in _overhead(engine, found, reaction_us, duration_s).items():
            figures[_named(name, reaction_us, duration_s)] = value
    return figures | by_pair(engine) | cost_by_hosts(engine, "unitdisk")


def by_pair(engine: OmnetEngine) -> dict[str, float]:
    """Measure the bridge's cost on every pair in turns, and the ratios between pairs."""
    every = pairs()
    if len(every) < 2:
        return {}
    reaction_us, duration_s = PAIRS_RUN
    params = Mobile20Params(experiment="dynamic", **PLAIN, duration_s=duration_s, drain_s=1, reaction_us=reaction_us)
    bridged: dict[str, list[float]] = {pair.text: [] for pair in every}
    plain: dict[str, list[float]] = {pair.text: [] for pair in every}
    for turn in range(PAIRS_ROUNDS):
        for pair in every if turn % 2 == 0 else reversed(every):
            with _chosen(pair):
                before_s = _cpu_s()
                outcome, simulated_s = run_mobile(engine, params)
                bridged[pair.text].append(_cpu_s() - before_s)
                before_s = _cpu_s()
                _plain(pair, params, simulated_s, outcome.finish.scalars)
                plain[pair.text].append(_cpu_s() - before_s)
    ratios = {name: min(bridged[name]) / min(plain[name]) for name in bridged}
    first, *others = (pair.text for pair in every)
    return {
        **{f"ratio of processor time, in turns, {name}": ratio for name, ratio in ratios.items()},
        **{f"processor s with the bridge, {name}": min(bridged[name]) for name in bridged},
        **{f"ratio of {other} over that of {first}": ratios[other] / ratios[first] for other in others},
    }


@contextmanager
def _chosen(pair: Found) -> Iterator[None]:
    """Make engine omnet use a pair."""
    before = dict(os.environ)
    os.environ |= {"OMNETPP_ROOT": str(pair.root), "INET_ROOT": str(pair.inet_root)}
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _overhead(engine: OmnetEngine, found: Found, reaction_us: int, duration_s: int) -> dict[str, float]:
    """Measure bridged runs and the plain one in turns; return their ratio."""
    params = Mobile20Params(experiment="dynamic", **PLAIN, duration_s=duration_s, drain_s=1, reaction_us=reaction_us)
    runs: list[tuple[float, float, Outcome]] = []
    plain, plain_cpu_s = [], []
    for _ in range(ROUNDS):
        before_s = _cpu_s()
        outcome, simulated_s = run_mobile(engine, params)
        runs.append((outcome.wall_s, _cpu_s() - before_s, outcome))
        before_s = _cpu_s()
        plain.append(_plain(found, params, simulated_s, outcome.finish.scalars))
        plain_cpu_s.append(_cpu_s() - before_s)
    wall_s, _, best = min(runs, key=lambda run: run[0])
    us = 1e6 / best.windows
    return {
        "plain, wall s": min(plain),
        "ratio": wall_s / min(plain),
        "ratio of processor time": min(cpu_s for _, cpu_s, _ in runs) / min(plain_cpu_s),
        "wall s": wall_s,
        "windows a simulated s": best.windows / simulated_s,
        "us a window": (wall_s - min(plain)) * us,
        "of these, the simulator waits": best.finish.waited_s * us,
        "the controller works, us a window": best.controller_s * us,
    }


def _cpu_s() -> float:
    """Return the processor time of this process and of the simulators that it has run."""
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def _plain(found: Found, params: Mobile20Params, simulated_s: float, air: Mapping[tuple[str, str], float]) -> float:
    """Return the wall time of the plain network with the measured load."""
    load = {name: value for (_, name), value in air.items()}
    stations = load["station_frames"], load["station_bytes"] / load["station_frames"] - HEADERS_BYTES, params.cells
    hosts = load["host_frames"], load["host_bytes"] / load["host_frames"] - HEADERS_BYTES, params.hosts
    wires = load["wire_packets"], load["wire_bytes"] / load["wire_packets"], 2 * (params.cells - 1)
    settings = [f"--*.numHosts={params.hosts}", f"--sim-time-limit={simulated_s}s", f"--seed-set={SEED}"]
    for app, (count, size_bytes, senders) in {
        "station[*].app[0]": stations, "host[*].app[0]": hosts, "station[*].app[1]": wires
    }.items():  # fmt: skip
        settings.append(f"--*.{app}.rate={count / senders / simulated_s}Hz")
        settings.append(f"--*.{app}.messageLength={round(size_bytes)}B")
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as results:
        command = plain_command(found, "PlainUnitDisk", *settings, f"--result-dir={results}")
        ran = subprocess.run(command, cwd=INET_ADAPTER, capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        raise RunError(f"the plain network did not run: {ran.stdout[-300:]} {ran.stderr[-300:]}")
    return time.perf_counter() - began
