"""Reading the output of `opp_run -q` about the runs of a configuration."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from causeway.bridge.engines.omnet_query import IniRun, _check_names, read_runs
from causeway.errors import UserError
from causeway.studies.external_project import _settings, doubts
from causeway.toolchain.omnet_find import find_omnetpp
from tests.helpers.omnetpp_tools import environment, need_home

LISTED = """\
Run 0: $range=200m, $what="a, b", $repetition=0
\textends = Static
\tseed-set = 7
\tseed-set = 9

Run 1: $range=200m, $what="a, b", $repetition=1
\t*.numHosts = 20
"""
INI = """\
[General]
network = N
[Config Anonymous]
**.messageLength = ${100, 200}B
**.power = ${p = 1mW, 2mW}
**.other = ${"a, b", "c"}
[Config Underscore]
**.tick = ${tick_ms = 200, 400}
[Config Letters]
**.size = ${größe9 = 1, 2}
"""


def test_a_run_has_its_variables_and_its_seed_set() -> None:
    variables = {"range": "200m", "what": '"a, b"'}
    assert read_runs(LISTED) == [IniRun(0, variables, 7), IniRun(1, variables, 1)]


def test_without_variables_there_is_one_plain_run() -> None:
    assert read_runs("Run 0: \n\tnetwork = Net\n") == [IniRun(0, {}, 0)]


def test_variables_without_a_name_are_reported_by_number() -> None:
    (run,) = read_runs('Run 0: $p=1mW, $0=100, $größe=x, $1="a, b", $repetition=0\n')
    assert run.variables == {"p": "1mW", "0": "100", "größe": "x", "1": '"a, b"'}


def test_a_name_with_an_underscore_is_refused_and_a_variable_without_it_sets_the_parameter(tmp_path: Path) -> None:
    runs = read_runs("Run 0: $0=tick_ms = 200, $repetition=0\n\nRun 1: $0=400, $repetition=0\n")
    with pytest.raises(UserError, match=r"\$\{tick_ms = \.\.\.\}, which has no name .* write \$\{tickms = \.\.\.\}"):
        _check_names(runs, tmp_path / "my.ini", "C")
    _check_names(read_runs("Run 0: $0=a == b, $x=c = 3\n"), tmp_path, "C")
    assert _settings({"tickms": "200", "0": "1"}, ["tick_ms", "hosts"], {"hosts": "3"}) == {
        "tick_ms": "200",
        "hosts": "3",
    }


def asked(folder: Path, config: str) -> list[IniRun]:
    """Return the runs that OMNeT++ itself lists."""
    root = need_home()
    (folder / "my.ini").write_text(INI)
    (folder / "N.ned").write_text("network N {}\n")
    command = [root / "bin" / "opp_run", "-s", "-u", "Cmdenv", "-f", "my.ini", "-c", config, "-q", "runconfig"]
    reported = subprocess.run(command, cwd=folder, env=environment(root), capture_output=True, text=True, check=True)
    return read_runs(reported.stdout)


@pytest.mark.omnet
def test_every_combination_that_omnetpp_reports_has_variables_of_its_own(tmp_path: Path) -> None:
    runs = asked(tmp_path, "Anonymous")
    assert len({tuple(sorted(run.variables.items())) for run in runs}) == len(runs) == 8
    assert {run.variables["p"] for run in runs} == {"1mW", "2mW"}
    assert {run.variables["0"] for run in runs} == {"100", "200"}
    assert {run.variables["1"] for run in runs} == {'"a, b"', '"c"'}
    assert [run.variables for run in asked(tmp_path, "Letters")] == [{"größe9": "1"}, {"größe9": "2"}]


@pytest.mark.omnet
def test_a_name_with_an_underscore_is_a_name_from_omnetpp_62_on(tmp_path: Path) -> None:
    need_home()
    found, runs = find_omnetpp(), asked(tmp_path, "Underscore")
    assert found is not None
    if found.version.startswith(("6.0", "6.1")):
        with pytest.raises(UserError, match="has no name for OMNeT"):
            _check_names(runs, tmp_path / "my.ini", "Underscore")
    else:
        _check_names(runs, tmp_path / "my.ini", "Underscore")
        assert [run.variables for run in runs] == [{"tick_ms": "200"}, {"tick_ms": "400"}]
        assert _settings(runs[0].variables, ["tick_ms"], {}) == {"tick_ms": "200"}


def test_a_variable_that_is_nearly_a_parameter_is_doubted_unless_the_parameter_is_set() -> None:
    fields = ["nodes", "tick_ms", "loss"]
    node = "iteration variable node sets no parameter of the study; did you mean nodes?"
    tick = "iteration variable tickMs sets no parameter of the study; did you mean tick_ms?"
    assert doubts({"node": "20", "loss": "0", "range": "150m", "0": "1", "tickMs": "3"}, fields, {}) == (node, tick)
    assert doubts({"node": "20"}, fields, {"nodes": 10}) == ()
    assert doubts({"node": "20", "nodes": "10", "tickms": "1"}, fields, {}) == ()
