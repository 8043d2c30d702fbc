"""`causeway run --twice` with real OMNeT++, on the abstract network and on a user's own INET project."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers import talking
from tests.helpers.command import Said, causeway
from tests.helpers.inet_probe import needs_inet
from tests.omnet.test_whose_numbers import wired

pytestmark = [*needs_inet, pytest.mark.slow]
FLOOD = Path(__file__).parents[2] / "examples" / "flood.py"
BY_ADDRESS = "[self.send(EVERYONE, (message,), 10 + peer.number) for peer in set(self.peers)]"
RIGHT = talking.RIGHT["BROADCAST"]


def check(said: Said, same: bool) -> None:
    assert said.returncode == (0 if same else 1), said.stdout + said.stderr
    if same:
        assert "both runs are the same: " in said.stdout
    else:
        assert "the runs differ after" in said.stdout and "talk.py:" in said.stdout


@pytest.mark.parametrize("code", [RIGHT, BY_ADDRESS])
def test_two_runs_on_omnetpp_are_compared(code: str, tmp_path: Path) -> None:
    path = talking.write(tmp_path, BROADCAST=code)
    said = causeway("run", path, "--engine", "omnet", "--twice", "--set", "nodes=6", "--out", "out", cwd=tmp_path)
    check(said, code == RIGHT)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("code", [RIGHT, BY_ADDRESS])
def test_two_runs_on_a_project_of_ones_own_are_compared(code: str, tmp_path: Path) -> None:
    ini = wired(tmp_path / "project")
    before = sorted(ini.parent.rglob("*"))
    path = talking.write(tmp_path, BROADCAST=code)
    asked = ["--ini", str(ini), "--config", "Python", "--set", "nodes=9", "--set", "walking=true"]
    check(causeway("run", path, *asked, "--twice", "--out", "out", cwd=tmp_path), code == RIGHT)
    assert not (tmp_path / "out").exists()
    assert sorted(ini.parent.rglob("*")) == before, "nothing is kept"


def test_each_run_of_a_configuration_is_compared_with_itself(tmp_path: Path) -> None:
    ini = wired(tmp_path / "project", "repeat = 2\nseed-set = ${repetition}\n")
    asked = ["--ini", str(ini), "--config", "Python", "--set", "messages=10", "--set", "processes=9"]
    said = causeway("run", str(FLOOD), *asked, "--twice", cwd=tmp_path)
    check(said, same=True)
    assert said.stdout.count("both runs are the same: ") == 2
