"""dcs23's bell load inline: deliveries per second with a Dynamic Clock Set, and with a plain probabilistic clock."""

from __future__ import annotations

import time
from typing import Any

from studies.runner import Job, run_job

DURATION_S = 30.0
PLAIN_ENTRIES = 260
"""The paper's fixed clock for this load."""


def _deliveries_per_s(**parameters: Any) -> tuple[float, dict[str, float]]:
    job = Job("dcs23", {"duration_s": DURATION_S, **parameters}, 1, "inline")
    run_job(Job("dcs23", {"duration_s": 2.0, "processes": 20, **parameters}, 1, "inline"))  # compiles
    began = time.process_time()
    found = run_job(job).scalars
    return found["deliveries"] / (time.process_time() - began), found


def run() -> dict[str, float]:
    """1,000 processes, checker and digest included, per second of processor time."""
    dynamic, found = _deliveries_per_s()
    plain, _ = _deliveries_per_s(entries=PLAIN_ENTRIES)
    return {
        "dcs_deliveries_per_s": dynamic,
        "plain_deliveries_per_s": plain,
        "ratio": dynamic / plain,
        "entries_mean": found["entries_mean"],
        "rounds": found["rounds"],
    }


if __name__ == "__main__":
    print(run())
