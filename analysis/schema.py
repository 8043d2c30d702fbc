"""The result tables, the same for every engine, with the names and types of their columns.

Dimension tables (`runs`, `parameters`, `nodes`, `vectors`) describe the runs; fact tables (`scalars`, `samples`)
contain their results. The other tables keep the remaining contents of OMNeT++'s own result files, so that a conversion
loses nothing.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from causeway.analysis.arrow_arrays import array, of_numbers, of_texts

_TEXT, _INT, _REAL = pa.string(), pa.int64(), pa.float64()


_POSITION = pa.field("position", _INT)
"""The number of the item among the items of its kind in its file, from 0. It is the key of the item's attributes, since
several items may have the same name."""


def _required(**columns: pa.DataType) -> list[pa.Field]:
    return [pa.field(name, kind, nullable=False) for name, kind in columns.items()]


def _table(*fields: pa.Field) -> pa.Schema:
    return pa.schema([pa.field("run_id", _TEXT, nullable=False), *fields])


TABLES: dict[str, pa.Schema] = {
    "runs": _table(
        *_required(study=_TEXT, point=_TEXT, engine=_TEXT, engine_version=_TEXT, causeway_version=_TEXT, commit=_TEXT),
        pa.field("seed", _INT),  # null if a converted file does not contain it
        *_required(digest=_TEXT),
        *_required(started_at=_TEXT),  # ISO-8601, UTC
        *[pa.field("wall_s", _REAL), pa.field("events", _INT)],  # null if a converted file does not contain it
        *_required(source=_TEXT),  # path of a converted result file; "" for a run of Causeway
        # Digests of the run's code: all code; the study; Causeway with the simulator's version; the ini and NED files
        # ("" if there are none). They are null in runs of older versions and in converted files.
        *[pa.field(name, _TEXT) for name in ("code", "study_code", "causeway_code", "project_code")],
    ),
    "parameters": _table(*_required(name=_TEXT, value=_TEXT), pa.field("number", _REAL)),
    "nodes": _table(*_required(node=_INT, module=_TEXT)),  # the modules of a user's own network that are nodes
    "scalars": _table(*_required(module=_TEXT, name=_TEXT, value=_REAL), _POSITION),
    "vectors": _table(*_required(vector_id=_INT, module=_TEXT, name=_TEXT, unit=_TEXT, columns=_TEXT)),
    "samples": _table(
        *_required(vector_id=_INT),
        pa.field("event", _INT),
        *_required(time_raw=_INT, time_exp=pa.int8()),  # exact time = time_raw * 10^time_exp seconds
        *_required(value=_REAL),
    ),
    # Tables that are filled only from converted OMNeT++ files:
    "attributes": _table(
        *_required(owner=_TEXT),  # run, scalar, par, vector or statistic
        *_required(module=_TEXT, item=_TEXT, name=_TEXT, value=_TEXT, position=_INT),
    ),
    "config": _table(*_required(position=_INT, name=_TEXT, value=_TEXT)),
    "pars": _table(*_required(module=_TEXT, name=_TEXT, value=_TEXT), _POSITION),
    "statistics": _table(*_required(module=_TEXT, name=_TEXT, field=_TEXT, value=_REAL), _POSITION),
    "bins": _table(
        *_required(module=_TEXT, name=_TEXT, position=_INT, edge=_REAL, value=_REAL),
        pa.field("item_position", _INT),  # the position of the statistic it belongs to
    ),
}

_DEFAULTS: dict[str, dict[str, Any]] = {
    "runs": {"source": "", "digest": "", "commit": "", "causeway_version": "", "engine_version": ""},
    "vectors": {"unit": "", "columns": "TV"},
}


def empty(name: str) -> pa.Table:
    """Return the table `name` with no rows."""
    return TABLES[name].empty_table()


def conform(name: str, table: pa.Table | Mapping[str, Any], run_id: str | None = None) -> pa.Table:
    """Return `table` (pyarrow, or a dict of columns) with exactly the columns and types of the table `name`.

    `run_id` is the value of that column if the table lacks it. Other missing columns get their default, or null where
    null is allowed. A column that the schema does not have is an error, so that a misspelt name is not dropped.
    """
    schema = TABLES[name]
    columns = {key: table[key] for key in (table.column_names if isinstance(table, pa.Table) else table)}
    unknown = sorted(set(columns) - set(schema.names))
    if unknown:
        raise ValueError(f"table {name}: no such column: {', '.join(unknown)} (it has {', '.join(schema.names)})")
    rows = max((len(column) for column in columns.values()), default=0)
    fill = {**_DEFAULTS.get(name, {}), **({} if run_id is None else {"run_id": run_id})}
    arrays = [_column(name, field, columns.get(field.name), fill, rows) for field in schema]
    return pa.Table.from_arrays(arrays, schema=schema)


def _repeated(value: Any, rows: int, kind: pa.DataType) -> pa.Array:
    if rows < 100 or kind != pa.string():
        return array([value] * rows, kind)
    return pa.DictionaryArray.from_arrays(of_numbers(np.zeros(rows, np.int8)), of_texts([value])).cast(kind)


def _column(table: str, field: pa.Field, values: Any, fill: Mapping[str, Any], rows: int) -> pa.Array:
    if values is None:
        if field.name not in fill and not field.nullable:
            raise ValueError(f"table {table}: column {field.name} is missing")
        if field.name not in fill:
            return pa.nulls(rows, field.type)
        return _repeated(fill[field.name], rows, field.type)
    if isinstance(values, pa.Array | pa.ChunkedArray):
        column = values.cast(field.type) if values.type != field.type else values
    else:
        column = array(values, field.type)
    if column.null_count and not field.nullable:
        raise ValueError(f"table {table}: column {field.name} has {column.null_count} missing values")
    return column
