"""The moving picture of a run is made of its recorded tables, and of what its study says that they mean."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import pytest

from causeway.analysis import animation, description, report, store
from causeway.analysis.description import Description
from causeway.analysis.plots import Scene, State
from causeway.bridge.errors import UserError

PS = 10**12
SCENE = Scene(
    place="mast", thing="boat", at="mast", state="doing",
    states=(State(0, "dot", "sails"), State(7, "cross", "sank")),
    place_size="queue", place_size_meaning="queue", thing_size="load", thing_size_meaning="load",
    charts={"loss_rate": "Loss rate", "never": "Never recorded"},
)  # fmt: skip
Series = dict[tuple[str, str], list[tuple[int, float]]]


def write_run(folder: Path, series: Series, run_id: str = "r", study: str = "harbour", unit_ps: int = PS) -> None:
    rows = [(i, *key) for i, key in enumerate(series)]
    points = [(i, t * unit_ps, v) for i, values in enumerate(series.values()) for t, v in values]
    store.write_run(folder, {
        "runs": {
            "run_id": [run_id], "study": [study], "point": ["p"], "engine": ["ns3"], "engine_version": [""],
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


def map_of_one_boat() -> Series:
    mast: Series = {("mast[0]", n): [(0, v)] for n, v in (("x_m", 10.0), ("y_m", 20.0), ("reach_m", 120.0))}
    mast[("mast[0]", "wired_to")] = [(0, 0.0), (0, 5.0)]
    told = (("x_m", 0.0), ("y_m", 0.0), ("mast", -1.0), ("load", 2.0))
    boat: Series = {("boat[0]", n): [(1, v), (2, v + 1)] for n, v in told}
    boat[("boat[0]", "doing")] = [(1, 0.0), (2, 7.0)]
    return {**mast, ("mast[0]", "queue"): [(1, 3.0), (2, 4.0)], **boat, ("run", "loss_rate"): [(2, 0.25)]}


def data_of(page: str) -> dict:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    assert found
    return json.loads(found[1])


def test_the_page_holds_the_series_that_the_study_names_at_common_times(tmp_path: Path) -> None:
    write_run(tmp_path, map_of_one_boat())
    animation.write(tmp_path, "r", SCENE, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    data = data_of(page)
    assert data["times"] == [1.0, 2.0]
    place = {"x_m": 10.0, "y_m": 20.0, "reach_m": 120.0, "wired_to": [0], "size": [3.0, 4.0]}
    assert data["places"] == [place], "a wire to a place that there is not is left out"
    thing = {"x": [0.0, 1.0], "y": [0.0, 1.0], "at": [-1.0, 0.0], "state": [0.0, 7.0], "size": [2.0, 3.0]}
    assert data["things"] == [thing]
    assert [state["mark"] for state in data["states"]] == ["dot", "cross"]
    assert data["charts"] == [{"title": "Loss rate", "values": [None, 0.25]}]
    assert "note &lt;/script&gt;" in page and "a cross: sank" in page
    assert "@" not in re.sub(r"@media", "", page.split("<body>")[0]), "a placeholder was left"


def test_a_run_without_places_is_told_and_the_report_goes_on(tmp_path: Path) -> None:
    series = {key: values for key, values in map_of_one_boat().items() if key[0] != "mast[0]"}
    write_run(tmp_path, series, run_id="a/<b>")
    with pytest.raises(UserError, match="did not record both where its masts and where its boats are"):
        animation.write(tmp_path, "a/<b>", SCENE, tmp_path / "page.html")
    describe(tmp_path)
    text = report.write(tmp_path).read_text()
    assert "run a/&lt;b&gt; did not record both" in text
    assert [path.name for path in (tmp_path / "report").glob("*.html")] == ["index.html"]


def describe(folder: Path, study: str = "harbour") -> None:
    description.write(folder, study, description.text_of(Description(study, scene=SCENE)))


def test_the_report_links_a_moving_picture_of_the_first_run_of_a_point_inside_its_own_folder(tmp_path: Path) -> None:
    write_run(tmp_path, map_of_one_boat(), run_id="a/b x")
    describe(tmp_path)
    page = report.write(tmp_path)
    (moving,) = page.parent.glob("moving-*.html")
    assert f'href="{quote(moving.name)}"' in page.read_text()
    assert not list(tmp_path.parent.glob("x*"))


@pytest.mark.parametrize("described", [True, False])
def test_vectors_named_like_those_of_a_study_do_not_make_the_report_of_another_project_fail(
    tmp_path: Path, described: bool
) -> None:
    names = ("cell", "mast", "doing", "x_m", "state", "reach_m")
    write_run(tmp_path, {("network.ue[0].phy", name): [(1, 3.0)] for name in names}, study="Lte")
    write_run(tmp_path, {("boat[0]", name): [(1, 3.0)] for name in names}, run_id="s", study="Lte")
    if described:
        describe(tmp_path)
        describe(tmp_path, "Lte")
    assert report.write(tmp_path).is_file()


def test_a_scene_with_a_mark_that_cannot_be_drawn_is_refused_with_what_to_do(tmp_path: Path) -> None:
    scene = replace(SCENE, states=(State(0, "star", "shines"),))
    description.write(tmp_path, "harbour", description.text_of(Description("harbour", scene=scene)))
    with pytest.raises(UserError, match=r"harbour\.json .*a mark is one of dot, ring, cross.*run the study again"):
        description.read(tmp_path)
