"""Execute a run twice, compare the two and find the first difference (`causeway run --twice`).

Each execution has its own process, with another PYTHONHASHSEED and other addresses of objects, so that addresses and
the order of sets differ as in runs on different days. No results are stored. Start here: `twice`.
"""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import random
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from causeway.errors import RunError, UserError
from causeway.pycontrol.run_trace import tracing
from causeway.pycontrol.shared import watching_contents
from causeway.studies.runner import Job, run_job

HASH_SEEDS = ("1", "4242")
DEADLINE_S = 3600
S_PS = 10**12
ONE_KEPT_IN = 8
"""One in this number of blocks of memory is kept. Otherwise all memory would be freed and reused in the old order."""


class Row(NamedTuple):
    """One event of a run's trace (causeway.pycontrol.run_trace)."""

    now_ps: int
    who: str
    what: str
    content: str
    task: str
    stack: list[str]

    def __str__(self) -> str:
        where = "".join(f"\n    {line}" for line in self.stack)
        task = f" in task {self.task}" if self.task else ""
        content = f" (content {self.content})" if self.content else ""
        return f"{self.who} at {self.now_ps / S_PS:g} s{task}: {self.what}{content}{where}"


class Comparison(NamedTuple):
    """The result of comparing two runs."""

    digests: tuple[str, str]
    rows: int
    """The number of first events that are the same in both runs."""
    first: Row | None
    second: Row | None
    """The first events that differ; None for a run that had already ended."""
    scalars: tuple[str, ...] = ()
    """Scalars that differ, each with its two values."""

    @property
    def same(self) -> bool:
        """True if the runs do not differ."""
        return self.first is self.second is None and self.digests[0] == self.digests[1] and not self.scalars

    def __str__(self) -> str:
        if self.same:
            return f"both runs are the same: {self.rows:,} events, digest {self.digests[0]}"
        look = "look there for something outside the simulation: the order of a set, datetime.now(), a file, a global"
        if self.first is self.second is None:
            differ = ", ".join(self.scalars) or f"digest {' and '.join(self.digests)}"
            return f"the runs differ in {differ}; all {self.rows:,} events are the same"
        ended = "the run had ended"
        return (
            f"the runs differ after {self.rows:,} events\n"
            f"  one run:   {self.first or ended}\n  the other: {self.second or ended}\n{look}"
        )


def twice(job: Job) -> Comparison:
    """Execute a run twice, in two processes, and compare.

    Raises:
        RunError: One of the runs failed.
    """
    with tempfile.TemporaryDirectory(prefix="causeway-twice-") as folder:
        places = [Path(folder) / hash_seed for hash_seed in HASH_SEEDS]
        one, other = (_run(job, place) for place in places)
        found = first_difference((one["digest"], other["digest"]), *(place / "trace" for place in places))
        return found._replace(scalars=_other_scalars(one["scalars"], other["scalars"]))


def first_difference(digests: tuple[str, str], one: Path, other: Path) -> Comparison:
    """Compare the files of two traces, whose runs have these digests."""
    rows = 0
    with one.open(encoding="utf-8") as first, other.open(encoding="utf-8") as second:
        for a, b in zip_longest(first, second):
            if a != b:
                first_row, second_row = (Row(*json.loads(line)) if line else None for line in (a, b))
                if first_row is None or second_row is None or first_row[:4] != second_row[:4]:
                    return Comparison(digests, rows, first_row, second_row)
            rows += 1
    return Comparison(digests, rows, None, None)


def _other_scalars(one: Mapping[str, str], other: Mapping[str, str]) -> tuple[str, ...]:
    names = sorted({*one, *other})
    return tuple(f"{n}: {one.get(n)} and {other.get(n)}" for n in names if one.get(n) != other.get(n))


def _run(job: Job, place: Path) -> dict[str, Any]:
    """Start a process for one of the runs. Return its digest and scalars."""
    place.mkdir()
    environment = {**os.environ, "PYTHONHASHSEED": place.name, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, "-m", "causeway.studies.twice", str(place)], input=pickle.dumps(job), capture_output=True,
        timeout=DEADLINE_S, check=False, env=environment,
    )  # fmt: skip
    answer = place / "answer"
    found: dict[str, Any] = json.loads(answer.read_text()) if answer.exists() else {}
    if "digest" in found:
        return found
    why = found.get("error") or done.stderr.decode(errors="replace").strip() or f"exit status {done.returncode}"
    raise RunError(f"one of two runs of {job.study.name} failed: {why}")


def _main(place: Path) -> None:
    """Execute one of the runs in this process.

    The second run also looks for contents that change after they were sent.
    """
    job = pickle.load(sys.stdin.buffer)
    if job.external is not None:  # otherwise OMNeT++ writes its files into the user's project
        job = job.but(options={**job.options, "results": str(place / "omnetpp")})
    second = place.name == HASH_SEEDS[1]
    kept = _other_addresses() if second else []
    try:
        with tracing(place / "trace"), watching_contents() if second else contextlib.nullcontext():
            result = run_job(job)
        answer = {"digest": result.outcome.digest, "scalars": {n: repr(v) for n, v in result.scalars.items()}}
    except (RunError, UserError) as error:
        answer = {"error": str(error)}
    del kept
    (place / "answer").write_text(json.dumps(answer))


def _other_addresses() -> list[bytes]:
    """Shuffle free memory, so that new objects get other addresses and an order by id() changes.

    The caller must keep the returned blocks during the run.
    """
    chance, kept = random.Random(int(HASH_SEEDS[1])), []
    for size in range(16, 512, 16):
        blocks = [bytes(size) for _ in range(2000)]
        chance.shuffle(blocks)
        kept += blocks[::ONE_KEPT_IN]
        blocks.clear()
    return kept


if __name__ == "__main__":
    _main(Path(sys.argv[1]))
