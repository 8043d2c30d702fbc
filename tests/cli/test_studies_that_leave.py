"""A study that ends its process, keeps it alive or changes its folder is an error that names the study."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers import talking
from tests.helpers.command import causeway

COLUMNS = """
import os, sys, threading
from causeway import AbstractNetwork, Protocol, Segment, Study, Workload, constant_delay
from causeway.bridge.events import no_actions


class Columns(Protocol):
    def on_window(self, window):
        {CODE}
        return no_actions()


class Leaves(Study):
    name, title, engines = "leaves", "leaves", ("inline",)

    def network(self, params, seed):
        workload = Workload(3, messages=5, segments=(Segment(0, 100.0),))
        return AbstractNetwork(3, delay=constant_delay(5), workload=workload)

    def protocol(self, params):
        return Columns()
"""
WAITS = "threading.Thread(target=threading.Event().wait).start()"
DOES = {
    "os._exit(0)": "OutsideError: os._exit in study talk.py would leave the simulation: raise an error instead",
    "sys.exit(0)": "sys.exit(0) would end the command",
    WAITS: "OutsideError: a thread in study talk.py would leave the simulation: compute in place, or start it with",
    "os.chdir('/')": "os.chdir('/') would change the meaning of relative paths",
}


def made(folder: Path, place: str, code: str) -> str:
    """Write the study; return its file."""
    path = folder / "talk.py"
    if place == "on_window":
        path.write_text(COLUMNS.replace("{CODE}", code))
    elif place == "FILE":
        path = Path(talking.write(folder))
        path.write_text(f"import os, sys, threading\n{code}\n{path.read_text()}")
    else:
        talking.write(folder, **{place: f"({code}) or found" if place == "SCALARS" else code})
    return path.name


@pytest.mark.slow
@pytest.mark.parametrize("code", DOES)
@pytest.mark.parametrize("place", ["NETWORK", "PROTOCOL", "SCALARS", "on_window", "FILE"])
def test_a_run_that_ends_the_process_fails_with_the_studys_name(place: str, code: str, tmp_path: Path) -> None:
    done = causeway("run", made(tmp_path, place, code), "--out", "out", cwd=tmp_path)
    reported = " ".join((done.stdout + done.stderr).split())
    assert done.returncode in (1, 2), reported
    expected = "cannot be executed: SystemExit: 0" if (place, code) == ("FILE", "sys.exit(0)") else DOES[code]
    assert expected in reported, reported
    assert "talk.py:" in reported or "chdir" in code or "sys.exit" in code


@pytest.mark.slow
def test_checking_a_study_that_ends_the_process_fails_with_its_name(tmp_path: Path) -> None:
    for code in ("os._exit(0)", "sys.exit(0)", WAITS):
        done = causeway("check", made(tmp_path, "PROTOCOL", code), "--tries", "10", cwd=tmp_path)
        assert done.returncode == 1, done.stdout + done.stderr
        assert "study talk.py" in done.stderr


@pytest.mark.slow
def test_a_daemon_and_a_child_that_ends_by_itself_are_free(tmp_path: Path) -> None:
    code = "threading.Thread(target=print, daemon=True).start(); os.waitpid(os.fork() or os._exit(0), 0)"
    done = causeway("run", made(tmp_path, "NETWORK", code), "--out", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
