"""Measure dcs23's bell load inline: deliveries per second with a Dynamic Clock Set and with a probabilistic clock."""

from __future__ import annotations

import time
from typing import Any

from causeway.studies.runner import Job, run_job

DURATION_S = 30.0
PLAIN_ENTRIES = 260
"""The paper's fixed clock for this load."""

COMPARED = {"ratio": "higher"}


ROUNDS = 3
"""The number of rounds. Both clocks take turns and the best round of each counts, since other work on the machine only
slows them down."""


def _deliveries_per_s(duration_s: float, **parameters: Any) -> tuple[float, dict[str, float]]:
    began = time.process_time()
    found = run_job(Job("dcs23", {"duration_s": duration_s, **parameters}, 1, "inline")).scalars
    return found["deliveries"] / (time.process_time() - began), found


def run() -> dict[str, float]:
    """Measure 1,000 processes with checker and digest, per second of processor time."""
    for entries in (0, PLAIN_ENTRIES):
        _deliveries_per_s(2.0, processes=20, entries=entries)  # compiles the kernels
    dynamic = plain = 0.0
    found: dict[str, float] = {}
    for _ in range(ROUNDS):
        rate, found = _deliveries_per_s(DURATION_S)
        dynamic = max(dynamic, rate)
        plain = max(plain, _deliveries_per_s(DURATION_S, entries=PLAIN_ENTRIES)[0])
    return {
        "dcs_deliveries_per_s": dynamic,
        "plain_deliveries_per_s": plain,
        "ratio": dynamic / plain,
        "entries_mean": found["entries_mean"],
        "rounds": found["rounds"],
    }


if __name__ == "__main__":
    print(run())
