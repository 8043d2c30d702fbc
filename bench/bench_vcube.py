"""Measure packets per second of icpp18, inline and on OMNeT++, for growing numbers of nodes; and of ladc18 inline.

For comparison: the first author's VCube code on PeerSim makes 38,000 packets/s at 512 nodes and 22,600 at 1,024.
"""

from __future__ import annotations

import time
from typing import Any

from causeway.bridge import engines
from causeway.studies.ladc18.study import SCENARIOS
from causeway.studies.runner import Job, run_job

PEERSIM_PACKETS_PER_S = {512: 38_000, 1024: 22_600}
SIZES = (64, 256, 512, 1024, 4096)
OMNET_SIZES = (64, 256, 1024)


def run() -> dict[str, Any]:
    """Return packets per second of whole runs: network, protocol, causality checker and digest.

    Inline runs are measured in processor time, which does not depend on other work; runs on OMNeT++ in wall time.
    """
    figures: dict[str, Any] = {}
    omnet = engines.get("omnet").missing() is None
    for engine in ("inline", "omnet") if omnet else ("inline",):
        _run(16, engine)  # compiles the kernels
        for nodes in SIZES if engine == "inline" else OMNET_SIZES:
            packets, seconds = _run(nodes, engine)
            figures[f"{engine}_{nodes}_packets_per_s"] = packets / seconds
            figures[f"{engine}_{nodes}_packets"] = packets
    for nodes, theirs in PEERSIM_PACKETS_PER_S.items():
        if f"inline_{nodes}_packets_per_s" in figures:
            figures[f"inline_{nodes}_to_peersim"] = figures[f"inline_{nodes}_packets_per_s"] / theirs
    _ladc18(16)  # compiles the kernels
    packets, seconds = _ladc18(1024)
    figures["ladc18_1024_packets_per_s"] = packets / seconds
    return figures


def _ladc18(processes: int) -> tuple[float, float]:
    return _timed(Job("ladc18", {"processes": processes, **SCENARIOS["NO-AGGR"]}, 1, "inline"))


def _run(nodes: int, engine: str) -> tuple[float, float]:
    return _timed(Job("icpp18", {"nodes": nodes}, 1, engine))


def _timed(job: Job) -> tuple[float, float]:
    began = time.process_time()
    result = run_job(job)
    assert result.scalars["violations"] == 0
    used_s = time.process_time() - began
    return result.scalars["packets"], used_s if job.engine == "inline" else result.outcome.wall_s


if __name__ == "__main__":
    for name, value in run().items():
        print(f"{name:32} {value:,.0f}")
