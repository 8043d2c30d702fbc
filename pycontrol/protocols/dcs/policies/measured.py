"""Sizing by the measured curve of Figure 5: the size that a probabilistic clock needs in simulations.

The runs of `dcs23 --sweep figure5`, reduced by `causeway.studies.dcs23.sizes`, follow a power law in the load and in
the error:

    entries = SCALE * load^LOAD_POWER * error^ERROR_POWER

with two entries a process and delays N(100 ms, 20 ms). The constants are the fit of the first 106 runs, with which the
results in docs/papers/dcs23.md were made. 206 runs give 5.3e-4, 1.53 and -0.52, which is a clock 13% larger at 200
messages per second and an error of 2e-5.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from causeway.pycontrol.protocols.dcs.policies.sized import Sizing

SCALE, LOAD_POWER, ERROR_POWER = 7.7e-4, 1.48, -0.50


def sizing(target_error: float) -> Sizing:
    """Return a sizing that keeps the target error at any load."""

    def entries_for(load_per_s: NDArray[np.float64]) -> NDArray[np.float64]:
        return SCALE * np.maximum(load_per_s, 0.0) ** LOAD_POWER * target_error**ERROR_POWER

    return entries_for
