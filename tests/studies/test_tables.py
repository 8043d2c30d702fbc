"""Tables in docs/papers are what the command writes from the numbers that are stored beside the pages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from causeway.analysis import store
from causeway.errors import UserError
from causeway.studies import registry, scores, tables
from causeway.studies.mobile20.versions import change
from causeway.studies.runner import Job, run_job
from causeway.studies.study import Study
from causeway.studies.tables import MARKED, Measured, beside, lines, with_interval

PAPERS = Path(__file__).resolve().parents[2] / "docs" / "papers"
STORED = sorted(path.stem for path in (PAPERS / "numbers").glob("*.csv"))
"""The pages with stored numbers: STUDY, or STUDY-SOMETHING."""
PROBABILISTIC = ("hash", "dcs23")
"""The papers whose clocks let some deliveries through out of order: that is what they count."""
PAGE = """# A page

<!-- table: icpp18 small -->
| typed by hand |
<!-- end -->

Prose. <!-- table: ladc18 small -->
of another study
<!-- end -->

<!-- table: icpp18 other -->
nobody writes this one
<!-- end -->
"""


def of_page(name: str) -> Study:
    return registry.get(name.partition("-")[0])


@pytest.mark.parametrize("name", STORED)
def test_the_tables_of_a_page_are_those_of_its_stored_numbers(name: str) -> None:
    study, page = of_page(name), (PAPERS / f"{name}.md").read_text()
    rows = tables.read(study, (PAPERS / "numbers" / f"{name}.csv").read_text())
    text, _ = tables.written(page, study, tables.module_of(study).TABLES, rows)
    assert text == page, f"`causeway tables {name}` writes other tables"


@pytest.mark.parametrize("name", STORED)
def test_stored_runs_kept_the_order_they_promise(name: str) -> None:
    study = of_page(name)
    rows = tables.read(study, (PAPERS / "numbers" / f"{name}.csv").read_text())
    assert rows and (name in PROBABILISTIC or all(row["violations"] in (0, None) for row in rows))


def ran(folder: Path, nodes: int, seed: int) -> None:
    store.write_run(folder, run_job(Job("icpp18", {"nodes": nodes}, seed, "inline")).tables)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for nodes in (4, 8):
        for seed in (1, 2):
            ran(tmp_path / "results", nodes, seed)
    return tmp_path / "results"


@pytest.mark.parametrize(("seeds", "factor"), [(4, "2.0, too few seeds (4)"), (5, "2.0 (2.0 to 2.0; 5 seeds)")])
def test_a_factor_of_dcs23_has_an_interval_from_five_seeds_on_and_its_row_says_how_many(
    seeds: int, factor: str
) -> None:
    study = registry.get("dcs23")
    rows = tuple(
        {
            "engine": "inline", "seed": seed, "entries_mean": 229.0, "violations": 200.0 if entries else 100.0,
            "parameters": study.Params(entries=entries).model_dump(),
        }
        for seed in range(seeds)
        for entries in (0, 260)
    )  # fmt: skip
    row = tables.module_of(study).TABLES["matrix"](Measured(study, rows))[2]
    assert f"| {factor} |" in row and row.endswith(f"| {seeds} |")


def small(measured: Measured) -> list[str]:
    return lines(
        ("nodes", "packets"), [(str(n), with_interval(measured.at(nodes=n).values("packets"))) for n in (4, 8)]
    )


def test_a_folder_becomes_numbers_and_numbers_become_tables(folder: Path, tmp_path: Path, monkeypatch) -> None:
    study = registry.get("icpp18")
    module = tables.module_of(study)
    monkeypatch.setattr(module, "TABLES", {"small": small})
    page = tmp_path / "icpp18.md"
    page.write_text(PAGE)
    reported = tables.update(study, [folder], page)
    assert "4 runs" in reported[0] and "not changed: other (typed)" in reported[1]
    text = page.read_text()
    assert "typed by hand" not in text and "of another study" in text and "nobody writes" in text
    assert text.count("| 4 | 12") == 1, "three packets for each of four messages"
    page.write_text(PAGE)
    tables.update(study, [], page)
    assert page.read_text() == text, "from the stored numbers alone"


def test_stored_runs_are_kept_only_with_the_option_add(folder: Path, tmp_path: Path) -> None:
    study = registry.get("icpp18")
    ran(tmp_path / "more", 16, 1)
    few = tables.reduced(study, ("packets",), [tmp_path / "more"])
    both = tables.reduced(study, ("packets",), [folder, tmp_path / "more"])
    assert (len(few), len(both)) == (1, 5)
    again = tables.read(study, tables.text_of(study, ("packets",), both))
    assert [row["packets"] for row in again] == [row["packets"] for row in both]
    assert [row["parameters"] for row in again] == [row["parameters"] for row in both]


def test_numbers_of_several_versions_of_an_engine_are_kept_apart_beside_their_own_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = registry.get("icpp18")
    for version in ("one", "two"):
        made = run_job(Job("icpp18", {"nodes": 4}, 1, "inline")).tables
        store.write_run(tmp_path / version, {**made, "runs": {**made["runs"], "engine_version": [version]}})
    folders = [tmp_path / "one", tmp_path / "two"]
    assert [row["engine"] for row in tables.reduced(study, ("packets",), folders)] == ["inline"], (
        "one replaces the other"
    )
    monkeypatch.setattr(
        tables.module_of(study), "TABLES", {"small": lambda runs: sorted(r["engine"] for r in runs.rows)}
    )
    page = tmp_path / "icpp18-versions.md"
    page.write_text(PAGE)
    tables.update(study, folders, page, by_version=True)
    assert "\none\ntwo\n" in page.read_text()
    assert [path.name for path in (tmp_path / "numbers").iterdir()] == ["icpp18-versions.csv"]


def test_a_change_between_versions_is_that_of_the_same_seeds() -> None:
    study = registry.get("mobile20")

    def of(*delays: float) -> Measured:
        return Measured(study, tuple({"seed": seed, "delay": delay} for seed, delay in enumerate(delays)))

    assert change(of(1.0, 2.0, 3.0), of(1.0, 2.0, 3.0), "delay") == "equal in every run"
    assert change(of(1.0, 20.0, 300.0), of(2.0, 21.0, 301.1), "delay").startswith("**1.03 ± 0.1"), "seeds differ more"
    assert change(of(1.0, 2.0, 3.0), of(2.0, 1.0, 3.1), "delay").startswith("0.0333 ± "), "it may be none"
    assert change(of(1.0), of(), "delay") == ""


def test_a_table_with_a_point_that_was_not_run_is_left_and_named(folder: Path, tmp_path: Path, monkeypatch) -> None:
    study = registry.get("icpp18")
    monkeypatch.setattr(
        tables.module_of(study), "TABLES", {"small": lambda runs: [str(runs.at(nodes=32).mean("packets"))]}
    )
    page = tmp_path / "icpp18.md"
    page.write_text(PAGE)
    reported = tables.update(study, [folder], page)
    assert "small (no run of one of its points has packets)" in reported[1] and page.read_text() == PAGE
    page.write_text(PAGE.replace("| typed by hand |\n", ""))
    tables.update(study, [folder], page)
    assert (
        "<!-- table: icpp18 small -->\nNot run: no run of one of its points has packets.\n<!-- end -->"
        in page.read_text()
    )


def test_tables_cannot_be_written_without_folders_and_stored_numbers(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="add the result folders"):
        page = tmp_path / "icpp18.md"
        page.write_text(PAGE)
        tables.update(registry.get("icpp18"), [], page)


def ran_by(code: str, folder: Path, seed: int) -> Path:
    """Return a run with the digest of other code."""
    job = Job("icpp18", {"nodes": 4}, seed, "inline")
    made = run_job(job).tables
    store.write_run(folder, {**made, "runs": {**made["runs"], "run_id": [f"{code}-{seed}"], "code": [code]}})
    return folder


def test_a_table_of_a_folder_with_runs_of_several_codes_is_refused(tmp_path: Path) -> None:
    study, mixed = registry.get("icpp18"), tmp_path / "mixed"
    ran_by("aaaaaaaa", mixed, 1)
    assert len(tables.reduced(study, ("packets",), [mixed])) == 1
    ran_by("bbbbbbbb", mixed, 2)
    several = r"mixed: runs of icpp18 on inline were made by 2 versions.*: aaaaaa.*bbbbbb.*a table shows one version"
    with pytest.raises(UserError, match=several):
        tables.reduced(study, ("packets",), [mixed])


def test_repetitions_of_one_point_that_folders_have_of_different_code_are_refused(tmp_path: Path) -> None:
    """They would be averaged. A point that only one of the folders has may be of any code."""
    study = registry.get("icpp18")
    one, other = ran_by("aaaaaaaa", tmp_path / "a", 1), ran_by("bbbbbbbb", tmp_path / "b", 2)
    with pytest.raises(UserError, match=r"\"nodes\": 4.* on inline by two versions of the code, aaaaaa and bbbbbb"):
        tables.reduced(study, ("packets",), [one, other])
    ran(tmp_path / "c", 8, 1)
    assert len(tables.reduced(study, ("packets",), [one, tmp_path / "c"])) == 2
    assert len(tables.reduced(study, ("packets",), [one, ran_by("aaaaaaaa", tmp_path / "d", 2)])) == 2


def test_a_parameter_whose_default_depends_on_another_is_stored() -> None:
    study = registry.get("mobile20")
    rows = tuple(
        {"engine": "ns3", "seed": 1, "parameters": study.Params(experiment="dynamic", rate=rate).model_dump()}
        for rate in (5.6, 25.0)
    )
    assert tables.read(study, tables.text_of(study, (), rows)) == rows


def test_a_number_is_the_papers_if_it_is_the_same_to_the_last_digit_printed() -> None:
    assert beside(17.64, 17.6, 1) == "17.6 (=)" and beside(17.66, 17.6, 1) == "17.7 (17.6)"
    assert beside(8064.0, None) == "8,064"


@pytest.mark.parametrize("name", ["dcs23", "hash", "icpp18", "ladc18", "mobile20"])
def test_every_table_of_every_study_is_a_table_for_any_results(name: str) -> None:
    """Made-up runs of all points of all sweeps: every row has as many cells as the head."""
    study = registry.get(name)
    module = tables.module_of(study)
    points = [study.Params(**point).model_dump() for sweep in study.sweeps.values() for point in sweep]
    values = {scalar: 1.0 + k for k, scalar in enumerate(module.SCALARS)}
    measured = Measured(study, tuple(
        {"engine": engine, "seed": seed, "parameters": point, **values}
        for point in points for seed in (1, 2) for engine in ("inline", "omnet", "ns3")
    ))  # fmt: skip
    for what, table in module.TABLES.items():
        rows = table(measured)
        assert len(rows) > 2 and {row.count("|") for row in rows} == {rows[0].count("|")}, what
        page = "".join(page.read_text() for page in PAPERS.glob(f"{name}*.md"))
        assert f"<!-- table: {f'{name} {what}'.strip()} -->" in page, f"no page asks for '{what}'"


def test_requests_of_hash_are_for_a_message_and_a_process() -> None:
    study = registry.get("hash")
    module = tables.module_of(study)
    point = study.Params(processes=500, rate=110, detector="hash", messages=5000).model_dump()
    counts = dict.fromkeys(module.SCALARS, 0.0) | {"requests": 750.0, "messages": 5e3, "deliveries": 25e5}
    row = module.TABLES["table2"](Measured(study, ({"engine": "inline", "seed": 1, "parameters": point, **counts},)))[
        -1
    ]
    assert row.split("|")[2].strip() == "3 (1)"


def test_every_unbounded_number_of_mobile20_is_scored_losses_included() -> None:
    """A number of the paper's own algorithm cannot be left out of the mean deviation."""
    from causeway.studies.mobile20 import tables as mobile

    study = registry.get("mobile20")
    none = Measured(study, ())
    printed = set()
    for row in scores.numbers(none, mobile):
        experiment, derived = row["parameters"]["experiment"], row["published"] == 0.25
        plain = row["relation"] in ("=", "about", "to") and row["scalar"] != "cannot_be_compared"
        if plain and not derived and experiment in ("static", "load", "dynamic"):
            printed.add((experiment, row["scalar"]))
    bounds = {("dynamic", f"{buffer}_mean") for buffer in ("sbuffer_station", "sbuffer_host", "rbuffer_station")}
    assert printed - bounds == {(row[1], row[2]) for row in (*mobile.UNBOUNDED, mobile.BYTES)}


def test_mobile20_keeps_the_ranking_against_flooding_over_tcp() -> None:
    from causeway.studies.mobile20.tables import INET, of

    study = registry.get("mobile20")
    stored = Measured(study, tables.read(study, (PAPERS / "numbers" / "mobile20.csv").read_text()))
    ours, flooding = of(stored, "static", INET), of(stored, "static_tcp", INET)
    for worse in ("delivery_delay_s", "sent_per_delivery", "sent_bytes_per_s", "sbuffer_station_mean"):
        assert ours.mean(worse) < flooding.mean(worse), worse
    assert ours.mean("loss_all") > flooding.mean("loss_all"), "TCP loses less"


NUMBER = re.compile(r"[-+×]?\d[\d,.]*( %| s)?")


def typed_result(line: str) -> bool:
    """Return whether a line is a row of a table of results: it has an interval, or two cells that are numbers."""
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    return line.startswith("|") and ("± " in line or sum(bool(NUMBER.fullmatch(cell)) for cell in cells) > 1)


def without_numbers(page: str, name: str) -> list[str]:
    """Return the tables of a page without stored numbers: no function writes them, runs are missing, or no marker."""
    study, stored = registry.get(name), PAPERS / "numbers" / f"{name}.csv"
    rows = tables.read(study, stored.read_text()) if stored.is_file() else ()
    _, left = tables.written(page, study, tables.module_of(study).TABLES, rows)
    typed = [line for line in MARKED.sub("", page).splitlines() if typed_result(line)]
    return left + typed


@pytest.mark.parametrize("name", list(registry.STUDIES))
def test_no_table_of_results_is_without_stored_numbers(name: str) -> None:
    assert without_numbers((PAPERS / f"{name}.md").read_text(), name) == []


def test_a_table_without_stored_numbers_is_found() -> None:
    page = "<!-- table: icpp18 nobody -->\n| a |\n|---|\n| 1 |\n<!-- end -->\n"
    assert without_numbers(page, "icpp18") == ["nobody (typed)"]
    assert without_numbers("| a |\n|---|\n| 1 ± 2 |\n", "icpp18") == ["| 1 ± 2 |"]
    assert without_numbers("| nodes | packets |\n|---|---|\n| 64 | 3,666 |\n", "icpp18") == ["| 64 | 3,666 |"]
    assert without_numbers("| word | its meaning |\n|---|---|\n| run | a simulation |\n", "icpp18") == []


@pytest.mark.parametrize("path", [PAPERS / "README.md", PAPERS.parents[1] / "README.md"])
def test_the_overview_is_that_of_the_stored_numbers(path: Path) -> None:
    text = path.read_text()
    assert "<!-- table: all " in text
    assert scores.written(text, scores.papers(PAPERS / "numbers")) == text, "`causeway tables STUDY` writes another one"
