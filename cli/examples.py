"""Draw examples of wrong deliveries for the report: repeat a wrong run, or replay its recording."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf
from pathlib import Path

from rich.console import Console

from causeway.analysis.report.wrong import Example, Wrong
from causeway.bridge import engines
from causeway.cli import explain
from causeway.cli.build import prepare
from causeway.errors import RunError, UserError
from causeway.explore import spacetime
from causeway.studies import registry
from causeway.studies.explained import drawn, look

EACH = 3
"""The number of examples for each run."""


@dataclass
class ViolationDrawer:
    """Draws the first violations of one run for each kind of violation."""

    folder: Path
    studies: Sequence[str]
    """Files of the user's own studies."""
    most_s: float
    console: Console
    files: dict[str, str] = field(default_factory=dict)

    def __call__(self, groups: Sequence[Wrong]) -> tuple[list[Example], list[str]]:
        """Return the examples, and a note for each one that could not be drawn."""
        self.files = {registry.get(file).name: file for file in self.studies}
        examples: list[Example] = []
        notes: dict[str, None] = {}
        for one in groups:
            if any(example.run_id in one.run_ids for example in examples):
                continue  # the run has been drawn for another kind of violation
            try:
                examples += self._drawn(one)
            except (UserError, RunError) as error:
                notes[f"Not drawn: {error}"] = None
        return examples, list(notes)

    def _drawn(self, one: Wrong) -> list[Example]:
        run_id = next((r for r in one.run_ids if self._recording(r).is_file()), one.run_ids[0])
        file = self.files.get(one.study)
        command = f"causeway explain {run_id} --out {self.folder}"
        if file is None and one.study not in registry.STUDIES:
            raise UserError(
                f"{one.study} is your own study; `causeway report {self.folder} --study FILE.py` or `{command} "
                f"--study FILE.py` draws its violations"
            )
        job, recording = explain.find(run_id, self.folder, file)
        command += f" --study {file}" if file else ""
        if recording is None:
            if not self.most_s or job.engine not in engines.ENGINES:
                raise UserError(f"`{command}` draws its violations")
            prepare(job.engine, job.network(), self.console)
        with self.console.status(f"repeating run {run_id} to draw its violations"):
            found = look(job, recording, EACH, self.most_s or inf)
        if not found.chains:
            raise UserError(f"no violation in the first {self.most_s:g} s of run {run_id}; `{command}` has no limit")
        title = f"{job.study.name}: {job.study.title}"
        return [_example(run_id, drawn(chain, title)) for chain in found.chains]

    def _recording(self, run_id: str) -> Path:
        return self.folder / "recordings" / f"{run_id}.frames"


def _example(run_id: str, story: spacetime.Story) -> Example:
    return Example(run_id, story.broken, spacetime.diagram(story), spacetime.page(story))
