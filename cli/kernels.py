"""`causeway build kernels`: compile the kernels of all studies, so that no first run waits for the compiler.

Each study has a sweep `smallest`, which calls all of its kernels within a few events. Running this sweep compiles them,
in one process for each study. The first study is compiled before the others, because all of them share its kernels.

    python -m causeway.cli.kernels STUDY        one study, in this process; prints how many kernels were compiled
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from causeway.analysis.convert import convert
from causeway.bridge import engines
from causeway.errors import RunError, UserError
from causeway.network.networks import Network
from causeway.studies import registry
from causeway.studies.runner import Job, engines_of, run_job
from causeway.toolchain.compiled_code import kernels_dir
from causeway.toolchain.first_compile import on_first_compile

SMALLEST = "smallest"
CONVERTER = "convert"
"""The name of the readers of OMNeT++'s result files, used like the name of a study."""
FIRST = "hash"
"""The study that calls the kernels shared by all studies: the engine's timer wheel, the checker, the validation."""


def build_kernels(console: Console) -> None:
    """Compile the kernels that are not compiled yet, in as many processes as there are cores, and show progress."""
    left = [name for name in (*registry.STUDIES, CONVERTER) if not _is_ready(name)]
    began = time.monotonic()
    failed: dict[str, str] = {}
    if left:
        if not console.is_terminal:
            console.print("compiling the kernels of all studies (once; about a minute)", soft_wrap=True)
        failed = _with_progress(left, console)
    for name, why in failed.items():
        console.print(f"the kernels of {name} could not be compiled: {why}", soft_wrap=True)
    took = f", compiled in {time.monotonic() - began:.0f} s" if left else ""
    console.print(f"kernels of {len(registry.STUDIES) - len(failed)} studies are ready{took}", soft_wrap=True)


def _with_progress(names: list[str], console: Console) -> dict[str, str]:
    """Return the studies that failed, with the reasons."""
    columns = (
        SpinnerColumn(), TextColumn("compiling kernels (once)"), BarColumn(), MofNCompleteColumn(),
        TimeElapsedColumn(), TextColumn("{task.description}", markup=False),
    )  # fmt: skip
    failed: dict[str, str] = {}
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=len(names))
        for group in ([n for n in names if n == FIRST], [n for n in names if n != FIRST]):
            for name, why, running in _compile_all(group):
                bar.update(task, advance=1 if name else 0, description=", ".join(running))
                if why:
                    failed[name] = why
    return failed


def _compile_all(names: list[str]) -> Iterator[tuple[str, str, list[str]]]:
    """Compile several studies at once.

    Yield tuples: the study that is done or "", its error or "", and the studies still running.
    """
    with ThreadPoolExecutor(max(1, len(os.sched_getaffinity(0)))) as pool:
        running: dict[Future[str], str] = {pool.submit(_in_a_process, name): name for name in names}
        yield "", "", list(names)
        while running:
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                name = running.pop(future)
                yield name, future.result(), list(running.values())


def _in_a_process(name: str) -> str:
    """Compile one study's kernels in a process of its own. Return the error, or ""."""
    command = [sys.executable, "-m", "causeway.cli.kernels", name]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode == 0:
        return ""
    lines = done.stderr.strip().splitlines()
    return lines[-1] if lines else f"exit status {done.returncode}"


def compile_study(name: str) -> int:
    """Run the study's smallest points on every installed engine. Return the number of compiled kernels.

    Events from a simulator are in read-only memory, and events of `inline` in writable memory; numba compiles for each.
    """
    with on_first_compile(lambda: None) as compiled:
        if name == CONVERTER:
            _convert_samples()
        else:
            _run_smallest(name)
    with suppress(OSError):
        _stamp(name).write_text(_engines_here())
    return len(compiled)


def _run_smallest(name: str) -> None:
    study = registry.get(name)
    for point in study.sweeps.get(SMALLEST, ()):
        job = Job(name, point, 1, "inline")
        network = study.network(job.params, job.seed)
        for engine in engines_of(study, network):
            if engines.get(engine).missing(network) is None and _is_built(engine, network):
                run_job(job.but(engine=engine))


def _convert_samples() -> None:
    """Convert a small file of vectors."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "small.vec")
        file.write_text("version 3\nrun R\nattr configname C\nvector 0 a v ETV\n0\t1\t0.25\t1.5\n")
        convert([file], Path(folder, "out"))


def _is_built(engine: str, network: Network | None = None) -> bool:
    """Return whether the adapters of an engine (for a network) are compiled; this command compiles only kernels."""
    return all(adapter.is_built() for adapter in engines.get(engine).adapters(network))


def _stamp(name: str) -> Path:
    """Return the file that lists the engines for which a study's kernels have been compiled."""
    return kernels_dir() / f"ahead-{name}"


def _engines_here() -> str:
    return " ".join(one for one in engines.ENGINES if engines.get(one).missing() is None and _is_built(one))


def _is_ready(name: str) -> bool:
    try:
        return _stamp(name).read_text() == _engines_here()
    except OSError:
        return False


if __name__ == "__main__":
    try:
        print(compile_study(sys.argv[1]))
    except (UserError, RunError) as error:
        sys.exit(str(error))
