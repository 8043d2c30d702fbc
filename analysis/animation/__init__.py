"""Animations of runs, made from their recorded tables: one self-contained page each (templates/animation).

scene.py   the data of an animation that a study describes (`causeway.analysis.plots.Scene`)
nodes.py   the data from recorded positions of all nodes (`causeway run --animate`), with broadcasts, losses and faults
packed.py  series in the encoding of the page

Both modules return data of one form: nodes, each a place (station) or a thing (host), with series over time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.compute as pc

from causeway.analysis import pages, store
from causeway.analysis.animation import nodes, scene
from causeway.analysis.plots import Scene
from causeway.analysis.study_description import Description
from causeway.errors import UserError


def write_all(
    result_dir: Path, described: Iterable[Description], out_dir: Path
) -> tuple[list[tuple[str, str]], list[str]]:
    """Write a page for the first run of every point and engine that recorded positions of things or nodes.

    Return (title, file name) of each page, and an error message for each page that could not be written.
    """
    found, refused = [], []
    for one in described:
        runs = list(_first_runs(result_dir, f"{one.scene.thing}[0]", one.study)) if one.scene else []
        for run, title in zip(runs, _titles(result_dir, runs), strict=True):
            name = f"moving-{store.quote(run['run_id'])}.html"
            try:
                write_scene(result_dir, run["run_id"], one.scene, out_dir / name, title)
            except UserError as error:
                refused.append(str(error))
            else:
                found.append((title, name))
    runs = list(_first_runs(result_dir, "place[0]"))
    for run, title in zip(runs, _titles(result_dir, runs), strict=True):
        name = f"nodes-{store.quote(run['run_id'])}.html"
        write_nodes(result_dir, run["run_id"], out_dir / name, title)
        found.append((f"{title} (nodes, broadcasts, losses)", name))
    return found, refused


def _titles(result_dir: Path, runs: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the study, engine and seed of each run, and its values of the parameters in which the runs differ."""
    known = [_parameters(result_dir, run["run_id"]) for run in runs]
    names = [name for name in dict.fromkeys(chain.from_iterable(known)) if len({one.get(name) for one in known}) > 1]
    return [
        ", ".join([
            f"{run['study']} on {run['engine']}", *(f"{name} {one[name]}" for name in names if name in one),
            f"seed {run['seed']}",
        ])
        for run, one in zip(runs, known, strict=True)
    ]  # fmt: skip


def write_scene(result_dir: Path, run_id: str, requested: Scene | None, out_html: Path, title: str = "") -> None:
    """Write the page of one run, as its study describes the scene. Without a title, its title is the run's id."""
    assert requested is not None
    data = scene.collect(_samples(result_dir, run_id), requested)
    if not data["nodes"]:
        raise UserError(
            f"run {run_id} did not record the positions of both its {requested.place}s and its {requested.thing}s"
        )
    _write(result_dir, run_id, data, requested, out_html, title)


def write_nodes(result_dir: Path, run_id: str, out_html: Path, title: str = "") -> None:
    """Write the page of one run that recorded the positions of all its nodes."""
    data = nodes.collect(_samples(result_dir, run_id))
    if not data["nodes"]:
        raise UserError(f"run {run_id} did not record the positions of its nodes; run it with --animate 0.5")
    _write(result_dir, run_id, data, None, out_html, title)


def _write(
    result_dir: Path, run_id: str, data: dict[str, Any], requested: Scene | None, out_html: Path, title: str
) -> None:
    pages.write(
        out_html, "animation/page.html", title=title or run_id, run_id=run_id,
        parameters=_parameters(result_dir, run_id), data=data, scene=requested,
    )  # fmt: skip


def _parameters(result_dir: Path, run_id: str) -> dict[str, str]:
    rows = store.read_table_of(result_dir, "parameters", run_id).to_pylist()
    return {row["name"]: row["value"] for row in rows}


def _samples(result_dir: Path, run_id: str) -> pd.DataFrame:
    """Return the samples of a run with module, name and time [s]."""
    samples = store.read_table_of(result_dir, "samples", run_id).to_pandas()
    vectors = store.read_table_of(result_dir, "vectors", run_id).to_pandas()
    joined = samples.merge(vectors[["vector_id", "module", "name"]], on="vector_id")
    return joined.assign(time=joined["time_raw"] * 10.0 ** joined["time_exp"].astype(float))


def _first_runs(result_dir: Path, module: str, study: str = "") -> Iterator[dict[str, Any]]:
    """Yield the first run of every point and engine (of a study) in which a module recorded its position."""
    vectors = store.read_arrow(result_dir, "vectors", ["run_id", "module", "name"])
    placed = vectors.filter((pc.field("module") == module) & (pc.field("name") == "x_m"))
    ids = set(placed["run_id"].to_pylist())
    first: dict[tuple[str, str], dict[str, Any]] = {}
    runs = store.read_arrow(result_dir, "runs").to_pylist()
    for run in sorted(runs, key=lambda run: run["seed"] or 0):
        if run["run_id"] in ids and (not study or run["study"] == study):
            first.setdefault((run["point"], run["engine"]), run)
    yield from first.values()
