"""The animation page of a run is made of its recorded tables alone."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from causeway.analysis import animation, store
from causeway.bridge.errors import UserError

PS = 10**12


def write_run(folder: Path, series: dict[tuple[str, str], list[tuple[int, float]]]) -> None:
    rows = [(i, *key) for i, key in enumerate(series)]
    points = [(i, t * PS, v) for i, values in enumerate(series.values()) for t, v in values]
    store.write_run(folder, {
        "runs": {
            "run_id": ["r"], "study": ["mobile20"], "point": ["p"], "engine": ["ns3"], "engine_version": [""],
            "causeway_version": ["0"], "commit": [""], "seed": [1], "digest": [""], "started_at": [""],
            "wall_s": [0.0], "events": [0],
        },
        "parameters": {"name": ["note"], "value": ["</script>"], "number": [None]},
        "scalars": {"module": [], "name": [], "value": []},
        "vectors": {"vector_id": [i for i, _, _ in rows], "module": [m for _, m, _ in rows],
                    "name": [n for _, _, n in rows]},
        "samples": {"vector_id": [i for i, _, _ in points], "time_raw": [t for _, t, _ in points],
                    "time_exp": [-12] * len(points), "value": [v for _, _, v in points]},
    })  # fmt: skip


def map_of_one_host() -> dict[tuple[str, str], list[tuple[int, float]]]:
    station = {("station[0]", n): [(0, v)] for n, v in (("x_m", 10.0), ("y_m", 20.0), ("reach_m", 120.0))}
    told = (("x_m", 0.0), ("y_m", 0.0), ("cell", -1.0), ("rbuffer", 2.0))
    host = {("host[0]", n): [(1, v), (2, v + 1)] for n, v in told}
    return {**station, ("station[0]", "sbuffer"): [(1, 3.0), (2, 4.0)], **host, ("run", "loss_rate"): [(2, 0.25)]}


def data_of(page: str) -> dict:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    assert found
    return json.loads(found[1])


def test_the_page_holds_the_series_of_the_run_at_common_times(tmp_path: Path) -> None:
    write_run(tmp_path, map_of_one_host())
    animation.write(tmp_path, "r", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    data = data_of(page)
    assert data["times"] == [1.0, 2.0]
    assert data["stations"] == [{"x_m": 10.0, "y_m": 20.0, "reach_m": 120.0, "wired_to": [], "sbuffer": [3.0, 4.0]}]
    assert data["hosts"] == [{"x_m": [0.0, 1.0], "y_m": [0.0, 1.0], "cell": [-1.0, 0.0], "rbuffer": [2.0, 3.0]}]
    assert data["charts"] == [{"title": "Loss rate", "values": [None, 0.25]}]
    assert "note &lt;/script&gt;" in page
    assert "@" not in re.sub(r"@media", "", page.split("<body>")[0]), "a placeholder was left"


def test_a_run_without_positions_is_refused_with_what_to_do(tmp_path: Path) -> None:
    write_run(tmp_path, {("run", "loss_rate"): [(1, 0.1)]})
    with pytest.raises(UserError, match="trace=true"):
        animation.write(tmp_path, "r", tmp_path / "page.html")
    with pytest.raises(UserError, match="no run x"):
        animation.write(tmp_path, "x", tmp_path / "page.html")
