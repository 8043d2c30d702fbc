"""An animation of a run of hosts among stations, from its recorded tables: one self-contained page.

Needs series `x_m`, `y_m`, `reach_m`, `sbuffer` of the modules station[i], and `x_m`, `y_m`, `cell`, `rbuffer` of
host[i], all sampled at the same times. A host's `cell` is its station; less 100 while it connects; -200 while down.

    python -m causeway.analysis.animation RESULTS RUN_ID PAGE.html
"""

from __future__ import annotations

import json
import sys
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.compute as pc

from causeway.analysis import store
from causeway.analysis.animation_page import PAGE
from causeway.bridge.errors import UserError

CHARTS = {
    "sbuffer_station_mean": "SBuffer of the stations, mean (messages)",
    "rbuffer_host_mean": "RBuffer of the hosts, mean (messages)",
    "delivery_delay_s": "Delivery delay (s)",
    "loss_rate": "Loss rate",
    "handoffs": "Handoffs a second",
}
"""Series of the whole run that are drawn beside the map, as far as the run has them."""

Series = dict[str, dict[str, list[float]]]


def write(result_dir: Path, run_id: str, out_html: Path) -> None:
    """Writes the page of one run."""
    if not store.has_run(result_dir, run_id):
        raise UserError(f"no run {run_id} in {result_dir}; `causeway run mobile20 --set trace=true` makes one")
    samples = store.read_table_of(result_dir, "samples", run_id).to_pandas()
    vectors = store.read_table_of(result_dir, "vectors", run_id).to_pandas()
    parameters = store.read_table_of(result_dir, "parameters", run_id).to_pandas()
    data = collect(samples.merge(vectors[["vector_id", "module", "name"]], on="vector_id"))
    if not data["hosts"] or not data["stations"]:
        raise UserError(f"run {run_id} recorded no positions; run the study again with --set trace=true")
    told = ", ".join(f"{n} {v}" for n, v in zip(parameters["name"], parameters["value"], strict=True))
    page = PAGE.replace("@TITLE@", escape(run_id)).replace("@TOLD@", escape(told))
    out_html.parent.mkdir(parents=True, exist_ok=True)
    out_html.write_text(page.replace("@DATA@", json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")))


def runs_with_positions(result_dir: Path) -> list[dict[str, Any]]:
    """The first run of every point and engine that recorded where its hosts were."""
    moving = set(
        store.read_arrow(result_dir, "vectors", ["run_id", "name"])
        .filter(pc.field("name") == "cell")["run_id"]
        .to_pylist()
    )
    runs = [run for run in store.read_arrow(result_dir, "runs").to_pylist() if run["run_id"] in moving]
    first: dict[tuple[str, str], dict[str, Any]] = {}
    for run in sorted(runs, key=lambda run: run["seed"]):
        first.setdefault((run["point"], run["engine"]), run)
    return list(first.values())


def collect(samples: pd.DataFrame) -> dict[str, Any]:
    """The page's data: times in s, and for every station and host its series at those times."""
    samples = samples.assign(time=samples["time_raw"] * 10.0 ** samples["time_exp"].astype(float))
    times = sorted(samples.loc[samples["name"] == "cell", "time"].unique())
    return {
        "times": [round(t, 3) for t in times],
        "stations": [_station(rows, times) for _, rows in _modules(samples, "station")],
        "hosts": [_over_time(rows, ("x_m", "y_m", "cell", "rbuffer"), times) for _, rows in _modules(samples, "host")],
        "charts": _charts(samples, times),
    }


def _modules(samples: pd.DataFrame, kind: str) -> list[tuple[int, pd.DataFrame]]:
    """The modules kind[0], kind[1], ... in order."""
    mine = samples[samples["module"].str.fullmatch(rf"{kind}\[\d+\]")]
    number = mine["module"].str.extract(r"\[(\d+)\]")[0].astype(int)
    return [(int(str(i)), rows) for i, rows in mine.groupby(number)]


def _station(rows: pd.DataFrame, times: list[float]) -> dict[str, Any]:
    fixed = {name: float(rows.loc[rows["name"] == name, "value"].iloc[0]) for name in ("x_m", "y_m", "reach_m")}
    wires = [int(v) for v in rows.loc[rows["name"] == "wired_to", "value"]]
    return {**fixed, "wired_to": wires, **_over_time(rows, ("sbuffer",), times)}


def _over_time(rows: pd.DataFrame, names: tuple[str, ...], times: list[float]) -> dict[str, list[float]]:
    wide = rows[rows["name"].isin(names)].pivot_table(index="time", columns="name", values="value", aggfunc="last")
    wide = wide.reindex(times).ffill().bfill()
    return {name: [round(float(v), 2) for v in wide[name]] for name in names}


def _charts(samples: pd.DataFrame, times: list[float]) -> list[dict[str, Any]]:
    run = samples[samples["module"] == "run"]
    charts = []
    for name, title in CHARTS.items():
        series = run[run["name"] == name].set_index("time")["value"].reindex(times)
        if series.notna().any():
            charts.append({"title": title, "values": [None if pd.isna(v) else round(float(v), 4) for v in series]})
    return charts


def main(arguments: list[str]) -> int:
    """The command line of the module."""
    try:
        if len(arguments) != 3:
            raise UserError("usage: python -m causeway.analysis.animation RESULTS RUN_ID PAGE.html")
        write(Path(arguments[0]), arguments[1], Path(arguments[2]))
    except UserError as error:
        print(f"animation: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
