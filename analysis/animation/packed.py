"""Encode series for the page of an animation as arrays in base64. 300 hosts over ten minutes take a few megabytes.

Times are in whole milliseconds and positions in whole millimetres; templates/animation/animation.js reads the keys.
"""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import pandas as pd


def whole(values: Any, times: int = 1) -> str:
    """Encode numbers, multiplied by `times`, as 32-bit integers."""
    return base64.b64encode(np.rint(np.asarray(values, float) * times).astype("<i4").tobytes()).decode()


def real(values: Any) -> str:
    """Encode numbers as 32-bit floats."""
    return base64.b64encode(np.asarray(values, "<f4").tobytes()).decode()


def series(rows: pd.DataFrame, of_whole: bool = False) -> dict[str, str]:
    """Encode the times and the values of a series."""
    return {"t": whole(rows["time"], 1000), "v": whole(rows["value"]) if of_whole else real(rows["value"])}


def way(rows: pd.DataFrame) -> dict[str, str]:
    """Encode the positions of a module: times, x and y, and z if it has heights."""
    by = {name: part.drop_duplicates("time", keep="last") for name, part in rows.groupby("name")}
    axes = {axis: whole(by[f"{axis}_m"]["value"], 1000) for axis in "xyz" if f"{axis}_m" in by}
    return {"t": whole(by["x_m"]["time"], 1000), **axes}


def by_number(samples: pd.DataFrame, kind: str) -> dict[int, pd.DataFrame]:
    """Return the samples of the modules kind[0], kind[1], ... by number, in the order of time."""
    chosen = samples[samples["module"].str.startswith(f"{kind}[")]
    number = chosen["module"].str.slice(len(kind)).str.extract(r"^\[(\d{1,9})\]$")[0]
    chosen = chosen[number.notna()].sort_values("time", kind="stable")
    number = number[number.notna()].astype(int)
    return {int(i): rows for i, rows in chosen.groupby(number.reindex(chosen.index))}


def charts(samples: pd.DataFrame, titles: dict[str, str] | None = None) -> list[dict[str, Any]]:
    """Encode the series of the run as a whole: those in `titles`, or by default all with more than one sample."""
    run = samples[samples["module"] == "run"].sort_values("time", kind="stable")
    by = {str(name): rows.drop_duplicates("time", keep="last") for name, rows in run.groupby("name")}
    if titles is None:
        titles = {name: name for name, rows in by.items() if len(rows) > 1}
    return [{"title": title, **series(by[name])} for name, title in titles.items() if name in by]
