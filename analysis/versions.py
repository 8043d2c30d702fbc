"""Distinguish runs of different code, since a folder may contain runs of several versions of a study.

`runs.code` is a digest of everything that determines the numbers of a run, besides its parameters and its seed. Numbers
of one study and engine from different versions of the code are never combined. If a folder has several versions, the
engine is called `inline @3fa8c1`, and figures, tables and comparisons show each version separately.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from causeway.analysis import store
from causeway.analysis.remote import place

if TYPE_CHECKING:
    import pandas as pd

SHOWN_DIGITS = 6
_PARTS = {"study_code": "the study's files", "causeway_code": "Causeway", "project_code": "the project's files"}
"""Columns of `runs` with digests, and the part of the code that each covers."""


def distinguished(runs: pd.DataFrame) -> pd.DataFrame:
    """Add the code to the name of the engine, where a study has runs of several versions of it on one engine."""
    return runs.assign(engine=_labels(runs, mixed_groups(runs)))


def distinguished_together(frames: Iterable[pd.DataFrame]) -> list[pd.DataFrame]:
    """Do the same as `distinguished` in several folders if any one of them mixes versions of the code."""
    frames = list(frames)
    mixed = {group for frame in frames for group in mixed_groups(frame)}
    return [frame.assign(engine=_labels(frame, mixed)) for frame in frames]


def mixed_groups(runs: pd.DataFrame) -> set[tuple[str, str]]:
    """Return the pairs (study, engine) with runs of several versions of the code."""
    if "code" not in runs or runs.empty:
        return set()
    codes = runs.assign(code=runs["code"].fillna("")).groupby(["study", "engine"])["code"].nunique()
    return {(str(key[0]), str(key[1])) for key in codes.index[codes > 1].tolist()}


def _labels(runs: pd.DataFrame, mixed: set[tuple[str, str]]) -> list[str]:
    if "code" not in runs:
        return list(runs["engine"])
    rows = zip(runs["study"], runs["engine"], runs["code"].fillna(""), strict=True)
    return [f"{engine} @{short(code)}" if (study, engine) in mixed else engine for study, engine, code in rows]


def short(code: str) -> str:
    """Return the beginning of a code, the form in which users see it."""
    return code[:SHOWN_DIGITS] or "unknown"


def mixed_versions(folder: str | Path, only: str = "") -> Iterator[str]:
    """Yield a line for each study (or for `only`) and engine with runs of several versions of the code in a folder."""
    runs = store.read_pandas(place(folder), "runs")
    runs = runs[(runs["study"] == only) | (not only)]
    for study, engine in sorted(mixed_groups(runs)):
        some = runs[(runs["study"] == study) & (runs["engine"] == engine)]
        versions = [
            f"{short(str(code))} ({len(group)} runs since {str(group['started_at'].min())[:19]})"
            for code, group in sorted(some.assign(code=some["code"].fillna("")).groupby("code"), key=_first_start)
        ]
        changed = f" ({parts} differ)" if (parts := _changed(some)) else ""
        made_by = f"were made by {len(versions)} versions of the code{changed}"
        yield f"runs of {study} on {engine} {made_by}: {', '.join(versions)}"


def _first_start(group: tuple[Any, pd.DataFrame]) -> str:
    return str(group[1]["started_at"].min())


def _changed(runs: pd.DataFrame) -> str:
    """Return the names of the parts of the code in which the runs differ."""
    changed = [what for column, what in _PARTS.items() if runs[column].fillna("").nunique() > 1]
    return " and ".join(changed)


def other_code(folder: Path, study: str, engine: str, code: str) -> Iterator[str]:
    """Yield messages about a study's runs in a folder that were made by code other than `code`."""
    import pyarrow.compute as pc

    here = (pc.field("study") == study) & (pc.field("engine") == engine)
    runs = store.read_arrow(folder, "runs", ["run_id", "code"], where=here)
    other = sum(one != code for one in runs["code"].to_pylist())
    if other:
        yield f"{other} more runs here were made by other code; reports separate them (`causeway doctor {folder}`)"
