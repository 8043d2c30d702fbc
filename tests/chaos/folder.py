"""Chaos in a result folder: commands of all kinds at once, killed and stopped at random, with and without locks.

    python -m tests.chaos.folder --rounds 1000        (part of `make chaos`)

A round is a folder and some commands on it, each a forked child: run, convert, compact, doctor --repair, report, read.
Some are killed, some stopped for a while. Every child notes what it has said to be done. In the end: what was said is
there, once and whole; nothing is there in part; every reader saw one state; and the doctor finds nothing wrong.
The parent never opens a folder: delta-rs does not work in a process that was forked behind its first use.
"""

from __future__ import annotations

import argparse
import errno
import fcntl
import os
import pickle
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute  # loaded once, not in each child
import pyarrow.dataset

from causeway.analysis import compact, convert, health, report, store
from causeway.errors import UserError

SCALARS = 3


def tables(run: str) -> dict[str, Any]:
    """Return the tables of a run with values that identify it."""
    row = {"run_id": [run], "study": ["s"], "point": ["p"], "engine": ["inline"], "seed": [1],
           "started_at": [""], "wall_s": [0.0]}  # fmt: skip
    return {
        "runs": row,
        "scalars": {"module": ["m"] * SCALARS, "name": list("abc"), "value": [float(len(run))] * SCALARS},
    }


def run(folder: Path, draw: random.Random, said: Callable[[list[str]], None]) -> None:
    """Commit runs one by one and many at once, while others commit runs of the same names."""
    for _ in range(6):
        some = [f"run{draw.randrange(60):02}" for _ in range(draw.choice([1, 1, 5]))]
        store.write_runs(folder, [store.conformed(tables(name)) for name in dict.fromkeys(some)])
        said(some)


def convert_(folder: Path, draw: random.Random, said: Callable[[list[str]], None]) -> None:
    """Convert files that other children convert, too."""
    convert.convert([folder.parent / "in"], folder)
    said([f"sca{number}" for number in range(4)])


def compact_(folder: Path, draw: random.Random, said: Callable[[list[str]], None]) -> None:
    if (folder / "tables").is_dir():
        compact.compact(folder)


def doctor(folder: Path, draw: random.Random, said: Callable[[list[str]], None]) -> None:
    if folder.is_dir():
        for problem in health.problems(folder):
            problem.repair()


def report_(folder: Path, draw: random.Random, said: Callable[[list[str]], None]) -> None:
    """Write a report to a folder of its own and to the one that others write to: it has the runs of one state."""
    for _ in range(3):
        time.sleep(draw.uniform(0, 0.3))
        with store.one_state(folder):
            if runs := store.finished_runs(folder):
                page = report.write(folder, folder.parent / f"report-{os.getpid()}")
                counted = pd.read_csv(page.with_name("scalars.csv")).query("name == 'a'")["runs"].sum()
                assert counted == len(runs), f"a report of {len(runs)} runs counts {counted}"
                report.write(folder)


def read(folder: Path, draw: random.Random, said: Callable[[list[str]], None]) -> None:
    """Check that a reader sees one state, however long it reads, and never fewer runs than before."""
    before: set[str] = set()
    for _ in range(4):
        with store.one_state(folder):
            runs = store.read_arrow(folder, "runs")["run_id"].to_pylist()
            time.sleep(draw.uniform(0, 0.05))
            _check(runs, store.read_arrow(folder, "scalars"))
        assert before <= set(runs), f"gone: {sorted(before - set(runs))}"
        before = set(runs)


def _check(runs: list[str], scalars: pa.Table) -> None:
    counts = Counter(scalars["run_id"].to_pylist())
    assert len(set(runs)) == len(runs), f"twice: {[r for r, n in Counter(runs).items() if n > 1]}"
    assert counts == dict.fromkeys(runs, SCALARS), f"in part: {set(counts.items()) ^ {(r, SCALARS) for r in runs}}"


KINDS = (run, run, convert_, compact_, doctor, report_, read)


def _child(kind: Any, folder: Path, seed: int, locked: bool) -> tuple[int, Path]:
    """Start a child; its id, and the file in which it notes what it said."""
    notes = folder.parent / f"said-{seed}"
    pid = os.fork()
    if pid:
        return pid, notes
    status = 1
    try:
        if not locked:
            fcntl.flock = _no_locks  # type: ignore[assignment]
        with notes.open("ab", buffering=0) as file:
            kind(folder, random.Random(seed), lambda some: file.write(pickle.dumps((kind.__name__, some))))
        status = 0
    except BaseException as error:
        with notes.open("ab") as file:
            file.write(pickle.dumps(("error", [f"{kind.__name__}: {type(error).__name__}: {error}"])))
    finally:
        os._exit(status)


def _no_locks(descriptor: int, how: int) -> None:
    raise OSError(errno.ENOLCK, "no locks here")


def _said(notes: Path) -> tuple[set[str], list[str]]:
    runs, errors = set[str](), list[str]()
    with suppress(FileNotFoundError), notes.open("rb") as file, suppress(EOFError, pickle.UnpicklingError):
        while True:
            kind, some = pickle.load(file)
            errors.extend(some) if kind == "error" else runs.update(some)
    return runs, errors


def one_round(draw: random.Random) -> tuple[list[str], Counter[str]]:
    """Return the faults found after a round, and how many children were killed and stopped."""
    base = Path(tempfile.mkdtemp(prefix="chaos-"))
    folder, disturbed = base / "out", Counter[str]()
    try:
        (base / "in").mkdir()
        for number in range(4):
            lines = "".join(f"scalar m {name} {4}\n" for name in "abc")
            (base / "in" / f"{number}.sca").write_text(f"version 3\nrun sca{number}\nattr configname B\n{lines}")
        locked = draw.random() < 0.5
        disturbed["with locks" if locked else "without locks"] += 1
        children = [_child(draw.choice(KINDS), folder, draw.randrange(10**9), locked) for _ in range(5)]
        for pid, _ in children:
            time.sleep(draw.uniform(0, 0.1))
            if (how := draw.choice(["", "kill", "stop"])) and _is_alive(pid):
                disturbed["killed" if how == "kill" else "stopped"] += 1
                os.kill(pid, signal.SIGKILL if how == "kill" else signal.SIGSTOP)
        time.sleep(draw.uniform(0, 0.2))
        for pid, _ in children:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
        for pid, _ in children:
            with suppress(ChildProcessError):
                os.waitpid(pid, 0)
        said, wrong = set[str](), list[str]()
        for _, notes in children:
            runs, errors = _said(notes)
            said |= runs
            wrong += errors
        return wrong + _end(folder, said), disturbed
    finally:
        shutil.rmtree(base, ignore_errors=True)


def _is_alive(pid: int) -> bool:
    with suppress(ChildProcessError):
        return os.waitpid(pid, os.WNOHANG)[0] == 0
    return False


def _end(folder: Path, said: set[str]) -> list[str]:
    """Check the remaining files, in a child."""

    def look(folder: Path, draw: random.Random, report: Callable[[list[str]], None]) -> None:
        doctor(folder, draw, report)
        for _ in range(2):
            runs = store.read_arrow(folder, "runs")["run_id"].to_pylist()
            _check(runs, store.read_arrow(folder, "scalars"))
            assert said <= set(runs), f"lost: {sorted(said - set(runs))}"
            if left := [problem.what for problem in health.problems(folder)]:
                raise UserError(f"not repaired: {left[0]}")
            compact_(folder, draw, report)

    pid, notes = _child(look, folder, -1, True)
    os.waitpid(pid, 0)
    return _said(notes)[1]


def chaos(rounds: int, seed: int) -> tuple[list[str], Counter[str]]:
    """Return the faults found in so many rounds, and how many children were killed and stopped."""
    if rounds < 1:
        sys.exit(f"chaos: {rounds} rounds show nothing")
    draw, wrong, disturbed = random.Random(seed), list[str](), Counter[str]()
    for number in range(rounds):
        found, some = one_round(draw)
        wrong += [f"round {number}: {what}" for what in found]
        for what in wrong[len(wrong) - len(found) :]:
            print(f"WRONG  {what}", flush=True)
        disturbed.update(some)
        if (number + 1) % 50 == 0:
            print(f"{number + 1} rounds, {counted(disturbed)}, {len(wrong)} wrong", flush=True)
    return wrong, disturbed


def counted(disturbed: Counter[str]) -> str:
    return ", ".join(f"{number} {what}" for what, number in sorted(disturbed.items()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    given = parser.parse_args()
    print(f"chaos in a folder: {given.rounds} rounds, seed {given.seed}")
    wrong, disturbed = chaos(given.rounds, given.seed)
    print(f"{given.rounds} rounds, {counted(disturbed)}, {len(wrong)} wrong")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
