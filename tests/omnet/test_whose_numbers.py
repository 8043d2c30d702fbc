"""Runs on a user's own INET project: the hosts of nodes are named, and no number of earlier files is shown."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from causeway.analysis import store
from tests.helpers.command import Said, causeway_here
from tests.helpers.edits import edited
from tests.helpers.inet_probe import needs_inet
from tests.helpers.inet_projects import LIMIT, PROJECTS

pytestmark = needs_inet
DEAF = "*.host1.causeway.port = 4000\n"
"""host1 is spoken to at another port than it listens at: what it is owed is missing."""
RUMOUR = str(Path(__file__).parents[2] / "examples" / "rumour.py")
FLOOD = str(Path(__file__).parents[2] / "examples" / "flood.py")
Command = Callable[..., Said]
HOSTS = [f"ConfiguratorA.host{i}" for i in range(9)]
__all__ = ["causeway_here"]


def wired(folder: Path, more: str = "") -> Path:
    """Nine hosts on three Ethernets; a broadcast stays on its own, so most deliveries are missing."""
    folder.mkdir(parents=True, exist_ok=True)
    ini = PROJECTS["wired_lan"].write(folder)
    ini.write_text(edited(ini.read_text(), (LIMIT, "sim-time-limit = 2s")) + more)
    return ini


def flood(command: Command, ini: Path, *more: str, status: int = 0) -> Said:
    said = command(
        "run", FLOOD, "--ini", str(ini), "--config", "Python", "--out", "out", "--set", "messages=10", *more,
    )  # fmt: skip
    assert said.returncode == status, said.stdout + said.stderr
    return said


def runs_of(said: Said) -> list[dict[str, Any]]:
    reported = json.loads(said.stdout)
    return reported.get("runs", [reported])


def test_which_host_is_which_node_is_printed_and_stored(causeway_here: Command, tmp_path: Path) -> None:
    ini = wired(tmp_path)
    for _ in range(2):  # made, and read back
        said = flood(causeway_here, ini, "--set", "processes=9")
        assert "nodes: 0 = ConfiguratorA.host0, 1 = ConfiguratorA.host1, 2 = " in said.stdout
        assert "..., 8 = ConfiguratorA.host8" in said.stdout
    assert runs_of(flood(causeway_here, ini, "--set", "processes=9", "--json"))[0]["nodes"] == HOSTS
    nodes = store.read_pandas(tmp_path / "out", "nodes").sort_values("node")
    assert nodes["node"].tolist() == list(range(9)) and nodes["module"].tolist() == HOSTS
    scalars = store.read_pandas(tmp_path / "out", "scalars")
    assert "node" not in set(scalars["name"]), "the number of a node is no measurement"


def test_node_numbers_from_the_ini_file_are_used(causeway_here: Command, tmp_path: Path) -> None:
    ini = wired(tmp_path, "*.host8.causeway.node = 0\n*.host0.causeway.node = 8\n")
    nodes = runs_of(flood(causeway_here, ini, "--set", "processes=9", "--json"))[0]["nodes"]
    assert nodes == [HOSTS[8], *HOSTS[1:8], HOSTS[0]]


def test_an_explanation_of_a_recorded_run_names_the_hosts(causeway_here: Command, tmp_path: Path) -> None:
    ini = wired(tmp_path)
    flood(causeway_here, ini, "--set", "processes=9", "--record")
    recording = next((tmp_path / "out" / "recordings").iterdir())
    for target in ("out", str(recording)):
        said = causeway_here("explain", target, "--study", FLOOD)
        assert said.returncode == 1 and "node 3 (host3)" in said.stdout, said.stdout + said.stderr
    assert causeway_here("replay", str(recording), "--study", FLOOD).returncode == 0
    recording.unlink()
    said = causeway_here("explain", "out", "--study", FLOOD)
    assert said.returncode == 2 and "repeat it with --record" in said.stderr


# ---- never old numbers ----------------------------------------------------------------------------------------------


def numbers(run: dict[str, Any]) -> tuple[Any, ...]:
    return run["digest"], run["scalars"]["missing"], run["scalars"]["deliveries"]


def edited_ini(folder: Path) -> tuple[Path, Callable[[], Path], list[str]]:
    def edit() -> Path:
        return wired(folder, DEAF)

    return wired(folder), edit, ["--set", "processes=9"]


def edited_include(folder: Path) -> tuple[Path, Callable[[], Path], list[str]]:
    ini, more = wired(folder, "include more.ini\n"), folder / "more.ini"
    more.write_text("# nothing yet\n")

    def edit() -> Path:
        more.write_text(DEAF)
        return ini

    return ini, edit, ["--set", "processes=9"]


def another_file_of_that_name(folder: Path) -> tuple[Path, Callable[[], Path], list[str]]:
    def edit() -> Path:
        return wired(folder / "b", DEAF)

    return wired(folder / "a"), edit, ["--set", "processes=9"]


@pytest.mark.parametrize("change", [edited_ini, edited_include, another_file_of_that_name])
def test_an_edited_project_is_run_again_and_the_former_one_keeps_its_numbers(
    change: Callable[..., Any], causeway_here: Command, tmp_path: Path
) -> None:
    ini, edit, settings = change(tmp_path)
    before = runs_of(flood(causeway_here, ini, *settings, "--json"))[0]
    assert numbers(runs_of(flood(causeway_here, ini, *settings, "--json"))[0]) == numbers(before)
    ini = edit()
    after = runs_of(flood(causeway_here, ini, *settings, "--json"))[0]
    (tmp_path / "out").rename(tmp_path / "mixed")
    fresh = runs_of(flood(causeway_here, ini, *settings, "--json"))[0]
    assert not after["reused"] and numbers(after) == numbers(fresh)
    assert after["scalars"]["missing"] > before["scalars"]["missing"], "the edit matters"
    said = causeway_here("doctor", "mixed")
    assert "the project's files differ" in said.stdout + said.stderr


def test_other_hosts_are_another_run(causeway_here: Command, tmp_path: Path) -> None:
    """Three hosts of one Ethernet hear each other, three of different ones do not."""
    ini = wired(tmp_path)
    ini.write_text(edited(ini.read_text(), ("causeway-nodes", "# ")))
    missing = []
    for hosts in ("**.host0 **.host1 **.host2", "**.host0 **.host3 **.host6"):
        run = runs_of(flood(causeway_here, ini, "--hosts", hosts, "--set", "processes=3", "--json"))[0]
        assert run["nodes"] == [f"ConfiguratorA.{name.removeprefix('**.')}" for name in hosts.split()]
        assert not run["reused"]
        missing.append(run["scalars"]["missing"])
    assert missing == [0, 20], "ten messages, two others"
    flood(causeway_here, ini, "--hosts", "**.hostess", "--set", "processes=3", status=1)


def test_fresh_repeats_a_run_and_replaces_the_old_one(causeway_here: Command, tmp_path: Path) -> None:
    ini, found = wired(tmp_path), []
    for more, reused in (([], False), ([], True), (["--fresh"], False)):
        found.append(runs_of(flood(causeway_here, ini, "--set", "processes=9", "--json", *more))[0])
        assert found[-1]["reused"] is reused
    assert numbers(found[0]) == numbers(found[1]) == numbers(found[2])
    runs = store.read_pandas(tmp_path / "out", "runs")
    assert len(runs) == 1 and runs["wall_s"].tolist() == [found[2]["wall_s"]] != [found[0]["wall_s"]]


def test_a_limit_before_the_end_of_the_study_fails_the_run_and_nothing_is_stored(
    causeway_here: Command, tmp_path: Path
) -> None:
    said = causeway_here(
        "run", RUMOUR, "--ini", str(wired(tmp_path)), "--config", "Python", "--out", "out", "--set", "hosts=2",
        "--set", "duration_s=10",
    )  # fmt: skip
    assert said.returncode == 1 and "ended by itself at 2 s, when the study lasts 12 s" in said.stdout + said.stderr
    assert not store.finished_runs(tmp_path / "out")


@pytest.mark.parametrize("variable", ["", "size="])
def test_named_and_unnamed_iteration_variables_make_separate_points(
    variable: str, causeway_here: Command, tmp_path: Path
) -> None:
    """The example's own ping beside the flood: its longer packets make others wait."""
    ini = wired(tmp_path, f"*.host0.app[0].packetSize = ${{{variable}100, 1000}}B\nseed-set = 7\n")
    runs = runs_of(flood(causeway_here, ini, "--set", "processes=9", "--json"))
    assert len(runs) == 2 and {run["seed"] for run in runs} == {7}
    reported = store.read_pandas(tmp_path / "out", "parameters")
    assert sorted(store.read_pandas(tmp_path / "out", "runs")["point"].duplicated()) == [False, False]
    apart = {name: set(rows["value"]) for name, rows in reported.groupby("name") if rows["value"].nunique() > 1}
    assert list(apart.values()) == [{"100", "1000"}] and (variable.rstrip("=") or "0") in next(iter(apart))
    pings = store.read_pandas(tmp_path / "out", "scalars").query("name == 'pingTxSeq:count'")
    assert pings["run_id"].nunique() == 2, "each has the network's own scalars"
