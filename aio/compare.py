"""Two runs that should be the same: where they first differ, and which task of which node did it.

Both run in processes of their own, with other values of PYTHONHASHSEED, so that addresses and the order of sets differ
as they do from day to day.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from causeway.aio.loop import S_PS
from causeway.bridge.errors import RunError
from causeway.pycontrol.trace import TRACE

HASH_SEEDS = ("1", "4242")
DEADLINE_S = 3600


class Row(NamedTuple):
    """One thing that a node did (causeway.pycontrol.trace)."""

    now_ps: int
    node: str
    what: str
    content: str
    task: str
    stack: list[str]

    def __str__(self) -> str:
        where = "".join(f"\n    {line}" for line in self.stack)
        task = f" in task {self.task}" if self.task else ""
        return f"{self.node} at {self.now_ps / S_PS:g} s{task}: {self.what} (content {self.content}){where}"


class Comparison(NamedTuple):
    """What two runs had in common."""

    digests: tuple[str, str]
    rows: int
    """So many things were the same from the beginning."""
    first: Row | None
    second: Row | None
    """The first difference; None: this run had ended."""

    @property
    def same(self) -> bool:
        return self.first is None and self.second is None and self.digests[0] == self.digests[1]

    def __str__(self) -> str:
        if self.same:
            return f"the same twice: {self.rows:,} things that nodes did, digest {self.digests[0]}"
        ended = "the run had ended"
        return (
            f"the runs differ after {self.rows:,} things that nodes did\n"
            f"  one run:   {self.first or ended}\n  the other: {self.second or ended}\n"
            "look there for what is not the simulation's: the order of a set, datetime.now(), numpy.random, a global"
        )


def twice(study: str, parameters: Mapping[str, Any], seed: int, engine: str) -> Comparison:
    """Runs a study (a name or a file) of programs twice."""
    with tempfile.TemporaryDirectory(prefix="causeway-aio-") as folder:
        paths = [Path(folder) / f"trace-{hash_seed}" for hash_seed in HASH_SEEDS]
        digests = [
            _run(study, parameters, seed, engine, hash_seed, path)
            for hash_seed, path in zip(HASH_SEEDS, paths, strict=True)
        ]
        return first_difference((digests[0], digests[1]), *paths)


def first_difference(digests: tuple[str, str], one: Path, other: Path) -> Comparison:
    """Of two traces."""
    rows = 0
    with one.open(encoding="utf-8") as first, other.open(encoding="utf-8") as second:
        for a, b in zip_longest(first, second):
            if a != b:
                first_row, second_row = (Row(*json.loads(line)) if line else None for line in (a, b))
                if first_row is None or second_row is None or first_row[:4] != second_row[:4]:
                    return Comparison(digests, rows, first_row, second_row)
            rows += 1
    return Comparison(digests, rows, None, None)


def _run(study: str, parameters: Mapping[str, Any], seed: int, engine: str, hash_seed: str, trace: Path) -> str:
    what = json.dumps([study, dict(parameters), seed, engine])
    environment = {
        **os.environ,
        TRACE: str(trace),
        "PYTHONHASHSEED": hash_seed,
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }
    done = subprocess.run(
        [sys.executable, "-m", "causeway.aio.compare", what],
        capture_output=True, text=True, timeout=DEADLINE_S, check=False, env=environment,
    )  # fmt: skip
    if done.returncode != 0:
        raise RunError(f"a run of {study} failed while it was compared: {done.stderr.strip() or done.returncode}")
    return done.stdout.split()[-1]


def _main() -> None:
    """One of the two runs: prints its digest."""
    from causeway.studies.runner import Job, run_job

    study, parameters, seed, engine = json.loads(sys.argv[1])
    print(run_job(Job(study, parameters, seed, engine)).outcome.digest)


if __name__ == "__main__":
    _main()
