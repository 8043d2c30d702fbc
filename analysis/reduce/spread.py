"""Apply functions of pandas DataFrames to frames of pandas or Spark. Only this module distinguishes the two.

A reduction has two steps. `each_part` applies a function to any part of the rows, such as the first 10,000; `together`
applies one to parts that hold all rows of equal keys. A pandas frame is a single part.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

import pandas as pd

Frame: TypeAlias = Any
"""A DataFrame of pandas or of Spark. Both understand `frame[[names]]` and `frame[frame[name].isin(values)]`."""
Function = Callable[[pd.DataFrame], pd.DataFrame]
INTEGER, REAL = "bigint", "double"


def each_part(frame: Frame, function: Function, names: Sequence[str], types: Mapping[str, str]) -> Frame:
    """Apply a function to the rows, in any parts. It returns the columns `names`.

    `types` are the types of new columns.
    """
    if isinstance(frame, pd.DataFrame):
        return function(frame)
    return frame.mapInPandas(partial(_apply, function), _schema(frame, names, types))


def together(
    frame: Frame, by: Sequence[str], function: Function, names: Sequence[str], types: Mapping[str, str]
) -> Frame:
    """Apply a function to the rows, with all rows of equal keys `by` in one part.

    `names` and `types`: see `each_part`.
    """
    if isinstance(frame, pd.DataFrame):
        return function(frame)
    return frame.repartition(*by).mapInPandas(partial(_whole, function), _schema(frame, names, types))


def _apply(function: Function, parts: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    return map(function, parts)


def _whole(function: Function, parts: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    if rows := list(parts):
        yield function(pd.concat(rows, ignore_index=True))


def _schema(frame: Frame, names: Sequence[str], types: Mapping[str, str]) -> str:
    known = dict(frame.dtypes) | dict(types)
    return ", ".join(f"`{name}` {known[name]}" for name in names)


def join(frame: Frame, keys: pd.DataFrame, on: Sequence[str]) -> Frame:
    """Return the rows whose keys are in a small frame, with its other columns."""
    if isinstance(frame, pd.DataFrame):
        return frame.merge(keys, on=list(on))
    from pyspark.sql import functions as F

    return frame.join(F.broadcast(frame.sparkSession.createDataFrame(keys)), list(on))


def stack(frame: Frame, more: pd.DataFrame) -> Frame:
    """Return the rows of a frame and those of a small one with the same columns."""
    if isinstance(frame, pd.DataFrame):
        return pd.concat([frame, more], ignore_index=True)
    return frame.union(frame.sparkSession.createDataFrame(more, frame.schema)) if len(more) else frame


def in_memory(frame: Frame) -> pd.DataFrame:
    """Return the frame as one of pandas."""
    return frame if isinstance(frame, pd.DataFrame) else frame.toPandas()
