"""The animation of a run is made of its recorded tables, and of the scene that its study declares."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from urllib.parse import quote

import numpy as np
import pytest

from causeway.analysis import animation, report, store
from causeway.analysis import study_description as description
from causeway.analysis.plots import Scene, State
from causeway.analysis.study_description import Description
from causeway.errors import UserError
from tests.helpers.page import parse, words

PS = 10**12
SCENE = Scene(
    place="mast", thing="boat", at="mast", state="doing",
    states=(State(0, "dot", "sails"), State(7, "cross", "sank")),
    place_size="queue", place_size_meaning="queue", thing_size="load", thing_size_meaning="load",
    charts={"loss_rate": "Loss rate", "never": "Never recorded"},
)  # fmt: skip
Series = dict[tuple[str, str], list[tuple[int, float]]]


def write_run(
    folder: Path, series: Series, run_id: str = "r", study: str = "harbour", unit_ps: int = PS, point: str = "p",
    parameters: Mapping[str, str] = MappingProxyType({"note": "</script>"}),
) -> None:  # fmt: skip
    rows = [(i, *key) for i, key in enumerate(series)]
    points = [(i, t * unit_ps, v) for i, values in enumerate(series.values()) for t, v in values]
    store.write_run(folder, {
        "runs": {
            "run_id": [run_id], "study": [study], "point": [point], "engine": ["ns3"], "engine_version": [""],
            "causeway_version": ["0"], "commit": [""], "seed": [1], "digest": [""], "started_at": [""],
            "wall_s": [0.0], "events": [0],
        },
        "parameters": {"name": [*parameters], "value": [*parameters.values()], "number": [None] * len(parameters)},
        "scalars": {"module": [], "name": [], "value": []},
        "vectors": {"vector_id": [i for i, _, _ in rows], "module": [m for _, m, _ in rows],
                    "name": [n for _, _, n in rows]},
        "samples": {"vector_id": [i for i, _, _ in points], "time_raw": [t for _, t, _ in points],
                    "time_exp": [-12] * len(points), "value": [v for _, _, v in points]},
    })  # fmt: skip


def map_of_one_boat() -> Series:
    mast: Series = {("mast[0]", n): [(0, v)] for n, v in (("x_m", 10.0), ("y_m", 20.0), ("reach_m", 120.0))}
    mast[("mast[0]", "wired_to")] = [(0, 0.0), (0, 5.0)]
    reported = (("x_m", 0.0), ("y_m", 0.0), ("mast", -1.0), ("load", 2.0))
    boat: Series = {("boat[0]", n): [(1, v), (2, v + 1)] for n, v in reported}
    boat[("boat[0]", "doing")] = [(1, 0.0), (2, 7.0)]
    return {**mast, ("mast[0]", "queue"): [(1, 3.0), (2, 4.0)], **boat, ("run", "loss_rate"): [(2, 0.25)]}


def data_of(page: str) -> dict:
    (found,) = [one for one in parse(page).iter("script") if one.get("id") == "data"]
    return json.loads(found.text or "")


def ints(text: str) -> list[int]:
    return np.frombuffer(base64.b64decode(text), "<i4").tolist()


def reals(text: str) -> list[float]:
    return np.frombuffer(base64.b64decode(text), "<f4").tolist()


def test_the_page_holds_the_series_that_the_study_names(tmp_path: Path) -> None:
    write_run(tmp_path, map_of_one_boat())
    animation.write_scene(tmp_path, "r", SCENE, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    data = data_of(page)
    assert (data["begin_ms"], data["end_ms"], data["names"]) == (1000, 2000, {"place": "mast", "thing": "boat"})
    mast, boat = data["nodes"]
    assert [ints(mast[key]) for key in "txy"] == [[0], [10_000], [20_000]] and mast["reach_mm"] == 120_000
    assert mast["wired_to"] == [0], "a wire to a place that there is not is left out"
    assert reals(mast["size"]["v"]) == [3, 4] and ints(mast["size"]["t"]) == [1000, 2000]
    assert [ints(boat[key]) for key in "txy"] == [[1000, 2000], [0, 1000], [0, 1000]]
    assert (
        ints(boat["at"]["v"]) == [-1, 0] and reals(boat["state"]["v"]) == [0, 7] and reals(boat["size"]["v"]) == [2, 3]
    )
    assert (mast["station"], boat["station"], boat["name"]) == (1, 0, "boat 0")
    assert [state["mark"] for state in data["states"]] == ["dot", "cross"] and data["just_ms"] == 2000
    (chart,) = data["charts"]
    assert (chart["title"], ints(chart["t"]), reals(chart["v"])) == ("Loss rate", [2000], [0.25])


def test_the_page_explains_its_marks_and_names_the_parameters(tmp_path: Path) -> None:
    write_run(tmp_path, map_of_one_boat())
    animation.write_scene(tmp_path, "r", SCENE, tmp_path / "page.html")
    said = words(parse((tmp_path / "page.html").read_text()))
    assert "note </script>" in said and "a cross: sank;" in said
    assert (
        "A square is a mast, the bar on it its queue. A boat has the colour of its mast, larger with a longer load"
        in said
    )
    assert "partition" not in said.partition("const data")[0], "what this page has no data of is not explained"


def test_names_with_markup_are_text(tmp_path: Path) -> None:
    bad = "<script>alert(1)</script>"
    series = {(module, name): points for (module, name), points in map_of_one_boat().items()}
    series["run", bad] = [(2, 0.5)]
    write_run(tmp_path, series, run_id=bad)
    scene = replace(SCENE, charts={bad: bad}, place_size_meaning=bad)
    animation.write_scene(tmp_path, bad, scene, tmp_path / "page.html")
    page = parse((tmp_path / "page.html").read_text())
    assert [one.get("id") for one in page.iter("script")] == ["data", None], "its own two"
    assert words(next(page.iter("h1"))) == bad


def test_a_run_without_places_is_reported_and_the_report_goes_on(tmp_path: Path) -> None:
    series = {key: values for key, values in map_of_one_boat().items() if key[0] != "mast[0]"}
    write_run(tmp_path, series, run_id="a/<b>")
    with pytest.raises(UserError, match="did not record the positions of both its masts and its boats"):
        animation.write_scene(tmp_path, "a/<b>", SCENE, tmp_path / "page.html")
    describe(tmp_path)
    text = report.write(tmp_path).read_text()
    assert "run a/&lt;b&gt; did not record the positions of both" in text
    assert [path.name for path in (tmp_path / "report").glob("*.html")] == ["index.html"]


def describe(folder: Path, study: str = "harbour") -> None:
    description.write(folder, study, description.text_of(Description(study, scene=SCENE)))


def test_the_report_links_an_animation_of_the_first_run_of_a_point_inside_its_own_folder(tmp_path: Path) -> None:
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


def test_a_scene_with_an_unknown_mark_is_refused_with_the_remedy(tmp_path: Path) -> None:
    scene = replace(SCENE, states=(State(0, "star", "shines"),))
    description.write(tmp_path, "harbour", description.text_of(Description("harbour", scene=scene)))
    with pytest.raises(UserError, match=r"harbour\.json .*a mark must be one of dot, ring, cross.*run the study again"):
        description.read(tmp_path)


def test_animations_are_named_by_the_parameters_that_differ_and_the_last_one_moves_in_the_report(
    tmp_path: Path,
) -> None:
    for run_id, point, rate in (("one", "p", "5"), ("two", "q", "25")):
        write_run(tmp_path, map_of_one_boat(), run_id, point=point, parameters={"rate": rate, "cells": "7"})
    describe(tmp_path)
    page = report.write(tmp_path)
    links = [words(link) for link in parse(page.read_text()).iter("a") if link.get("href", "").startswith("moving-")]
    assert links == ["harbour on ns3, rate 5, seed 1", "harbour on ns3, rate 25, seed 1"]
    (frame,) = parse(page.read_text()).iter("iframe")
    assert frame.get("src") == "moving-two.html#moving"
    moving = parse((page.parent / "moving-two.html").read_text())
    assert words(next(moving.iter("h1"))) == links[1] and "cells 7" in words(moving)
    assert not [one for one in moving.iter() if one.get("id") == "moving"], "a browser would scroll to it"
