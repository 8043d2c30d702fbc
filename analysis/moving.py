"""The moving picture of any run that recorded where its nodes were (`causeway run --animate`): one page a run.

It is made of the series of the modules `place[i]` and `trouble[i]` (`pycontrol/places.py`), and of what nodes recorded
themselves (`node[i]`). Numbers go into the page as arrays in base64: 300 hosts over ten minutes are a few megabytes.
"""

from __future__ import annotations

import base64
import json
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.compute as pc

from causeway.analysis import store
from causeway.analysis.moving_page import PAGE
from causeway.bridge.errors import UserError

MOST_EVENTS = 1_000_000
"""Broadcasts, or losses, of a page: beyond, every second, third ... is left out, and the page says so."""


def write_all(result_dir: Path, out_dir: Path) -> list[tuple[str, str]]:
    """A page for the first run of every point and engine that recorded places: (title, file name) of each."""
    vectors = store.read_arrow(result_dir, "vectors", ["run_id", "module", "name"])
    placed = vectors.filter((pc.field("module") == "place[0]") & (pc.field("name") == "x_m"))
    ids = set(placed["run_id"].to_pylist())
    runs = [run for run in store.read_arrow(result_dir, "runs").to_pylist() if run["run_id"] in ids]
    first: dict[tuple[str, str], dict[str, Any]] = {}
    for run in sorted(runs, key=lambda run: run["seed"] or 0):
        first.setdefault((run["point"], run["engine"]), run)
    pages = []
    for run in first.values():
        name = f"nodes-{store.quote(run['run_id'])}.html"
        write(result_dir, run["run_id"], out_dir / name)
        pages.append((f"{run['study']} on {run['engine']}, {run['run_id']}: nodes, broadcasts, losses", name))
    return pages


def write(result_dir: Path, run_id: str, out_html: Path) -> None:
    """Writes the page of one run."""
    samples = store.read_table_of(result_dir, "samples", run_id).to_pandas()
    vectors = store.read_table_of(result_dir, "vectors", run_id).to_pandas()
    parameters = store.read_table_of(result_dir, "parameters", run_id).to_pandas()
    told = ", ".join(f"{n} {v}" for n, v in zip(parameters["name"], parameters["value"], strict=True))
    data = collect(samples.merge(vectors[["vector_id", "module", "name"]], on="vector_id"))
    if not data["nodes"]:
        raise UserError(f"run {run_id} did not record where its nodes were; run it with --animate 0.5")
    page = PAGE.replace("@TITLE@", escape(run_id)).replace("@TOLD@", escape(told))
    text = page.replace("@DATA@", json.dumps(data, separators=(",", ":")).replace("<", "\\u003c"))
    with store.landing(out_html) as temporary:
        temporary.write_text(text, encoding="utf-8")


def collect(samples: pd.DataFrame) -> dict[str, Any]:
    """The page's data. Times are in ms, places in mm, both as whole numbers."""
    samples = samples.assign(time=samples["time_raw"] * 10.0 ** samples["time_exp"].astype(float))
    nodes, trouble, recorded = (_by_number(samples, kind) for kind in ("place", "trouble", "node"))
    moving = {i: rows for i, rows in nodes.items() if not rows[rows["name"] == "x_m"].empty}
    if not moving or set(moving) != set(range(len(moving))):
        return {"nodes": []}
    events = {name: _events(nodes, name) for name in ("told", "sent", "lost")}
    known = [one for one in events.values() if one["count"]]
    ends = [float(samples["time"].max() or 0.0)] if known else [float(pd.concat(moving.values())["time"].max())]
    return {
        "nodes": [_node(rows) for _, rows in sorted(moving.items())],
        "series": _recorded(recorded),
        "charts": _charts(samples),
        "trouble": [_trouble(rows) for _, rows in sorted(trouble.items())],
        "events": events,
        "end_ms": round(1000 * max(ends)),
    }


def _by_number(samples: pd.DataFrame, kind: str) -> dict[int, pd.DataFrame]:
    """The modules kind[0], kind[1], ..."""
    mine = samples[samples["module"].str.startswith(f"{kind}[")]
    number = mine["module"].str.slice(len(kind)).str.extract(r"^\[(\d{1,9})\]$")[0]
    mine = mine[number.notna()].sort_values(["time"], kind="stable")
    number = number[number.notna()].astype(int)
    return {int(i): rows for i, rows in mine.groupby(number.reindex(mine.index))}


def _node(rows: pd.DataFrame) -> dict[str, Any]:
    by = dict(list(rows.groupby("name")))
    x, y = by["x_m"].drop_duplicates("time", keep="last"), by["y_m"].drop_duplicates("time", keep="last")
    station = "station" in by
    reach = by["station"] if station else by.get("host")
    found: dict[str, Any] = {
        "station": int(station),
        "reach_mm": round(1000 * float(reach["value"].iloc[0])) if reach is not None else 0,
        "t": _whole(x["time"], 1000), "x": _whole(x["value"], 1000), "y": _whole(y["value"], 1000),
    }  # fmt: skip
    for name in ("at", "up"):
        if name in by:
            found[name] = {"t": _whole(by[name]["time"], 1000), "v": _whole(by[name]["value"], 1)}
    if "wired_to" in by:
        found["wired_to"] = [int(v) for v in by["wired_to"]["value"]]
    if "trace_x_m" in by:
        found["trace"] = {"x": _whole(by["trace_x_m"]["value"], 1000), "y": _whole(by["trace_y_m"]["value"], 1000)}
    return found


def _events(nodes: dict[int, pd.DataFrame], name: str) -> dict[str, Any]:
    parts = [(rows[rows["name"] == name], i) for i, rows in nodes.items()]
    parts = [(rows, i) for rows, i in parts if len(rows)]
    if not parts:
        return {"count": 0, "every": 1, "t": "", "node": "", "value": ""}
    time = np.concatenate([rows["time"].to_numpy() for rows, _ in parts])
    value = np.concatenate([rows["value"].to_numpy() for rows, _ in parts])
    node = np.concatenate([np.full(len(rows), i) for rows, i in parts])
    every = -(-len(time) // MOST_EVENTS)
    order = np.argsort(time, kind="stable")[::every]
    return {
        "count": len(order), "every": every, "t": _whole(time[order], 1000), "node": _whole(node[order], 1),
        "value": _whole(value[order], 1),
    }  # fmt: skip


def _recorded(nodes: dict[int, pd.DataFrame]) -> list[dict[str, Any]]:
    """What nodes recorded themselves: for each name its nodes' series."""
    found: dict[str, list[dict[str, Any]]] = {}
    for i, rows in nodes.items():
        for name, series in rows.groupby("name"):
            one = {"node": i, "t": _whole(series["time"], 1000), "v": _real(series["value"])}
            found.setdefault(str(name), []).append(one)
    return [{"name": name, "of": of} for name, of in sorted(found.items())]


def _charts(samples: pd.DataFrame) -> list[dict[str, Any]]:
    """What was recorded of the run as a whole."""
    run = samples[samples["module"] == "run"].sort_values("time", kind="stable")
    return [
        {"title": str(name), "t": _whole(rows["time"], 1000), "v": _real(rows["value"])}
        for name, rows in run.groupby("name")
        if len(rows) > 1
    ]


def _trouble(rows: pd.DataFrame) -> dict[str, Any]:
    found: dict[str, Any] = {
        str(name): [round(float(v), 3) for v in part["value"]] for name, part in rows.groupby("name")
    }
    until = rows[rows["name"] == "until"]["time"]
    found["until"] = round(1000 * float(until.iloc[0])) if len(until) else 0
    found["from"] = round(1000 * float(rows[rows["name"] != "until"]["time"].min()))
    return found


def _whole(values: Any, times: int) -> str:
    return base64.b64encode(np.rint(np.asarray(values, float) * times).astype("<i4").tobytes()).decode()


def _real(values: Any) -> str:
    return base64.b64encode(np.asarray(values, "<f4").tobytes()).decode()
