"""`make demo`: run a few points of every study, compare them with the numbers of its paper, and write the report.

    python -m causeway.cli.demo DIR [COMMAND...]

The studies on abstract networks are run first, in this process. Meanwhile `COMMAND ENGINE` (`make ENGINE` in a
checkout) installs Spark and compiles the adapter of the engine for the mobile study: INET if it is found, else ns-3.
"""

from __future__ import annotations

import importlib
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from rich.console import Console
from rich.text import Text

from causeway.bridge import engines
from causeway.cli.console import console as make_console
from causeway.cli.console import printable
from causeway.cli.report import write_report
from causeway.cli.run import RunOptions, run_study
from causeway.errors import RunError, UserError
from causeway.network.networks import AbstractNetwork
from causeway.studies import registry
from causeway.studies.study import Study
from causeway.toolchain.adapters import missing_tools

REPETITIONS = 5
"""The minimum number of repetitions for a verdict on a mean."""
FIRST = "ladc18"
"""The first study to run. Its numbers are the same in every run, so they reproduce the paper's exactly."""
LENGTH = "about four minutes on two cores, mostly compilation; the next time, less than one"


def main() -> None:
    """Run the sweep 'demo' of every study that has one, and write the report."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # this also ends the compiler
    console = make_console()
    directory, command = Path(sys.argv[1] if len(sys.argv) > 1 else "results/demo"), sys.argv[2:]
    studies = _in_order()
    packets = _packet_engine()
    show_plan(studies, packets, console)
    failed = False
    with _compiling([*command, packets] if command else [], directory / "adapter.log") as compiler:
        for study in studies:
            if not _is_abstract(study):
                _wait(compiler, packets, console)
            failed |= _run(study, packets, directory, console)
        _wait(compiler, packets, console)
    failed |= show_outcome(directory, console)
    sys.exit(failed)


def _in_order() -> list[Study]:
    """Return the studies with a sweep 'demo': those on abstract networks first, beginning with `FIRST`."""
    found = [study for name in registry.STUDIES if "demo" in (study := registry.get(name)).sweeps]
    return sorted(found, key=lambda study: (not _is_abstract(study), study.name != FIRST))


def _is_abstract(study: Study) -> bool:
    return isinstance(study.network(study.Params(), 1), AbstractNetwork)


def _packet_engine() -> str:
    """Return the engine for mobile networks: INET's if it is found, else ns-3."""
    study, omnet = registry.get("mobile20"), engines.get("omnet")
    network = study.network(study.Params(), 1)
    usable = omnet.missing(network) in (None, missing_tools())  # make installs what compilation needs
    return "omnet" if usable and omnet.adapters(network) else "ns3"


def show_plan(studies: Sequence[Study], packets: str, console: Console) -> None:
    """Print what will be run on which engine, and how long it takes."""
    _say(console, f"Causeway repeats {len(studies)} papers' evaluations, a few points of each: {LENGTH}.")
    wide = max(len(study.name) for study in studies)
    for study in studies:
        where = "in this process" if _is_abstract(study) else {"omnet": "on INET", "ns3": "on ns-3"}[packets]
        runs = len(study.sweeps["demo"]) * REPETITIONS
        _say(console, f"  {study.name:<{wide}}  {study.title} ({runs} runs {where})")
    _say(console, "")


@contextmanager
def _compiling(command: Sequence[str], log: Path) -> Iterator[subprocess.Popen[bytes] | None]:
    """Run a command in the background with its output in a file. If it is still running at the end, stop it."""
    if not command:
        yield None
        return
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as output, subprocess.Popen(
        ["nice", "-n", "5", *command], stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
    ) as running:  # fmt: skip
        try:
            yield running
        finally:
            if running.poll() is None:
                running.terminate()


def _wait(compiler: subprocess.Popen[bytes] | None, packets: str, console: Console) -> None:
    """Wait for the adapter. If it does not compile, the run that needs it reports the reason."""
    if compiler is None or compiler.poll() is not None:
        return
    text = f"waiting for the adapter of {packets}, which is being compiled"
    if console.is_terminal:
        with console.status(text):
            compiler.wait()
    else:
        _say(console, text)
        compiler.wait()
    importlib.invalidate_caches()  # make may have installed ns-3


def _run(study: Study, packets: str, directory: Path, console: Console) -> bool:
    """Run the points of one study; return whether a run failed."""
    engine = "inline" if _is_abstract(study) else packets
    try:
        return run_study(RunOptions(study.name, engine, sweep="demo", reps=REPETITIONS, out_dir=directory), console)
    except UserError as error:  # the engine is not installed
        console.print(Text.assemble((f"{study.name} is skipped: ", "yellow"), printable(error)), soft_wrap=True)
    except RunError as error:
        console.print(Text.assemble((f"{study.name} failed: ", "red"), printable(error)), soft_wrap=True)
        return True
    return False


def show_outcome(directory: Path, console: Console) -> bool:
    """Write the report, and print the reproduced numbers and the links. Return whether there is nothing to report."""
    _say(console, "\nWhat was reproduced, of the published numbers at these points:")
    # Spark reduces even this small folder, as it does for campaigns
    master = "local[*]" if shutil.which("java") and find_spec("pyspark") else None
    try:
        page = write_report(directory, master, console).resolve()
    except UserError as error:
        _say(console, f"no report: {error}")
        return True
    _say(console, f"\nReport:     {page.as_uri()}")
    for moving in sorted(page.parent.glob("moving-*.html"))[:1]:
        _say(console, f"Animation:  {moving.as_uri()}")
    _say(console, "Next:       .venv/bin/causeway (five commands to try), docs/tutorial/1-echo.md")
    return False


def _say(console: Console, text: str) -> None:
    console.print(printable(text), soft_wrap=True)


if __name__ == "__main__":
    main()
