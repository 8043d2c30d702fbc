"""`make demo`: a few points of every study on the engines that are here, then the report."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from rich.text import Text

from causeway.cli.console import console as make_console
from causeway.cli.console import printable
from causeway.cli.report import write_report
from causeway.cli.run import RunOptions, run_study
from causeway.errors import RunError, UserError
from causeway.studies import registry

REPETITIONS = 3


def main() -> None:
    """Run the sweep 'demo' of every study that has one, and write the report."""
    console = make_console()
    directory = Path(sys.argv[1] if len(sys.argv) > 1 else "results/demo")
    failed = False
    for name in registry.STUDIES:
        study = registry.get(name)
        if "demo" not in study.sweeps:
            continue
        try:
            failed |= run_study(RunOptions(name, sweep="demo", reps=REPETITIONS, out_dir=directory), console)
        except UserError as error:  # its engine is not installed
            console.print(Text.assemble((f"{name} is left out: ", "yellow"), printable(error)), soft_wrap=True)
        except RunError as error:
            console.print(Text.assemble((f"{name} failed: ", "red"), printable(error)), soft_wrap=True)
            failed = True
    if shutil.which("java") is None:
        console.print("no report: Spark needs Java 17 (apt install openjdk-17-jre-headless)")
        sys.exit(1)
    write_report(directory, "local[*]", console)  # small as it is: the pipeline is Spark's, and the demo shows it
    sys.exit(failed)


if __name__ == "__main__":
    main()
