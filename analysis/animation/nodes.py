"""The data of an animation of any run that recorded the positions of its nodes (`causeway run --animate`).

It consists of the series of the modules `place[i]` and `trouble[i]` (`pycontrol/animation_samples.py`), and of those
that nodes recorded themselves (`node[i]`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from causeway.analysis.animation import packed

MOST_EVENTS = 1_000_000
"""The maximum number of broadcasts, and of losses, on a page. More would slow a browser down: then every n-th is shown.
"""
NO_EVENTS = {"count": 0, "every": 1, "t": "", "node": "", "value": ""}


def collect(samples: pd.DataFrame) -> dict[str, Any]:
    """Return the data of the page. Its list of nodes is empty if the nodes did not record their positions."""
    nodes, trouble, recorded = (packed.by_number(samples, kind) for kind in ("place", "trouble", "node"))
    moving = {i: rows for i, rows in nodes.items() if (rows["name"] == "x_m").any()}
    if not moving or set(moving) != set(range(len(moving))):
        return {"nodes": []}
    events = {name: _events(nodes, name) for name in ("told", "sent", "lost")}
    known = any(one["count"] for one in events.values())
    end = (samples if known else pd.concat(moving.values()))["time"].max()
    return {
        "nodes": [_node(rows) for _, rows in sorted(moving.items())],
        "names": {"place": "station", "thing": "host"}, "states": [], "just_ms": 0,
        "series": _recorded(recorded), "trouble": [_trouble(rows) for _, rows in sorted(trouble.items())],
        "events": events, "charts": packed.charts(samples), "begin_ms": 0, "end_ms": round(1000 * float(end or 0.0)),
    }  # fmt: skip


def _node(rows: pd.DataFrame) -> dict[str, Any]:
    by = dict(list(rows.groupby("name")))
    reach = by.get("station", by.get("host"))
    found: dict[str, Any] = {
        "station": int("station" in by),
        "reach_mm": round(1000 * float(reach["value"].iloc[0])) if reach is not None else 0, **packed.way(rows),
    }  # fmt: skip
    found |= {name: packed.series(by[name], of_whole=True) for name in ("at", "up") if name in by}
    if "comes" in by:
        found["comes"] = 1
    if "wired_to" in by:
        found["wired_to"] = [int(value) for value in by["wired_to"]["value"]]
    if "trace_x_m" in by:
        axes = {axis: by[f"trace_{axis}_m"]["value"] for axis in "xyz" if f"trace_{axis}_m" in by}
        found["trace"] = {axis: packed.whole(values, 1000) for axis, values in axes.items()}
    return found


def _events(nodes: dict[int, pd.DataFrame], name: str) -> dict[str, Any]:
    parts = [(rows[rows["name"] == name], i) for i, rows in nodes.items()]
    parts = [(rows, i) for rows, i in parts if len(rows)]
    if not parts:
        return NO_EVENTS
    time = np.concatenate([rows["time"].to_numpy() for rows, _ in parts])
    value = np.concatenate([rows["value"].to_numpy() for rows, _ in parts])
    node = np.concatenate([np.full(len(rows), i) for rows, i in parts])
    every = -(-len(time) // MOST_EVENTS)
    order = np.argsort(time, kind="stable")[::every]
    return {
        "count": len(order), "every": every, "t": packed.whole(time[order], 1000), "node": packed.whole(node[order]),
        "value": packed.whole(value[order]),
    }  # fmt: skip


def _recorded(nodes: dict[int, pd.DataFrame]) -> list[dict[str, Any]]:
    """Return the series that nodes recorded with `Node.record`: for each name, the series of each node."""
    found: dict[str, list[dict[str, Any]]] = {}
    for i, rows in nodes.items():
        for name, part in rows.groupby("name"):
            found.setdefault(str(name), []).append({"node": i, **packed.series(part)})
    return [{"name": name, "of": of} for name, of in sorted(found.items())]


def _trouble(rows: pd.DataFrame) -> dict[str, Any]:
    found: dict[str, Any] = {
        str(name): [round(float(v), 3) for v in part["value"]] for name, part in rows.groupby("name")
    }
    until = rows[rows["name"] == "until"]["time"]
    found["until"] = round(1000 * float(until.iloc[0])) if len(until) else 0
    found["from"] = round(1000 * float(rows[rows["name"] != "until"]["time"].min()))
    return found
