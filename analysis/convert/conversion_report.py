"""The report of a conversion: `Report`, with a `FileReport` for each file."""

from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class FileReport:
    """The outcome of one file."""

    source: Path
    status: str = "converted"  # converted, continued, up to date, copy, or failed
    runs: list[str] = field(default_factory=list)
    rows: int = 0  # number of vector samples
    size_bytes: int = 0
    seconds: float = 0.0
    problem_count: int = 0
    problems: list[str] = field(default_factory=list)  # "file:line: expected ..."
    notes: list[str] = field(default_factory=list)  # skipped lines and contradictions, which are no errors


@dataclass
class Report:
    """The outcome of all files."""

    files: list[FileReport] = field(default_factory=list)
    passed_over: list[str] = field(default_factory=list)

    @property
    def rows(self) -> int:
        """The number of vector samples."""
        return sum(file.rows for file in self.files)

    @property
    def size_bytes(self) -> int:
        """The size of all files."""
        return sum(file.size_bytes for file in self.files)

    @property
    def problem_count(self) -> int:
        """The number of bad lines."""
        return sum(file.problem_count for file in self.files)

    @property
    def problems(self) -> list[str]:
        """Bad lines as "file:line: expected ...", at most a thousand a file; the last line counts the others."""
        listed = [line for file in self.files for line in file.problems]
        more = self.problem_count - len(listed)
        return [*listed, f"... and {more} more bad lines"] if more else listed

    @property
    def notes(self) -> list[str]:
        """Skipped files and contradictions, one line each."""
        return [*self.passed_over, *(note for file in self.files for note in file.notes)]

    def __str__(self) -> str:
        counts: dict[str, int] = {}
        for file in self.files:
            counts[file.status] = counts.get(file.status, 0) + 1
        runs = len({run for file in self.files for run in file.runs})
        summary = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
        return f"{len(self.files)} files ({summary}), {runs} runs, {self.rows} samples"
