"""OMNeT++'s fingerprint of a run, kept and compared: what went between nodes, when, and how long it was."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from causeway.bridge.errors import RunError


def compare_fingerprint(folder: Path, run_id: str, scalars: Mapping[tuple[str, str], float]) -> None:
    """Keeps the fingerprint of a run that has none there; raises RunError if it has another one."""
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
            f"the fingerprint is {found}, it was {before}: something else went between nodes, or at another time; "
            f"where that is meant to be, remove {path}"
        )
