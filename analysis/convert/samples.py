"""Columns of vector samples (`Batch`), kept in memory (`Collected`) or written as parquet (`SampleWriter`)."""

from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import TracebackType

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from causeway.analysis import schema, store
from causeway.analysis.arrow_arrays import of_numbers, of_texts
from causeway.analysis.convert.declared import NO_EVENT
from causeway.analysis.physical import SOURCE

BATCH_ROWS = 1 << 19
_FIRST = of_numbers(np.zeros(BATCH_ROWS, np.int32))  # the run of each row: entry 0 of a dictionary with one entry
_DICTIONARY = pa.dictionary(pa.int32(), pa.string())
_SCHEMA = pa.schema([pa.field("run_id", _DICTIONARY, nullable=False), *list(schema.TABLES["samples"])[1:]])
_STAGED = _SCHEMA.append(pa.field(SOURCE, _DICTIONARY))
_OPTIONS = {
    "compression": dict.fromkeys([*schema.TABLES["samples"].names, SOURCE], "zstd")
    | {"value": "snappy"},  # mostly random bits, which cannot be compressed
    "store_schema": False,
    "write_page_checksum": True,
    "use_dictionary": ["run_id", "vector_id", SOURCE],
    "column_encoding": {"event": "DELTA_BINARY_PACKED", "time_raw": "DELTA_BINARY_PACKED"},
    "write_statistics": ["vector_id", "event", "time_raw", "time_exp"],
}


class Batch:
    """The columns of up to `rows` samples; `self.rows` counts those filled."""

    def __init__(self, rows: int = BATCH_ROWS) -> None:
        self.ids = np.empty(rows, np.int64)
        self.events = np.empty(rows, np.int64)
        self.raws = np.empty(rows, np.int64)
        self.exponents = np.empty(rows, np.int8)
        self.values = np.empty(rows, np.float64)
        self.rows = 0

    @property
    def columns(self) -> tuple[np.ndarray, ...]:
        """The columns in the order of `kernel.parse`."""
        return self.ids, self.events, self.raws, self.exponents, self.values

    def table(self, run_id: str) -> pa.Table:
        """Return the filled rows as an arrow table that shares their memory."""
        ids, events, raws, exponents, values = (column[: self.rows] for column in self.columns)
        missing = events == NO_EVENT
        owner = pa.DictionaryArray.from_arrays(_FIRST[: self.rows], of_texts([run_id]))
        arrays = [
            owner, of_numbers(ids), of_numbers(events, missing), of_numbers(raws), of_numbers(exponents),
            of_numbers(values),
        ]  # fmt: skip
        return pa.Table.from_arrays(arrays, schema=_SCHEMA)


class Collected:
    """Samples of a small file, kept in memory as tables. The interface is that of `SampleWriter`."""

    def __init__(self, run_id: str, most_rows: int) -> None:
        self.run_id, self.rows = run_id, 0
        self._room = min(BATCH_ROWS, most_rows + 1)
        self.batch = Batch(self._room)
        self.tables: list[pa.Table] = []

    def swap(self) -> None:
        """Keep the batch, and begin a new one."""
        if self.batch.rows:
            self.rows += self.batch.rows
            self.tables.append(self.batch.table(self.run_id))
        self.batch = Batch(self._room)

    def finish(self) -> int:
        """Keep the last batch; return the number of all rows."""
        self.swap()
        return self.rows


class SampleWriter:
    """Writes one parquet file of samples, which becomes visible when it is complete.

    Use it as a context manager. The caller fills `batch` and calls `swap`. A thread then writes this batch while the
    caller fills the other one.
    """

    def __init__(self, path: Path, run_id: str, source: str) -> None:
        self.run_id, self.rows, self._source = run_id, 0, of_texts([source])
        self.batch, self._other = Batch(), Batch()
        self._replacing = store.replacing(path)
        self._thread = ThreadPoolExecutor(1)
        self._pending: Future[None] | None = None

    def __enter__(self) -> "SampleWriter":
        self._file = pq.ParquetWriter(self._replacing.__enter__(), _STAGED, **_OPTIONS)
        return self

    def swap(self) -> None:
        """Wait until the other batch is written, start writing the filled one, and use the other from now on."""
        if self._pending:
            self._pending.result()
        full, self.batch, self._other = self.batch, self._other, self.batch
        self.batch.rows = 0
        self.rows += full.rows
        self._pending = self._thread.submit(self._write, full) if full.rows else None

    def _write(self, batch: Batch) -> None:
        source = pa.DictionaryArray.from_arrays(_FIRST[: batch.rows], self._source)
        self._file.write_table(batch.table(self.run_id).append_column(SOURCE, source), row_group_size=len(batch.ids))

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            if error is None:
                self.swap()
                self.swap()
        except BaseException as failure:
            error = failure
            raise
        finally:
            self._thread.shutdown()
            self._file.close()
            self._replacing.__exit__(type(error) if error else None, error, trace)
