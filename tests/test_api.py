"""`causeway` is the public interface: every name it promises is there, and nothing else is offered by accident."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import causeway
from causeway import api
from causeway.cli import public_names


@pytest.mark.parametrize("name", api.__all__)
def test_a_public_name_comes_from_one_import(name: str) -> None:
    assert getattr(causeway, name) is getattr(api, name)


def test_all_public_names_come_at_once() -> None:
    found: dict[str, object] = {}
    exec("from causeway import *", found)
    assert set(api.__all__) <= set(found)


def test_a_change_of_the_public_interface_is_a_change_of_its_file() -> None:
    assert public_names.FILE.read_text() == public_names.text(), "run `python -m causeway.cli.public_names`"


def test_the_file_of_public_names_has_names_members_and_signatures() -> None:
    lines = public_names.text().splitlines()
    tops = {line.replace("(", " ").split()[line.startswith(("class ", "def "))] for line in lines if line[:1].isalpha()}
    assert tops >= {name for name in api.__all__ if not name.startswith("_")}
    assert "    def set_timer(self, key: Hashable, delay_ps: int) -> None" in lines
    assert "    node_count: int" in lines and "    nodes: Sequence[N]" in lines
    assert not [line for line in lines if "causeway." in line.partition("#")[0] or " at 0x" in line or len(line) > 120]


def test_the_version_is_that_of_the_project() -> None:
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    assert causeway.__version__ == project["version"] and project["name"] == "causeway-sim"


def test_every_public_name_has_a_docstring() -> None:
    silent = [name for name in api.__all__ if callable(getattr(api, name)) and not getattr(api, name).__doc__]
    assert silent == []


def test_a_name_that_is_not_public_is_refused_in_words() -> None:
    with pytest.raises(AttributeError, match="causeway has no public name 'Nod'"):
        causeway.Nod  # noqa: B018


def test_importing_the_package_alone_loads_no_simulator_code() -> None:
    code = "import causeway, sys; sys.exit('numba' in sys.modules or 'pandas' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
