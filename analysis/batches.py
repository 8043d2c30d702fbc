"""Batches: many runs that landed together, in one parquet file a table and study.

The file `tables/runs/@<batch>.parquet` lands last. Its footer names every other file of the batch with size and digest,
and the batches that it takes the place of. So a batch is seen whole or not at all, whatever was killed when: a file
that no such footer names is not read, and a batch that another one replaces is not read either, even before its files
are gone. Files may pass from a replaced batch to the new one as they are.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
import uuid
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, cast

import pyarrow.parquet as pq

from causeway.analysis.remote import Remote

MARK = "@"
"""What the name of a batch begins with; the file of a single run never does."""
SOURCE = "_source"
"""An extra column of batches that were converted: which result file a row came from."""
_FOOTER = b"causeway.batch"
NO_STUDY = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True)
class Part:
    """One file of a run or batch: what it must be."""

    size: int
    digest: str


@dataclass
class Batch:
    """What one file in `tables/runs` says belongs together."""

    key: str
    """Its file's name without the ending."""
    files: dict[str, Part] = field(default_factory=dict)
    """Path below `tables/` -> what it must be; the `runs` file itself is not among them."""
    run_ids: tuple[str, ...] = ()
    """Of a batch; a single run is known by its key."""
    replaces: tuple[str, ...] = ()
    sources: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Which result file was converted how far: id of the source -> its mark."""
    held: dict[str, list[str]] = field(default_factory=dict)
    """File -> the sources whose rows it holds."""
    told: bool = True
    """False: a run of an older version, whose files are known by their names only."""

    @property
    def many(self) -> bool:
        return self.key.startswith(MARK)


def new_key() -> str:
    """A name that no other batch has, behind those of earlier ones: rows are read in the order in which they landed."""
    return f"{MARK}{time.time_ns():016x}{uuid.uuid4().hex[:8]}"


def study_dir(quoted_study: str) -> str:
    """The folder of a study's files below a table."""
    return f"study={quoted_study or NO_STUDY}"


def read(path: Path, tables: Mapping[str, Any]) -> Batch:
    """What a file in `tables/runs` says. Raises OSError or ValueError if it is damaged."""
    key = path.name.removesuffix(".parquet")
    with opened(path) as file:
        if not key.startswith(MARK):
            return _single(key, file, tables)
        given = json.loads((file.metadata.metadata or {})[_FOOTER])
        run_ids = tuple(file.read(columns=["run_id"])["run_id"].to_pylist())
    parts = {name: Part(int(size), str(digest)) for name, (size, digest) in given["files"].items()}
    if any(name.split("/")[0] not in tables or ".." in name.split("/") for name in parts):
        raise ValueError("it names files that are none of its own")
    return Batch(key, parts, run_ids, tuple(given["replaces"]), given["sources"], given["held"])


def _single(key: str, file: pq.ParquetFile, tables: Mapping[str, Any]) -> Batch:
    rows = file.metadata.num_rows
    known = "parts" in file.schema_arrow.names  # else it was made before rows named their parts
    text = file.read(columns=["parts"])["parts"][0].as_py() if known and rows == 1 else None
    if rows != 1:
        raise ValueError(f"{rows} rows")
    given = json.loads(text) if text else {}
    if not isinstance(given, dict) or not set(given) <= set(tables):
        raise ValueError("it names tables that there are not")
    parts = {f"{name}/{key}.parquet": Part(int(size), str(digest)) for name, (size, digest) in given.items()}
    return Batch(key, parts, told=text is not None)


def footer(batch: Batch) -> dict[bytes, str]:
    """What the footer of a batch's `runs` file says."""
    told = {
        "files": {name: [part.size, part.digest] for name, part in batch.files.items()},
        "replaces": list(batch.replaces), "sources": batch.sources, "held": batch.held,
    }  # fmt: skip
    return {_FOOTER: json.dumps(told, separators=(",", ":"))}


class Digesting:
    """A file to write to that knows the size and digest of what went through."""

    closed = False

    def __init__(self, file: BinaryIO) -> None:
        self._file, self.size, self.digest = file, 0, hashlib.blake2b(digest_size=16)

    def write(self, data: Any) -> int:
        view = memoryview(data)
        self._file.write(view)
        self.digest.update(view)
        self.size += view.nbytes
        return view.nbytes

    def flush(self) -> None:
        self._file.flush()

    def close(self) -> None:
        self._file.flush()

    def part(self) -> Part:
        return Part(self.size, self.digest.hexdigest())


def opened(path: Path) -> pq.ParquetFile:
    """A parquet file, wherever it is."""
    return pq.ParquetFile(path.open("rb") if isinstance(path, Remote) else path)


def entries(place: Path) -> list[tuple[str, int, Path]]:
    """(name, size, path) of what is in a folder and not hidden; nothing if there is no such folder."""
    if isinstance(place, Remote):
        return [(one.name, one.size, cast(Path, one)) for one in place.children() if one.name[0] != "."]
    listed = []
    with suppress(FileNotFoundError), os.scandir(place) as inside:
        for one in inside:
            if one.name[0] != ".":
                with suppress(FileNotFoundError):  # it went while we looked; the others are there
                    listed.append((one.name, one.stat().st_size, place / one.name))
    return listed


def names(place: Path) -> list[str]:
    """The names of what is in a folder and not hidden: a quick look."""
    if isinstance(place, Remote):
        return [name for name, _, _ in entries(place)]
    try:
        return [name for name in os.listdir(place) if name[0] != "."]
    except FileNotFoundError:
        return []


def found(tables: Path, name: str) -> dict[str, tuple[int, Path]]:
    """Path below `tables/` -> size and path, of every file of a table that is not hidden."""
    top = entries(tables / name)
    below = [(f"{name}/{study}", entries(path)) for study, _, path in sorted(top) if study.startswith("study=")]
    return {
        f"{where}/{file}": (size, path)
        for where, inside in [(name, top), *below]
        for file, size, path in inside
        if file.endswith(".parquet")
    }


def sizes(tables: Path, name: str) -> dict[str, int]:
    """Path below `tables/` -> size, of every file of a table that is not hidden."""
    return {file: size for file, (size, _) in found(tables, name).items()}


def places(tables: Path, name: str) -> list[Path]:
    """The folders that may hold files of a table."""
    return [tables / name, *(path for study, _, path in sorted(entries(tables / name)) if study.startswith("study="))]
