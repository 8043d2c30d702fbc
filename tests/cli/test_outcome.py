"""The output of `causeway run`: whole words on 80 columns, headlines first, every scalar with --all."""

from __future__ import annotations

import io
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

from causeway.analysis.plots import Headline
from causeway.cli import outcome
from causeway.cli.main import app
from causeway.cli.run import describe_nodes
from causeway.studies import registry
from causeway.studies.parameters import make_params

HEADLINES = (
    Headline("delay", "delay_s", "s", "from a broadcast to its delivery"),
    Headline("a message", "packets/messages", "packets", "sent for each message"),
)


def runs_of(points: list[dict[str, Any]], scalars: list[dict[str, float]]) -> tuple[list[Any], list[dict[str, Any]]]:
    jobs = [SimpleNamespace(parameters=point) for point in points]
    return jobs, [{"parameters": p, "scalars": s} for p, s in zip(points, scalars, strict=True)]


def printed(points, scalars, headlines=HEADLINES, everything=False, width=80, published=()) -> str:
    console = Console(file=io.StringIO(), width=width)
    outcome.show(console, "toy: a title", headlines, *runs_of(points, scalars), everything, published)
    return console.file.getvalue()


def words_of(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines() if line.strip()]


def test_points_are_rows_and_varying_parameters_and_headlines_are_columns():
    points = [{"rate": rate, "nodes": 10, "detector": "none"} for rate in (5.0, 5.0, 20.0)]
    scalars = [{"delay_s": d, "packets": 10.0, "messages": 4.0, "other": 1.0} for d in (1.0, 2.0, 7.0)]
    lines = words_of(printed(points, scalars))
    assert ["5.0", "1.5", "2.5"] in lines and ["20.0", "7", "2.5"] in lines
    assert not any("nodes" in line or "none" in line for line in lines)
    assert ["--all", "prints", "1", "more", "scalars"] in lines


def test_one_point_is_reported_line_by_line_with_units_and_meaning():
    text = printed([{"rate": 5.0}], [{"delay_s": 0.125, "packets": 3.0, "messages": 2.0}])
    assert "delay      0.125  s        from a broadcast to its delivery" in text


def test_a_quantity_that_a_run_lacks_is_a_dash_and_no_error():
    text = printed([{"rate": 5.0}], [{"packets": 3.0, "messages": 0.0}])
    assert words_of(text)[1][:3] == ["delay", "-", "s"]
    assert words_of(text)[2][:3] == ["a", "message", "-"]


def number_of(rate: float, published: float, **more: Any) -> dict[str, Any]:
    row = {"scalar": "packets / messages", "parameters": {"rate": rate}, "relation": "=", "published": published}
    return {**row, "low": None, "high": None, **more}


def test_the_papers_number_is_printed_beside_ours_with_the_sign_of_its_verdict():
    points = [{"rate": rate} for rate in (5.0, 20.0, 40.0) for _ in range(5)]
    scalars = [
        {"delay_s": 1.0, "packets": p, "messages": 2.0} for p in [3.0] * 5 + [3.9, 4.1, 4.0, 4.0, 4.0] + [8.0] * 5
    ]
    published = [number_of(5.0, 1.5), number_of(20.0, 2.01), number_of(5.0, 9.0, remark="another reading")]
    text = printed(points, scalars, published=published)
    assert ["5.0", "1", "1.5", "1.5", "="] in words_of(text)
    assert ["20.0", "1", "2", "2.01", "✓"] in words_of(text)
    assert ["40.0", "1", "4"] in words_of(text), "the paper prints none"
    assert "paper: = exact, ✓ inside our 95 % interval" in text


def test_the_papers_number_of_one_point_is_on_its_line_and_too_few_runs_have_no_verdict():
    bound = number_of(5.0, None, relation="<", high=1.0)
    text = printed([{"rate": 5.0}], [{"delay_s": 1.0, "packets": 3.0, "messages": 2.0}], published=[bound])
    assert "a message  1.5  packets  paper < 1 ?  sent for each message" in text
    assert "paper: ? too few seeds" in text
    certain = number_of(5.0, 1.5, drawn=False)
    assert "paper 1.5 =" in printed([{"rate": 5.0}], [{"packets": 3.0, "messages": 2.0}], published=[certain])


def test_all_prints_every_scalar():
    points = [{"rate": r} for r in (1.0, 2.0)]
    scalars = [{f"scalar_number_{i}": float(i) for i in range(40)} for _ in points]
    text = printed(points, scalars, everything=True)
    assert all(f"scalar_number_{i}" in text for i in range(40))
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize("width", [80, 60, 200])
def test_many_columns_are_neither_cut_nor_folded(width: int):
    points = [{f"parameter_with_a_name_{i}": f"value{i}{j}" for i in range(6)} for j in range(3)]
    headlines = [Headline(f"headline{i}", f"scalar{i}", "messages") for i in range(12)]
    scalars = [{f"scalar{i}": 123456.0 + i + j for i in range(12)} for j in range(3)]
    text = printed(points, scalars, headlines, width=width)
    assert "…" not in text
    for i in range(12):
        assert f"headline{i}" in text.split()
        assert f"{123456 + i:,}" in text.split()
    assert "parameter_with_a_name_5=value52" in text.replace(",", "").split()


def test_columns_that_just_do_not_fit_are_not_cut():
    points = [{"experiment": one, "rate": rate} for one, rate in (("static", 5.6), ("dynamic", 25.0))]
    names = (("delay", "s"), ("loss", ""), ("sent", "packets"), ("SBuffer", "messages"), ("violations", "deliveries"),
             ("missing", "deliveries"))  # fmt: skip
    headlines = [Headline(name, f"scalar{i}", unit) for i, (name, unit) in enumerate(names)]
    for width in range(60, 100):
        text = printed(points, [{f"scalar{i}": 0.04912 for i in range(6)}] * 2, headlines, width=width)
        assert "…" not in text, width


def test_names_from_a_study_are_text_and_not_markup():
    points = [{"[red]name": value} for value in ("[/x]", "[bold]")]
    text = printed(points, [{"delay_s": 1.0}, {"delay_s": 2.0}])
    assert "[red]name" in text and "[/x]" in text and "[bold]" in text


def test_the_list_of_studies_is_one_line_each_and_one_study_reports_its_details():
    lines = CliRunner().invoke(app, ["studies"]).output.splitlines()
    assert [line.split()[0] for line in lines[:5]] == list(registry.STUDIES)
    reported = CliRunner().invoke(app, ["studies", "icpp18"]).output
    assert (
        "mean time from broadcast to delivery" in reported
        and "table1 (16)" in reported
        and "engines: inline, omnet" in reported
    )
    assert CliRunner().invoke(app, ["studies", "icpp81"]).exit_code != 0


@pytest.mark.parametrize("study", [*registry.STUDIES, "examples/rumour.py"])
def test_every_study_names_its_headlines_in_one_line_each(study: str):
    headlines = registry.get(study).headlines
    assert 2 <= len(headlines) <= 6
    for one in headlines:
        assert one.meaning and len(one.name) + len(one.unit) + len(one.meaning) < 70
        assert outcome.quantity(one.scalar, {"scalars": {}, "parameters": {}}) is None


def test_a_headline_may_use_parameters():
    study = registry.get("hash")
    parameters = make_params(study, {"processes": 10}).model_dump()
    found = outcome.quantity(
        "requests/(messages*processes)", {"scalars": {"requests": 6.0, "messages": 2.0}, "parameters": parameters}
    )
    assert found == 0.3


def test_the_modules_of_a_users_network_are_printed_with_their_nodes_in_few_words() -> None:
    assert describe_nodes([{"nodes": []}, {}]) == []
    assert describe_nodes([{"nodes": ["N.a", "N.b"]}]) == ["nodes: 0 = N.a, 1 = N.b"]
    many = [f"N.h[{i}]" for i in range(20)]
    reported = "nodes: 0 = N.h[0], 1 = N.h[1], 2 = N.h[2], ..., 19 = N.h[19]"
    assert describe_nodes([{"nodes": many}, {"nodes": many}]) == [reported]
    assert describe_nodes([{"nodes": many}, {"nodes": ["N.a"]}]) == [
        reported + "; other runs have other nodes (table `nodes`)"
    ]
