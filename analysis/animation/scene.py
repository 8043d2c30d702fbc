"""The data of an animation that a study describes: its places, its things and the series of their states."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from causeway.analysis.animation import packed
from causeway.analysis.animation.nodes import NO_EVENTS
from causeway.analysis.plots import Scene

JUST_SAMPLES = 2
"""The number of samples during which a bold line joins a thing and the place that it has just reached."""


def collect(samples: pd.DataFrame, scene: Scene) -> dict[str, Any]:
    """Return the data of the page. Its list of nodes is empty if places or things did not record their positions."""
    places, things = packed.by_number(samples, scene.place), packed.by_number(samples, scene.thing)
    things = {i: rows for i, rows in things.items() if {"x_m", "y_m"} <= set(rows["name"])}
    if not things or not places or not all({"x_m", "y_m", "reach_m"} <= set(r["name"]) for r in places.values()):
        return {"nodes": []}
    times = np.unique(pd.concat([rows.loc[rows["name"] == "x_m", "time"] for rows in things.values()]))
    interval_s = float(np.median(np.diff(times))) if len(times) > 1 else 0.0
    return {
        "nodes": [_place(i, rows, scene, len(places)) for i, rows in places.items()]
        + [_thing(i, rows, scene) for i, rows in things.items()],
        "names": {"place": scene.place, "thing": scene.thing},
        "states": [{"value": s.value, "mark": s.mark, "meaning": s.meaning} for s in scene.states],
        "just_ms": round(1000 * JUST_SAMPLES * interval_s),
        "series": [], "trouble": [], "events": dict.fromkeys(("told", "sent", "lost"), NO_EVENTS),
        "charts": packed.charts(samples, dict(scene.charts)),
        "begin_ms": round(1000 * float(times[0])), "end_ms": round(1000 * float(times[-1])),
    }  # fmt: skip


def _place(number: int, rows: pd.DataFrame, scene: Scene, count: int) -> dict[str, Any]:
    reach = float(rows.loc[rows["name"] == "reach_m", "value"].iloc[0])
    wires = [int(value) for value in rows.loc[rows["name"] == "wired_to", "value"] if 0 <= value < count]
    return {
        "name": f"{scene.place[0]}{number}", "station": 1, "reach_mm": round(1000 * reach), "wired_to": wires,
        **packed.way(rows), **_named(rows, {"size": scene.place_size}),
    }  # fmt: skip


def _thing(number: int, rows: pd.DataFrame, scene: Scene) -> dict[str, Any]:
    described = _named(rows, {"state": scene.state, "size": scene.thing_size})
    at = rows[rows["name"] == scene.at]
    return {
        "name": f"{scene.thing} {number}", "station": 0, "reach_mm": 0, **packed.way(rows), **described,
        **({"at": packed.series(at, of_whole=True)} if len(at) else {}),
    }  # fmt: skip


def _named(rows: pd.DataFrame, names: dict[str, str]) -> dict[str, Any]:
    found = {key: rows[rows["name"] == name] for key, name in names.items() if name}
    return {key: packed.series(part) for key, part in found.items() if len(part)}
