"""`causeway run --twice`: execute each run twice and report the first difference."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from causeway.cli.console import printable
from causeway.cli.main import print_json
from causeway.errors import RunError
from causeway.studies.runner import Job
from causeway.studies.twice import twice


def compare_runs(jobs: Sequence[Job], as_json: bool, console: Console) -> bool:
    """Compare two runs of each job; return whether some differ or fail."""
    reported = []
    for job in jobs:
        try:
            comparison = twice(job.but(options={}))
            same, words = comparison.same, str(comparison)
        except RunError as error:
            same, words = False, str(error)
        reported.append({"run_id": job.run_id, "same": same, "comparison": words})
        line = Text.assemble((job.run_id, "" if same else "red"), f": {printable(words)}")
        console.print(line, highlight=False, soft_wrap=True)
    if as_json:
        print_json({"runs": reported})
    return not all(one["same"] for one in reported)
