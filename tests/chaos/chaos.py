"""Chaos: campaigns that are killed, doubled and starved at random instants must end as if nothing had happened.

    python -m tests.chaos.chaos --rounds 1000        (`make chaos`)

A round is a campaign in a fresh folder. Children of this process work on it and are disturbed, one after the other,
until one of them gets through; then its tables must equal those of an undisturbed campaign, and nothing may be left
behind: no process, no hidden file, no file for temporary things. Children are forked, so that a round takes no imports.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from rich.progress import track

from causeway.analysis import schema, store
from causeway.bridge import engines
from causeway.studies import campaign

TOY = str(Path(__file__).parents[1] / "helpers" / "toy_study.py")
POINTS = [{"messages": 20}, {"messages": 40}]
REPETITIONS = 3
OWN = ("started_at", "wall_s", "engine_version", "commit")
"""The columns of the table `runs` that differ between equal runs."""
UNDISTURBED_S = 600.0
"""The time limit of a campaign that is not disturbed; it needs seconds, on a busy machine minutes."""


@dataclass
class Found:
    """The outcome of a number of rounds."""

    rounds: Counter[str] = field(default_factory=Counter)
    disturbed: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


def work(out: Path, engine: str) -> int:
    """Run the campaign in a child, to its end unless the child is killed."""
    jobs = campaign.plan(TOY, engine, POINTS, 1, REPETITIONS)
    tally = campaign.run_here(jobs, out, lambda tally: None)
    return 1 if tally.failed else 0


def child(out: Path, engine: str, limit_bytes: int = 0) -> int:
    """Starts one in a process group of its own; its id."""
    pid = os.fork()
    if pid:
        with suppress(OSError):  # whoever comes first: a child may be killed before it has done so itself
            os.setpgid(pid, pid)
        return pid
    status = 3
    try:
        os.setpgid(0, 0)
        with open(os.devnull, "w") as nowhere:
            os.dup2(nowhere.fileno(), 1)
            os.dup2(nowhere.fileno(), 2)
        if limit_bytes:  # a disk that is full at some byte of some file
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit_bytes, limit_bytes))
        status = work(out, engine)
    except BaseException:
        status = 2
    finally:
        os._exit(status)


def ended(pid: int, within_s: float) -> int | None:
    """Return the exit status (negative: a signal) of a child that ends in time."""
    end = time.monotonic() + within_s
    while time.monotonic() < end:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    return None


def completed(pid: int) -> int | None:
    """Return the exit status of a child that is not disturbed; None if it had to be killed at the time limit."""
    status = ended(pid, UNDISTURBED_S)
    if status is None:
        os.killpg(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    return status


# ---- what goes wrong ------------------------------------------------------------------------------------------------


def killed(kill: Callable[[int, int], None], draw: random.Random, out: Path, engine: str, usual_s: float) -> bool:
    """Kill a child (kill -9) at some instant; return True if its campaign ended before."""
    pid = child(out, engine)
    status = ended(pid, draw.uniform(0, usual_s))
    if status is None:
        kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    return status == 0


def kill_controller(draw: random.Random, out: Path, engine: str, usual_s: float) -> bool:
    """Kill the controller alone."""
    return killed(os.kill, draw, out, engine, usual_s)


def kill_everything(draw: random.Random, out: Path, engine: str, usual_s: float) -> bool:
    """Kill the controller and all its children."""
    return killed(os.killpg, draw, out, engine, usual_s)


def kill_simulator(draw: random.Random, out: Path, engine: str, usual_s: float) -> bool:
    """Kill the simulator; the controller reports it and makes the other runs."""
    pid = child(out, engine)
    time.sleep(draw.uniform(0, usual_s))
    end = time.monotonic() + usual_s
    while not (simulators := children_of(pid)) and time.monotonic() < end:
        time.sleep(0.001)
    for simulator in simulators:
        os.kill(simulator, signal.SIGKILL)
    return completed(pid) == 0


def two_at_once(draw: random.Random, out: Path, engine: str, usual_s: float) -> bool:
    """Run two commands on one folder, and kill one of them."""
    first, second = child(out, engine), child(out, engine)
    status = ended(first, draw.uniform(0, 2 * usual_s))
    if status is None:
        os.kill(first, signal.SIGKILL)
        os.waitpid(first, 0)
    return completed(second) == 0


def full_disk(draw: random.Random, out: Path, engine: str, usual_s: float) -> bool:
    """Limit the size of files."""
    return completed(child(out, engine, draw.choice([100, 500, 1000, 2000, 4000, 8000]))) == 0


KINDS = (kill_controller, kill_everything, two_at_once, full_disk)
WITH_SIMULATOR = (kill_simulator, kill_controller, kill_everything)


def children_of(pid: int) -> list[int]:
    """Return the children of this process."""
    try:
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


# ---- rounds ---------------------------------------------------------------------------------------------------------


def tables_of(out: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Return every table, sorted, without columns that differ between all runs.

    A process of its own reads them, as delta-rs does not work in children that are forked after its first use.
    """
    with ProcessPoolExecutor(1, get_context("fork")) as pool:
        return pool.submit(_tables_of, out).result()


def _tables_of(out: Path) -> dict[str, list[tuple[Any, ...]]]:
    tables = {}
    for name in schema.TABLES:
        table = store.read_arrow(out, name)
        columns = [c for c in table.column_names if not (name == "runs" and c in OWN)]
        tables[name] = sorted(tuple(map(repr, row.values())) for row in table.select(columns).to_pylist())
    return tables


def left_behind(out: Path, temporary: Path) -> list[str]:
    """Return files and processes that will never be cleaned up."""
    hidden = [str(path.relative_to(out)) for path in out.rglob(".*.part")]
    return hidden + [str(path) for path in temporary.iterdir()]


def one_round(draw: random.Random, engine: str, kind: Any, usual_s: float, expected: Any, found: Found) -> None:
    """Disturb one campaign until it ends (the tenth attempt is not disturbed)."""
    base = Path(tempfile.mkdtemp(prefix="chaos-"))
    out, temporary = base / "out", base / "tmp"
    temporary.mkdir()
    os.environ["TMPDIR"] = str(temporary)
    name = f"{kind.__name__} on {engine}"
    try:
        for _ in range(10):
            if kind(draw, out, engine, usual_s):
                break
            found.disturbed[name] += 1
        if (status := completed(child(out, engine))) != 0:
            how = f"did not end within {UNDISTURBED_S:g} s" if status is None else f"ended with status {status}"
            found.wrong.append(f"{name}: the campaign {how}, even undisturbed")
        elif tables_of(out) != expected:
            found.wrong.append(f"{name}: the tables differ from those of an undisturbed campaign")
        elif left := left_behind(out, temporary):
            found.wrong.append(f"{name}: left behind {', '.join(left[:3])}")
        found.rounds[name] += 1
    finally:
        shutil.rmtree(base, ignore_errors=True)


def chaos(rounds: int, seed: int, engines_: list[str]) -> Found:
    """Make this many rounds, spread over the disturbances and engines."""
    if rounds < 1 or not engines_:
        sys.exit(f"chaos: {rounds} rounds on {len(engines_)} engines show nothing")
    draw, found = random.Random(seed), Found()
    cases = []
    for engine in engines_:
        with tempfile.TemporaryDirectory() as folder:
            completed(child(Path(folder), engine))  # compiles what must be compiled
        with tempfile.TemporaryDirectory() as folder:
            began = time.monotonic()
            if (status := completed(child(Path(folder), engine))) != 0:
                sys.exit(f"chaos: the undisturbed campaign does not run on {engine} (status {status})")
            usual_s, expected = time.monotonic() - began, tables_of(Path(folder))
        kinds = KINDS if engine == "inline" else WITH_SIMULATOR
        cases += [(engine, kind, usual_s, expected) for kind in kinds]
    for i in track(range(rounds), "rounds", disable=not sys.stdout.isatty()):
        engine, kind, usual_s, expected = cases[i % len(cases)]
        one_round(draw, engine, kind, usual_s, expected, found)
        if (i + 1) % 20 == 0:
            print(
                f"{i + 1} rounds, {sum(found.disturbed.values())} times disturbed, {len(found.wrong)} wrong", flush=True
            )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    given = parser.parse_args()
    here = [name for name in ("inline", "omnet") if engines.get(name).missing() is None]
    print(f"chaos: {given.rounds} rounds on {', '.join(here)}, seed {given.seed}")
    found = chaos(given.rounds, given.seed, here)
    for name, count in sorted(found.rounds.items()):
        print(f"{count:6} rounds, disturbed {found.disturbed[name]:5} times: {name}")
    for what in found.wrong[:20]:
        print(f"WRONG  {what}")
    print(f"{sum(found.rounds.values()) - len(found.wrong)} passed, {len(found.wrong)} failed")
    sys.exit(bool(found.wrong))


if __name__ == "__main__":
    main()
