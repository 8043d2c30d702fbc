"""`causeway new` writes a program that runs; `causeway` alone shows commands that are there."""

from __future__ import annotations

import re
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from causeway.cli.main import app
from causeway.cli.new import FIRST_STEPS, write_protocol
from causeway.errors import UserError

TOP = Path(__file__).resolve().parents[2]


def test_a_new_protocol_runs(tmp_path: Path) -> None:
    out = StringIO()
    write_protocol(tmp_path / "my_protocol.py", Console(file=out, width=200))
    assert "`python " in out.getvalue()
    done = subprocess.run(
        [sys.executable, "my_protocol.py"], cwd=tmp_path, env={"PYTHONPATH": str(TOP), "HOME": str(tmp_path)},
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("MyProtocol on inline") and "deliveries  4,000" in done.stdout


def test_an_existing_file_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("mine")
    with pytest.raises(UserError, match=r"mine\.py exists already; choose another name"):
        write_protocol(tmp_path / "mine.py", Console(file=StringIO()))
    assert (tmp_path / "mine.py").read_text() == "mine"


@pytest.mark.parametrize("name", ["my protocol.py", "1st.py", "mine", "mine.txt"])
def test_a_file_that_python_cannot_import_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is not a name for a protocol"):
        write_protocol(tmp_path / name, Console(file=StringIO()))
    assert not list(tmp_path.iterdir())


def test_the_command_alone_shows_five_existing_commands() -> None:
    shown = CliRunner().invoke(app, [])
    assert shown.exit_code == 0 and shown.output.strip() == FIRST_STEPS
    named = re.findall(r"^causeway (\w+)", FIRST_STEPS, re.MULTILINE)
    assert len(named) == 5
    assert set(named) <= {command.name or command.callback.__name__ for command in app.registered_commands}
