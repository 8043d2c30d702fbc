"""The samples of a database at the speed of SQLite itself, where its library can be called; else Python reads them.

A second connection of the same library is opened: two libraries in one process would drop each other's locks.
"""

from __future__ import annotations

import ctypes
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import numpy as np

from causeway.analysis.convert import native
from causeway.analysis.convert.samples import SampleWriter

_READ_ONLY, _URI = 0x1, 0x40
_BUSY_MS = 30_000
_FUNCTIONS = ("sqlite3_step", "sqlite3_column_type", "sqlite3_column_int64", "sqlite3_column_double")


@cache
def _library() -> ctypes.CDLL | None:
    """The library that Python's own module has loaded; None where it has it built in."""
    assert sqlite3.sqlite_version  # so it is loaded
    try:
        lines = Path("/proc/self/maps").read_text().splitlines()
    except OSError:
        return None
    found = {line.split(maxsplit=5)[5] for line in lines if "/libsqlite3.so" in line}
    return ctypes.CDLL(found.pop()) if len(found) == 1 else None


def take(source: Path, query: str, given: Sequence[int], exponent: int, writer: SampleWriter) -> int | None:
    """Writes the rows that a query gives (vector, event, time, value, rowid) up to the first one that is odd; the rowid
    of the last one written. None: none."""
    library = _library()
    if library is None:
        return None
    last, ended = np.zeros(1, np.int64), native.FULL
    functions = tuple(ctypes.cast(getattr(library, name), ctypes.c_void_p).value for name in _FUNCTIONS)
    with _statement(library, source, query, given) as statement:
        if statement is None:
            return None
        taken = 0
        while ended == native.FULL:
            batch = writer.batch
            begin = batch.rows
            batch.rows, ended = native.fill(
                functions, statement, begin, batch.ids, batch.events, batch.raws, batch.values, last
            )
            batch.exponents[begin : batch.rows] = exponent
            taken += batch.rows - begin
            if ended == native.FULL:
                writer.swap()
    return int(last[0]) if taken else None


@contextmanager
def _statement(library: ctypes.CDLL, source: Path, query: str, given: Sequence[int]) -> Iterator[int | None]:
    """A prepared statement; None if it cannot be had, and why will be told by Python's own connection."""
    database, statement = ctypes.c_void_p(), ctypes.c_void_p()
    uri = f"{source.resolve().as_uri()}?mode=ro".encode()
    try:
        if library.sqlite3_open_v2(uri, ctypes.byref(database), _READ_ONLY | _URI, None):
            yield None
            return
        library.sqlite3_busy_timeout(database, _BUSY_MS)
        if library.sqlite3_prepare_v2(database, query.encode(), -1, ctypes.byref(statement), None):
            yield None
            return
        for place, value in enumerate(given, start=1):
            library.sqlite3_bind_int64(statement, place, ctypes.c_int64(value))
        yield statement.value
    finally:
        library.sqlite3_finalize(statement)
        library.sqlite3_close_v2(database)
