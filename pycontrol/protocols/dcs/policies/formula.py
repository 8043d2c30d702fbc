"""Sizing by the error formula of Section II of dcs23 (from the paper `hash`): (1 - (1 - 1/M)^(X k))^k.

The formula is the probability that X concurrent messages cover all k entries of a dependency. A message is delivered
too early only if, in addition, a dependency is missing when it arrives; load * `early_s` estimates this probability.
With 1 in its place, as if a dependency were always missing, the clocks would be more than ten times as large.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from causeway.pycontrol.protocols.dcs.policies.sized import Sizing


def error(entries: float, concurrent: float, increments: int) -> float:
    """Return the value of the formula as printed."""
    return float((1 - (1 - 1 / entries) ** (concurrent * increments)) ** increments)


def _density(x: float) -> float:
    """Return the density of the standard normal distribution."""
    return float(np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi))


def early_s(mean_s: float, sd_s: float, processes: int) -> float:
    """Return the expected time by which a message is ahead of its dependencies, summed over all senders.

    Multiplied by the load, it is the expected number of direct dependencies that are missing when a message arrives. It
    is E[max(0, d1 - d2 - d3)] of three normal delays for a dependency that the message's sender had delivered, and
    E[max(0, d1 - d2)] for one that the sender itself had sent, which is one message in N.
    """
    if sd_s == 0:
        return 0.0
    sd = sd_s * np.sqrt(3)
    delivered = sd * _density(mean_s / sd) - mean_s * ndtr(-mean_s / sd)
    return float(delivered + sd_s * np.sqrt(2) * _density(0.0) / processes)


def sizing(target_error: float, increments: int, delay_s: float, early: float) -> Sizing:
    """Return a sizing for which load * early * error equals the target.

    The number of concurrent messages is X = load * delay_s.
    """

    def entries_for(load_per_s: NDArray[np.float64]) -> NDArray[np.float64]:
        load = np.maximum(load_per_s, 1e-9)
        covered = np.minimum(target_error / (load * early), 1.0) ** (1 / increments)
        free = np.maximum(1 - covered, 1e-300) ** (1 / (load * delay_s * increments))
        return 1 / np.maximum(1 - free, 1e-9)

    return entries_for
