"""`causeway run --twice`: two runs of any study are compared, and the first difference is named."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from causeway.bridge import engines
from causeway.cli.main import app
from causeway.errors import RunError
from causeway.network.networks import MobileNetwork
from causeway.studies.runner import Job
from causeway.studies.twice import twice
from tests.helpers import talking

RIGHT = {"BROADCAST": "self.send(EVERYONE, message, 10)", "PACKET": "self.deliver(content)"}
SIX = {"nodes": "6"}
BY_ADDRESS = "[self.send(EVERYONE, message, 10 + peer.number) for peer in set(self.peers)]"


def study(folder: Path, **parts: str) -> str:
    """Write the study; return its path."""
    return talking.write(folder, **{**RIGHT, **parts})


@pytest.mark.slow
@pytest.mark.parametrize("content", ["message", "(message, {'a', 'b', 'c'}, Plain())"])
def test_a_right_study_is_the_same_twice(content: str, tmp_path: Path) -> None:
    """Addresses and the order of a set in a content are not differences."""
    first = "self.deliver(content if type(content) is int else content[0])"
    path = study(tmp_path, BROADCAST=f"self.send(EVERYONE, {content}, 10)", PACKET=first)
    comparison = twice(Job(path, SIX, 1, "inline"))
    assert comparison.same, comparison
    windows = 5 + 5 * 5
    assert comparison.rows >= 5 * (1 + 1 + 1 + 5) + 2, "broadcast, deliver, send and five deliveries of each message"
    assert comparison.rows <= 5 * (1 + 1 + 1 + 5) + windows


@pytest.mark.slow
def test_the_order_of_a_set_of_objects_is_found_and_named_with_its_line(tmp_path: Path) -> None:
    comparison = twice(Job(study(tmp_path, BROADCAST=BY_ADDRESS), SIX, 1, "inline"))
    assert not comparison.same
    reported = str(comparison)
    assert "sends 1" in reported and "bytes to everyone" in reported and "look there for" in reported
    assert re.search(r"\n    talk\.py:\d+ on_broadcast: \[self\.send\(EVERYONE, message", reported)
    assert "contextlib" not in reported


@pytest.mark.slow
def test_a_file_that_changes_is_found(tmp_path: Path) -> None:
    counter = tmp_path / "elsewhere" / "counter"
    counter.parent.mkdir()
    counter.write_text("")
    code = f"f = open({str(counter)!r}, 'a+'); f.write('x'); self.send(EVERYONE, message, 10 + f.tell()); f.close()"
    folder = tmp_path / "study"
    folder.mkdir()
    comparison = twice(Job(study(folder, BROADCAST=code), {}, 1, "inline"))
    assert comparison.first is not None and comparison.second is not None
    assert comparison.first.what == "sends 11 bytes to everyone"
    assert comparison.second.what == "sends 16 bytes to everyone"


@pytest.mark.slow
def test_a_scalar_that_differs_is_named(tmp_path: Path) -> None:
    code = "{**found, 'odd': float(hash('a name') % 1000)}"
    comparison = twice(Job(study(tmp_path, SCALARS=code), {}, 1, "inline"))
    assert not comparison.same and comparison.first is comparison.second is None
    assert "the runs differ in odd: " in str(comparison)


@pytest.mark.slow
def test_a_content_that_is_changed_after_it_was_sent_is_found(tmp_path: Path) -> None:
    path = study(tmp_path, BROADCAST="self.send(EVERYONE, self.clock, 10); self.clock[0] += 1", PACKET="pass")
    with pytest.raises(RunError, match=r"one of two runs of .* failed: node \d, at .* \(Talker\.clock\)"):
        twice(Job(path, SIX, 1, "inline"))


@pytest.mark.slow
def test_a_study_of_columns_is_compared_too() -> None:
    comparison = twice(Job("dcs23", {"processes": "8"}, 1, "inline"))
    assert comparison.same and comparison.rows > 1000, comparison


@pytest.mark.ns3
@pytest.mark.slow
@pytest.mark.parametrize(("code", "same"), [(BY_ADDRESS, False), (RIGHT["BROADCAST"], True)])
def test_both_runs_can_be_made_by_a_simulator(code: str, same: bool, tmp_path: Path) -> None:
    job = Job(study(tmp_path, BROADCAST=code), {**SIX, "walking": "true"}, 1, "ns3")
    network = job.network()
    assert isinstance(network, MobileNetwork)
    if why := engines.get("ns3").missing(network):
        pytest.skip(why)
    comparison = twice(job)
    assert comparison.same == same, comparison
    assert same or "bytes to everyone" in str(comparison)


@pytest.mark.slow
@pytest.mark.parametrize(("code", "status"), [(BY_ADDRESS, 1), (RIGHT["BROADCAST"], 0)])
def test_the_command_reports_the_difference_and_stores_nothing(code: str, status: int, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = CliRunner().invoke(
        app, ["run", study(tmp_path, BROADCAST=code), "--set", "nodes=6", "--twice", "--out", str(out)]
    )
    assert done.exit_code == status, done.output
    assert ("the runs differ after" if status else "both runs are the same") in done.output
    assert not out.exists()


def test_options_that_keep_results_are_refused_with_twice(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["run", study(tmp_path), "--twice", "--record"])
    assert "--twice keeps no results" in str(done.exception)
