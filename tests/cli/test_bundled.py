"""`causeway examples`: what comes with an installation is listed and copied."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from causeway.cli.bundled import EXAMPLES, show_or_copy
from causeway.errors import UserError
from causeway.studies import registry


def printed(names: list[str], into: Path) -> str:
    out = StringIO()
    show_or_copy(names, into, Console(file=out, width=200))
    return out.getvalue()


def test_examples_are_listed_each_with_its_description(tmp_path: Path) -> None:
    reported = printed([], tmp_path)
    for path in EXAMPLES.rglob("*.py"):
        if "__pycache__" not in path.parts:
            name = path.relative_to(EXAMPLES).with_suffix("").as_posix()
            (line,) = [line for line in reported.splitlines() if line.startswith(f"{name} ")]
            assert len(line.split()) > 3, f"{name} does not say what it is"


def test_an_example_is_copied_with_its_files_and_can_be_run(tmp_path: Path) -> None:
    printed(["drone", "textbook"], tmp_path)
    assert (tmp_path / "city.ns2").is_file() and not (tmp_path / "flood.py").exists()
    assert registry.get(str(tmp_path / "drone.py")).name
    assert len(list((tmp_path / "textbook").glob("*.py"))) == len(list((EXAMPLES / "textbook").glob("*.py")))
    printed(["drone.py"], tmp_path)
    printed(["warning"], tmp_path)
    names = sorted(path.name for path in (tmp_path / "streets").iterdir())
    assert names == ["streets.net.xml", "streets.rou.xml", "streets.sumocfg"], "SUMO reads all of them"
    (tmp_path / "drone.py").write_text("mine")
    with pytest.raises(UserError, match=r"drone\.py exists already with another content"):
        printed(["drone"], tmp_path)
    assert (tmp_path / "drone.py").read_text() == "mine"


def test_an_unknown_example_is_reported(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no example 'nothing'; `causeway examples` lists them"):
        printed(["nothing"], tmp_path)
