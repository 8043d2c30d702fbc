"""Sizing by the error formula of Section II of dcs23 (taken from hash): (1 - (1 - 1/M)^(X k))^k.

The formula gives the probability that X concurrent messages cover all k entries of a dependency. A message is
delivered too early only if a dependency is really missing when it arrives; `early_s` is how likely that is per unit of
load. Without it (1 / load: as if a dependency were always missing) the formula asks for clocks more than ten times as
large.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from causeway.pycontrol.protocols.dcs.policies.sized import Sizing


def error(entries: float, concurrent: float, increments: int) -> float:
    """The formula as printed."""
    return float((1 - (1 - 1 / entries) ** (concurrent * increments)) ** increments)


def _density(x: float) -> float:
    """Of the standard normal distribution."""
    return float(np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi))


def early_s(mean_s: float, sd_s: float, processes: int) -> float:
    """How long a message stays ahead of a dependency, summed over all senders: times the load it is the expected number
    of direct dependencies that are missing when a message arrives. E[max(0, d1 - d2 - d3)] of three normal delays for a
    dependency that its sender delivered, and E[max(0, d1 - d2)] for one that it sent itself, one message in N."""
    if sd_s == 0:
        return 0.0
    sd = sd_s * np.sqrt(3)
    delivered = sd * _density(mean_s / sd) - mean_s * ndtr(-mean_s / sd)
    return float(delivered + sd_s * np.sqrt(2) * _density(0.0) / processes)


def sizing(target_error: float, increments: int, delay_s: float, early: float) -> Sizing:
    """Entries for which load * early * error is the target, with X = load * delay_s messages concurrent to one."""

    def entries_for(load_per_s: NDArray[np.float64]) -> NDArray[np.float64]:
        load = np.maximum(load_per_s, 1e-9)
        covered = np.minimum(target_error / (load * early), 1.0) ** (1 / increments)
        free = np.maximum(1 - covered, 1e-300) ** (1 / (load * delay_s * increments))
        return 1 / np.maximum(1 - free, 1e-9)

    return entries_for
