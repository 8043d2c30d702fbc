"""Check the numbers of a run before they become picoseconds and 32-bit integers.

Parameters of a study usually have tighter bounds of their own. The bounds here hold for every study, also for numbers
that it computes from its parameters.
"""

from __future__ import annotations

import numpy as np

from causeway.bridge.engine import RunSpec
from causeway.bridge.validation import LATEST_PS, MOST_NODES
from causeway.errors import UserError
from causeway.network.networks import AbstractNetwork
from causeway.network.units import check_time

FASTEST_PER_S = 1e9
"""The maximum rate of broadcasts of a whole system per second. At higher rates, several would be in every nanosecond.
"""
SLOWEST_PER_S = 1e-5
"""The minimum rate of broadcasts per second. At lower rates, the time to the next one may exceed 64 bits of
picoseconds."""
LARGEST_SEED = 2**63 - 1
"""The maximum of the columns of 64-bit integers in result tables."""
MOST_ENTRIES = 200_000_000
"""The maximum length of one array of a study, which is 1.6 GB for 64-bit numbers."""


def must_fit(what: str, entries: int) -> None:
    """Refuse parameters that need too large an array. Call it in validators of parameters.

    Raises:
        ValueError: The array `what` would have more than `MOST_ENTRIES` entries.
    """
    if entries > MOST_ENTRIES:
        raise ValueError(
            f"{what} would have {entries:,} entries; choose smaller parameters (the maximum is {MOST_ENTRIES:,})"
        )


def check_seed(seed: int) -> int:
    """Return the seed; raise UserError if a column of the tables cannot hold it."""
    if not 0 <= seed <= LARGEST_SEED:
        raise UserError(f"a seed must be at least 0 and below 2^63, not {seed}")
    return seed


def check_spec(spec: RunSpec) -> None:
    """Raise UserError if a number of a run is outside the range of the engines."""
    network, workload = spec.network, spec.network.workload
    _within(spec, "reaction time (ps)", spec.reaction_ps, 1, LATEST_PS)
    _within(spec, "duration (ps)", spec.duration_ps, 0, LATEST_PS)
    _long_enough(spec)
    if isinstance(spec.reaction_ps, int | np.integer):
        check_time(f"study {spec.study}: the reaction time", int(spec.reaction_ps))
    _within(spec, "number of nodes", network.nodes, 1, MOST_NODES)
    _within(spec, "number of messages", workload.messages, 0, 2**31 - 1)
    _within(spec, "size of a message (bytes)", workload.size_bytes, 0, 2**31 - 1)
    for segment in workload.segments:
        if segment.rate_per_s:
            _within(spec, "broadcasts per second", segment.rate_per_s, SLOWEST_PER_S, FASTEST_PER_S)
        _within(spec, "start of a segment of the load (ps)", segment.start_ps, 0, LATEST_PS)
    if workload.script is None and workload.messages and workload.segments:
        last = workload.segments[-1]
        end_ps = last.start_ps + (2e12 * workload.messages / last.rate_per_s if last.rate_per_s else 0)
        _within(spec, "time until all messages are sent (ps)", end_ps, 0, LATEST_PS)
    if workload.script is not None and len(workload.script.time_ps):
        _within(spec, "time of a scripted broadcast (ps)", float(workload.script.time_ps.min()), 0, LATEST_PS)
        _within(spec, "time of a scripted broadcast (ps)", float(workload.script.time_ps.max()), 0, LATEST_PS)
    if isinstance(network, AbstractNetwork):
        quantiles = np.asarray(network.delay)
        if quantiles.size:
            extreme = quantiles.max() if np.isfinite(quantiles.min()) else quantiles.min()
            _within(spec, "delay of a packet (ps)", float(extreme) * 1000, 0, LATEST_PS)
        _within(spec, "time to send a packet (ps)", network.send_ps, 0, LATEST_PS)
        _within(spec, "time to receive a packet (ps)", network.recv_ps, 0, LATEST_PS)


def _long_enough(spec: RunSpec) -> None:
    """Refuse a duration below the reaction time, which is most likely in seconds instead of picoseconds."""
    if isinstance(spec.duration_ps, int | np.integer) and 0 < spec.duration_ps < spec.reaction_ps:
        raise UserError(
            f"study {spec.study}: duration_ps is {spec.duration_ps} ps, less than the reaction time "
            f"({spec.reaction_ps} ps), so nothing would happen; times are picoseconds, as seconds(30) gives them"
        )


def _within(spec: RunSpec, what: str, value: float, low: float, high: float) -> None:
    if not isinstance(value, int | float | np.integer | np.floating):
        return  # the engine reports wrong types (bridge/validation_spec.py)
    if not low <= value <= high:  # NaN is out of range, too
        raise UserError(f"study {spec.study}: {what} is {value:g}; allowed: {low:g} to {high:g}")
