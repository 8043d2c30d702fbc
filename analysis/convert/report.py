"""What a conversion tells its caller."""

from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class FileReport:
    """What became of one file."""

    source: Path
    status: str = "converted"  # converted, continued, up to date, or failed
    runs: list[str] = field(default_factory=list)
    rows: int = 0  # vector samples
    size_bytes: int = 0
    seconds: float = 0.0
    problem_count: int = 0
    problems: list[str] = field(default_factory=list)  # "file:line: expected ..."


@dataclass
class Report:
    """What became of all files."""

    files: list[FileReport] = field(default_factory=list)

    @property
    def rows(self) -> int:
        return sum(file.rows for file in self.files)

    @property
    def size_bytes(self) -> int:
        return sum(file.size_bytes for file in self.files)

    @property
    def problem_count(self) -> int:
        return sum(file.problem_count for file in self.files)

    @property
    def ok(self) -> bool:
        return not self.problem_count

    def lines(self) -> list[str]:
        """The report in words, a line a fact."""
        counts: dict[str, int] = {}
        for file in self.files:
            counts[file.status] = counts.get(file.status, 0) + 1
        runs = len({run for file in self.files for run in file.runs})
        told = [line for file in self.files for line in file.problems]
        summary = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
        more = [f"... and {self.problem_count - len(told)} more"] if self.problem_count > len(told) else []
        return [*told, *more, f"{len(self.files)} files ({summary}), {runs} runs, {self.rows} samples"]
