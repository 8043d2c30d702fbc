"""Moving pictures of runs, from their recorded tables: one self-contained page each.

Which series say where things are, and what they mean, is for the study to say (`causeway.analysis.plots.Scene`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.compute as pc

from causeway.analysis import store
from causeway.analysis.animation_page import PAGE
from causeway.analysis.description import Description
from causeway.analysis.plots import Scene
from causeway.bridge.errors import UserError


def write_all(
    result_dir: Path, described: Iterable[Description], out_dir: Path
) -> tuple[list[tuple[str, str]], list[str]]:
    """A page for the first run of every point and engine that recorded where its things were.

    Gives (title, file name) of each, and why some could not be made.
    """
    pages, refused = [], []
    for one in described:
        if one.scene is None:
            continue
        for run in runs_with_positions(result_dir, one.study, one.scene):
            name = f"moving-{store.quote(run['run_id'])}.html"
            try:
                write(result_dir, run["run_id"], one.scene, out_dir / name)
            except UserError as error:
                refused.append(str(error))
            else:
                pages.append((f"{run['study']} on {run['engine']}, {run['run_id']}", name))
    return pages, refused


def write(result_dir: Path, run_id: str, scene: Scene, out_html: Path) -> None:
    """Writes the page of one run."""
    samples = store.read_table_of(result_dir, "samples", run_id).to_pandas()
    vectors = store.read_table_of(result_dir, "vectors", run_id).to_pandas()
    parameters = store.read_table_of(result_dir, "parameters", run_id).to_pandas()
    data = collect(samples.merge(vectors[["vector_id", "module", "name"]], on="vector_id"), scene)
    if not data["things"] or not data["places"]:
        raise UserError(f"run {run_id} did not record both where its {scene.place}s and where its {scene.thing}s are")
    told = ", ".join(f"{n} {v}" for n, v in zip(parameters["name"], parameters["value"], strict=True))
    page = PAGE.replace("@TITLE@", escape(run_id)).replace("@TOLD@", escape(told))
    page = page.replace("@LEGEND@", escape(_legend(scene)))
    text = page.replace("@DATA@", json.dumps(data, separators=(",", ":")).replace("<", "\\u003c"))
    with store.landing(out_html) as temporary:
        temporary.write_text(text, encoding="utf-8")


def runs_with_positions(result_dir: Path, study: str, scene: Scene) -> list[dict[str, Any]]:
    """The first run of every point and engine of a study that recorded the places of its things."""
    vectors = store.read_arrow(result_dir, "vectors", ["run_id", "module", "name"])
    moving = vectors.filter((pc.field("module") == f"{scene.thing}[0]") & (pc.field("name") == "x_m"))
    ids = set(moving["run_id"].to_pylist())
    runs = [r for r in store.read_arrow(result_dir, "runs").to_pylist() if r["study"] == study and r["run_id"] in ids]
    first: dict[tuple[str, str], dict[str, Any]] = {}
    for run in sorted(runs, key=lambda run: run["seed"] or 0):
        first.setdefault((run["point"], run["engine"]), run)
    return list(first.values())


def collect(samples: pd.DataFrame, scene: Scene) -> dict[str, Any]:
    """The page's data: times in s, and for every place and thing its series at those times."""
    samples = samples.assign(time=samples["time_raw"] * 10.0 ** samples["time_exp"].astype(float))
    things, places = _modules(samples, scene.thing), _modules(samples, scene.place)
    times = sorted(set(pd.concat([rows.loc[rows["name"] == "x_m", "time"] for _, rows in things]))) if things else []
    moving = {"x": "x_m", "y": "y_m", "at": scene.at, "state": scene.state, "size": scene.thing_size}
    placed = [_place(rows, scene, times, len(places)) for _, rows in places]
    return {
        "times": [round(t, 3) for t in times],
        "places": placed if None not in placed else [],
        "things": [_over_time(rows, moving, times) for _, rows in things],
        "states": [{"value": s.value, "mark": s.mark, "meaning": s.meaning} for s in scene.states],
        "names": {"place": scene.place, "thing": scene.thing},
        "charts": _charts(samples, scene, times),
    }


def _legend(scene: Scene) -> str:
    marks = {"dot": "a dot", "ring": "a ring", "cross": "a cross"}
    states = "; ".join(f"{marks[state.mark]}: {state.meaning}" for state in scene.states)
    bar = f", the bar on it its {scene.place_size_meaning}" if scene.place_size else ""
    larger = f", larger with a longer {scene.thing_size_meaning}" if scene.thing_size else ""
    return (
        f"A square is a {scene.place}{bar}. A {scene.thing} has the colour of its {scene.place}{larger}; {states}; "
        f"a bold line: it has just changed its {scene.place}."
    )


def _modules(samples: pd.DataFrame, kind: str) -> list[tuple[int, pd.DataFrame]]:
    """The modules kind[0], kind[1], ... in order."""
    number = samples["module"].where(samples["module"].str.startswith(f"{kind}["), "")
    number = number.str.slice(len(kind)).str.extract(r"^\[(\d{1,9})\]$")[0]
    mine = samples[number.notna()]
    return [(int(str(i)), rows) for i, rows in mine.groupby(number[number.notna()].astype(int))]


def _place(rows: pd.DataFrame, scene: Scene, times: list[float], count: int) -> dict[str, Any] | None:
    """None where it was not recorded where the place is."""
    fixed = {}
    for name in ("x_m", "y_m", "reach_m"):
        values = rows.loc[rows["name"] == name, "value"]
        if values.empty:
            return None
        fixed[name] = float(values.iloc[0])
    wires = [int(v) for v in rows.loc[rows["name"] == "wired_to", "value"] if 0 <= v < count]
    return {**fixed, "wired_to": wires, **_over_time(rows, {"size": scene.place_size}, times)}


def _over_time(rows: pd.DataFrame, series: dict[str, str], times: list[float]) -> dict[str, list[float]]:
    """key -> the series of that name at these times; 0 where there is none."""
    names = [name for name in series.values() if name]
    wide = rows[rows["name"].isin(names)].pivot_table(index="time", columns="name", values="value", aggfunc="last")
    wide = wide.reindex(times).ffill().bfill()
    found = {key: wide[name] if name in wide else pd.Series(0.0, index=times) for key, name in series.items()}
    return {key: [round(float(v), 2) for v in values.fillna(0.0)] for key, values in found.items()}


def _charts(samples: pd.DataFrame, scene: Scene, times: list[float]) -> list[dict[str, Any]]:
    run = samples[samples["module"] == "run"]
    charts = []
    for name, title in scene.charts.items():
        series = run[run["name"] == name].drop_duplicates("time", keep="last").set_index("time")["value"].reindex(times)
        if series.notna().any():
            charts.append({"title": title, "values": [None if pd.isna(v) else round(float(v), 4) for v in series]})
    return charts
