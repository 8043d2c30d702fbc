"""What is left of writers that died, and what is not as it was written. `health` tells it and mends it."""

from __future__ import annotations

import os
from pathlib import Path

from causeway.analysis import batches, locks, schema, store
from causeway.analysis.batches import Batch
from causeway.analysis.remote import is_remote, place


def unfinished(out_dir: Path) -> dict[str, str]:
    """File key of every run or batch that left files behind but is not finished -> why it is not."""
    known, finished = store.read_batches(store.runs_files(out_dir)), store.finished_batches(out_dir)
    needed = {file for batch in finished.values() for file in batch.files}
    present = {store.key_of(path): path for name in reversed(schema.TABLES) for path in store.all_files(out_dir, name)
               if store.below(out_dir, path) not in needed}  # fmt: skip
    replaced = {key for batch in finished.values() for key in batch.replaces}
    found = {}
    for key in sorted(present.keys() - finished.keys()):
        if key in replaced:
            found[key] = "replaced by another batch, but not gone"
        elif key in known:
            found[key] = f"{', '.join(_not_as_told(out_dir, known[key], False))} missing or cut short"
        else:
            row = store.table_dir(out_dir, "runs") / f"{key}.parquet"
            found[key] = "its row in `runs` is damaged" if row.exists() else "stopped before its row in `runs`"
    return found


def damaged(out_dir: Path) -> dict[str, str]:
    """File key of every finished run whose files do not hold what was written -> which. Reads all of them."""
    bad = {key: _not_as_told(out_dir, batch, True) for key, batch in sorted(store.finished_batches(out_dir).items())}
    return {key: f"{', '.join(names)} changed since it was written" for key, names in bad.items() if names}


def _not_as_told(out_dir: Path, batch: Batch, look_inside: bool) -> list[str]:
    """The tables of a run whose file is missing, or is not what the run's row says."""
    found = []
    for name, part in batch.files.items():
        path = place(out_dir) / "tables" / name
        try:
            same = path.stat().st_size == part.size and (not look_inside or store.digest_of(path) == part.digest)
        except OSError:
            same = False
        if not same:
            found.append(name.partition("/")[0])
    return sorted(set(found))


def sweep(out_dir: Path) -> list[Path]:
    """Removes what dead writers left: hidden half-written files, and locks that nobody holds. Gives what it removed."""
    return [path for path in leftovers(out_dir) if locks.remove_if_free(path)]


def leftovers(out_dir: Path) -> list[Path]:
    """Half-written files and locks whose owner is dead."""
    out_dir = place(out_dir)
    if is_remote(out_dir):  # nothing is half written there, and locks stay on the machine that has them
        return []
    places = [
        out_dir / ".locks",
        out_dir / "studies",
        out_dir / "report",
        *(one for name in schema.TABLES for one in batches.places(out_dir / "tables", name)),
    ]
    found = []
    for one in places:
        if one.is_dir():
            with os.scandir(one) as entries:
                names = [entry.name for entry in entries]
            hidden = (one / name for name in names if name.endswith(".part") or one.name == ".locks")
            found += [path for path in hidden if locks.is_free(path)]
    return sorted(found)
