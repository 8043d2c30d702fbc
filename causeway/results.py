"""Read result folders and result files in a notebook or a script.

    import causeway.results

    folder = causeway.results.open("results")
    folder.scalars("delivery_delay_s", study="mobile20")

`read_pandas`, `read_arrow` and `read_spark` return whole tables; `mean_ci`, `group_means` and `time_series` reduce
them; `pandas_tables` and `spark_tables` convert OMNeT++'s result files. The guide's chapter on results explains them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from causeway.analysis.query.folder import Folder, open
from causeway.analysis.query.series import Series

if TYPE_CHECKING:
    from causeway.analysis.convert import pandas_tables, spark_tables
    from causeway.analysis.diff import diff
    from causeway.analysis.reduce.means import group_means, mean_ci, time_series
    from causeway.analysis.reduce.scalars import run_values
    from causeway.analysis.spark import read_spark, session
    from causeway.analysis.store import files_of, one_state, read_arrow, read_pandas

_PLACES = {
    "analysis.convert": ("pandas_tables", "spark_tables"),
    "analysis.diff": ("diff",),
    "analysis.reduce.means": ("group_means", "mean_ci", "time_series"),
    "analysis.reduce.scalars": ("run_values",),
    "analysis.spark": ("read_spark", "session"),
    "analysis.store": ("files_of", "one_state", "read_arrow", "read_pandas"),
}
"""Names that are loaded at their first use, since some of them take long."""

__all__ = [
    "Folder",
    "Series",
    "diff",
    "files_of",
    "group_means",
    "mean_ci",
    "one_state",
    "open",
    "pandas_tables",
    "read_arrow",
    "read_pandas",
    "read_spark",
    "run_values",
    "session",
    "spark_tables",
    "time_series",
]


def __getattr__(name: str) -> Any:
    for place, names in _PLACES.items():
        if name in names:
            return getattr(import_module(f"causeway.{place}"), name)
    raise AttributeError(f"causeway.results has no name {name!r}; it has {', '.join(__all__)}")
