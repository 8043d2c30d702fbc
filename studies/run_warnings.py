"""Warnings about a run. They are stored with its results, so that every command that shows these can show them, too."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow.compute as pc

from causeway.network.networks import Network
from causeway.network.units import PICOSECONDS

OWNER = "run"
S_PS, US_PS = 10**12, 10**6
DURATIONS = {"stays of nodes last": "less than a microsecond"}
"""The times of `early_events` that are durations, with the words about them."""
NAME = "causeway warning"
KEPT = (pc.field("owner") == OWNER) & (pc.field("name") == NAME)
"""Selects the warnings among the rows of the table `attributes`."""


_printed: set[str] = set()


def as_rows(warnings: Sequence[str]) -> dict[str, list[Any]]:
    """Return warnings as rows of the table `attributes`."""
    count = len(warnings)
    return {
        "owner": [OWNER] * count, "module": [""] * count, "item": [""] * count, "name": [NAME] * count,
        "value": list(warnings), "position": list(range(count)),
    }  # fmt: skip


def late_events(network: Network, end_ps: int) -> list[str]:
    """Return a line for what a network describes for times after the end of the run; 0: the run has no such end."""
    script = network.workload.script
    times = {
        "broadcasts of the script": () if script is None else script.time_ps,
        "failures of nodes": network.faults.time_ps,
        "network faults": [one.from_ps for one in getattr(network, "network_faults", ())],
    }
    found = []
    for what, begin_ps in times.items():
        late = int(np.count_nonzero(np.asarray(begin_ps) >= end_ps))
        if end_ps and late:
            found.append(f"{late} of {len(begin_ps)} {what} are after the end of the run, {end_ps / S_PS:g} s")
    return found


def early_events(network: Network) -> list[str]:
    """Return a line for what ends or happens so early that its time is a number of seconds, in all likelihood."""
    script, stays = network.workload.script, network.stays
    times = {
        "broadcasts of the script are": () if script is None else script.time_ps,
        "segments of the workload begin": [one.start_ps for one in network.workload.segments],
        "failures and recoveries of nodes are": network.faults.time_ps,
        "network faults end": [one.to_ps for one in getattr(network, "network_faults", ())],
        "stays of nodes last": () if stays is None else stays.to_ps - stays.from_ps,
    }
    return [
        f"{early} of {len(at_ps)} {what} {DURATIONS.get(what, 'in the first microsecond')}; {PICOSECONDS}"
        for what, at_ps in times.items()
        if (early := int(np.count_nonzero((np.asarray(at_ps) > 0) & (np.asarray(at_ps) < US_PS))))
    ]


def short_times(reaction_ps: int, duration_ps: int) -> list[str]:
    """Return a line for a reaction time and for a duration below a microsecond."""
    found = []
    if reaction_ps < US_PS:
        found.append(f"the reaction time is {reaction_ps / 1000:g} ns, less than a microsecond; {PICOSECONDS}")
    if 0 < duration_ps < US_PS:
        found.append(f"the run ends at {duration_ps / 1000:g} ns, within the first microsecond; {PICOSECONDS}")
    return found


def print_warnings(of_runs: Sequence[Sequence[str]]) -> None:
    """Print the warnings about the runs of a Python program. Each warning is printed once in a process."""
    for line in in_lines(of_runs):
        if line not in _printed:
            _printed.add(line)
            print(f"causeway: {line}", file=sys.stderr)


def in_lines(of_runs: Sequence[Sequence[str]]) -> list[str]:
    """Return one line for each warning about several runs, with the number of its runs if these are not all."""
    counts: dict[str, int] = {}
    for warnings in of_runs:
        for warning in warnings:
            counts[warning] = counts.get(warning, 0) + 1
    runs = len(of_runs)
    return [f"warning: {text}{'' if n == runs else f' (in {n} of {runs} runs)'}" for text, n in counts.items()]
