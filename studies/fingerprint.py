"""Store and compare OMNeT++'s fingerprint of a run: a hash of the packets between nodes with times and lengths."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from causeway.errors import RunError


def compare_fingerprint(folder: Path, run_id: str, scalars: Mapping[tuple[str, str], float]) -> None:
    """Compare the fingerprint of a run with the one in `folder`, or store it if there is none.

    Raises:
        RunError: The folder contains another fingerprint of this run.
    """
    number = int(scalars["network", "fingerprint"])
    found = f"{number >> 16:04x}-{number & 0xFFFF:04x}"
    path = folder / f"{run_id}.txt"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(found + "\n")
        return
    before = path.read_text().strip()
    if before != found:
        raise RunError(
            f"the fingerprint is {found}, but it was {before}: packets between nodes, or their times, have changed; "
            f"if that is intended, remove {path}"
        )
