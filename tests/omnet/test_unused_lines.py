"""A line of a user's ini file that matches nothing in the network is reported, with its place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import causeway as cw
from causeway.cli.console import console
from causeway.cli.run import InProject, RunOptions, run_study
from causeway.studies import run_warnings
from tests.helpers.inet_probe import needs_inet
from tests.helpers.inet_projects import PROJECTS

pytestmark = needs_inet
RUMOUR = str(Path(__file__).parents[2] / "examples" / "rumour.py")
MISSPELT = """
[Config Misspelt]
extends = Python
include more.ini
**.wlan[*].radoi.transmitter.communicationRange = 100m
[Config Other]
**.not.in.force = 1
"""
MORE = "# a comment\n*.host[*].mobilty.speed = 3mps  # misspelt"
USED = """
[Config Used]
extends = Python
*.host[*].app[0].sendInterval = 2s
*.host[*].app[0].sendInterval = 3s
*.host[0].bluetooth[*].typename = ""
*.late.numPcapRecorders = 0
**.vector-recording = false
*.scenarioManager.script = xml("<script><at t='0.5'>\
<create-module type='inet.node.inet.StandardHost' parent='.' submodule='late'/></at></script>")
"""


def warnings_of(
    folder: Path, lines: str, config: str, capsys: pytest.CaptureFixture[str], as_json: bool = False
) -> list[str]:
    """Run the rumour on INET's AODV example with more lines; return the warnings."""
    (folder / "more.ini").write_text(MORE)
    ini = PROJECTS["aodv"].write(folder)
    ini.write_text(ini.read_text() + lines)
    settings = ["duration_s=3", "hosts=13"]
    project = InProject(ini, config, "")
    options = RunOptions(RUMOUR, settings=settings, out_dir=folder / "out", project=project, as_json=as_json)
    assert run_study(options, console(as_json)) is False
    out = capsys.readouterr().out
    if as_json:
        return list(json.loads(out)["warnings"])
    return [line.removeprefix("warning: ") for line in out.splitlines() if line.startswith("warning:")]


def test_misspelt_lines_of_the_sections_in_force_are_reported_also_when_the_run_is_there_already(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ending = " matches no parameter of the network, so that it has no effect"
    places = [
        "more.ini:2: *.host[*].mobilty.speed",
        "omnetpp.ini:10: **.wlan[*].radoi.transmitter.communicationRange",
    ]
    expected = [place + ending for place in places]
    assert warnings_of(tmp_path, MISSPELT, "Misspelt", capsys) == expected
    assert warnings_of(tmp_path, MISSPELT, "Misspelt", capsys) == expected
    assert warnings_of(tmp_path, MISSPELT, "Misspelt", capsys, as_json=True) == expected


def test_overridden_lines_removed_submodules_and_modules_that_come_later_are_no_mistakes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The line for `late` would be reported if only the network at its start was looked at."""
    assert warnings_of(tmp_path, USED, "Used", capsys) == []
    never = USED.replace("t='0.5'", "t='5'")
    (warning,) = warnings_of(tmp_path, never, "Used", capsys)
    assert "*.late.numPcapRecorders matches no parameter" in warning


def test_python_prints_the_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process prints each warning once; every way to run it is asked for here."""
    (tmp_path / "more.ini").write_text(MORE)
    ini = PROJECTS["aodv"].write(tmp_path)
    ini.write_text(ini.read_text() + MISSPELT)

    class Quiet(cw.Node):
        def on_start(self) -> None:
            self.after(cw.seconds(1), self.on_start)

    network = cw.InetNetwork(20, ini=str(ini), config="Misspelt")
    for out in (None, tmp_path / "out"):
        monkeypatch.setattr(run_warnings, "_printed", set())
        cw.run(Quiet, network, until=cw.seconds(2), out=out)
        assert "causeway: warning: more.ini:2: *.host[*].mobilty.speed matches no" in capsys.readouterr().err
    monkeypatch.setattr(run_warnings, "_printed", set())
    cw.sweep(Quiet, {"start_ps": [0]}, lambda start_ps: network, seeds=[1, 2], until=cw.seconds(2))
    assert capsys.readouterr().err.count("causeway: warning: more.ini:2: *.host[*].mobilty.speed matches no") == 1
