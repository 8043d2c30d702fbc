"""A small made-up result folder, for tests of its readers."""

from pathlib import Path

import numpy as np

from causeway.analysis import store

STUDY = "clocks"


def fill(folder: Path, engines=("inline", "omnet"), sizes=(10, 50, 100, 250), seeds=5) -> Path:
    """Write runs of a study that sweeps `n` for three clocks, with an error rate, counts and a recorded series."""
    draw = np.random.default_rng(1)
    for engine in engines:
        for n in sizes:
            for clock in ("counter", "bloom", "full"):
                for seed in range(seeds):
                    _run(folder, engine, n, clock, seed, draw)
    return folder


def _run(folder: Path, engine: str, n: int, clock: str, seed: int, draw: np.random.Generator) -> None:
    worth = {"counter": 0.2, "bloom": 0.02, "full": 0.001}[clock] * n / 100 * (1.1 if engine == "omnet" else 1.0)
    times = np.sort(draw.integers(0, 40 * 10**12, 120))
    store.write_run(folder, {
        "runs": {
            "run_id": [f"{STUDY}-{n}-{clock}-{engine}-{seed}"], "study": [STUDY], "point": [f"{n}{clock}"],
            "engine": [engine], "engine_version": ["6.1 + INET 4.5.4" if engine == "omnet" else "1"], "seed": [seed],
            "causeway_version": ["0.1.0"], "commit": ["0123456789ab"], "digest": [f"{seed:08x}"],
            "started_at": ["2024-05-01T10:00:00.000+00:00"], "wall_s": [0.5], "events": [10_000 * n],
        },
        "parameters": {
            "name": ["n", "clock", "rate"], "value": [str(n), clock, "0.5"], "number": [float(n), None, 0.5],
        },
        "scalars": {
            "module": ["run"] * 3, "name": ["wrong", "messages", "deliveries"],
            "value": [worth * draw.lognormal(0, 0.2), 100.0 * n, 100.0 * n * (n - 1)],
        },
        "vectors": {"vector_id": [0], "module": ["net"], "name": ["queue"]},
        "samples": {
            "vector_id": [0] * 120, "time_raw": times, "time_exp": [-12] * 120,
            "value": 5 - 5 * np.exp(-times / 6e12) + draw.normal(0, 0.4, 120),
        },
    })  # fmt: skip
