"""`causeway run STUDY --ini FILE --config NAME`: the configuration's runs, and OMNeT++'s own results of each."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from causeway.analysis import store
from causeway.cli.console import console
from causeway.cli.run import InProject, RunOptions, run_study
from causeway.errors import UserError
from tests.helpers.inet_probe import needs_inet
from tests.helpers.inet_projects import PROJECTS

pytestmark = needs_inet
RUMOUR = str(Path(__file__).parents[2] / "examples" / "rumour.py")
CAMPAIGN = """
[Config Two]
extends = Python
*.host[*].wlan[*].radio.transmitter.communicationRange = ${range = 150m, 250m}
*.host[*].wlan[*].radio.transmitter.analogModel.communicationRange = ${range}
*.numHosts = 7 + ${hosts = 2, 13}
constraint = "$range" == "250m" || $hosts == 2
**.vector-recording = false
repeat = 2
seed-set = ${repetition}
"""


def project(folder: Path, more: str = CAMPAIGN, config: str = "Two") -> InProject:
    ini = PROJECTS["aodv"].write(folder)
    ini.write_text(ini.read_text() + more)
    return InProject(ini, config, "")


def run(folder: Path, asked: InProject, *settings: str, reps: int = 1) -> bool:
    given = ["duration_s=3", *settings]
    out, err = folder / "out", console(True)
    options = RunOptions(RUMOUR, settings=given, reps=reps, out_dir=out, as_json=True, project=asked)
    return run_study(options, err)


def test_every_run_of_the_configuration_is_stored_with_its_variables_and_omnetpps_own_results(tmp_path: Path) -> None:
    asked = project(tmp_path)
    assert run(tmp_path, asked) is False
    out = tmp_path / "out"
    runs = store.read_pandas(out, "runs").set_index("run_id")
    reported = store.read_pandas(out, "parameters").pivot(index="run_id", columns="name", values="value")
    assert sorted(zip(reported.range, reported.hosts, runs.seed[reported.index], strict=True)) == sorted(
        (range_, hosts, seed) for range_, hosts in (("150m", "2"), ("250m", "2"), ("250m", "13")) for seed in (0, 1)
    )
    assert set(reported.config) == {"Two"}
    assert {path.stem for path in (out / "omnetpp").glob("*.sca")} == set(runs.index)
    scalars = store.read_pandas(out, "scalars")
    pings = scalars[scalars.module.str.endswith("host[0].app[0]") & (scalars.name == "pingTxSeq:count")]
    assert set(pings.run_id) == set(runs.index)
    again = store.read_pandas(out, "runs").started_at.tolist()
    assert run(tmp_path, asked) is False
    assert store.read_pandas(out, "runs").started_at.tolist() == again


def test_duplicate_runs_repeated_settings_and_unknown_names_are_refused(tmp_path: Path) -> None:
    same = "[Config Same]\nextends = Python\nrepeat = 2\nseed-set = 3\n"
    with pytest.raises(UserError, match=r"runs 0 and 1 of configuration Same .* have the same seed-set"):
        run(tmp_path, project(tmp_path, same, "Same"), "hosts=13")
    with pytest.raises(UserError, match="hosts is set here and is also an iteration variable of configuration Two"):
        run(tmp_path, project(tmp_path), "hosts=13")
    with pytest.raises(UserError, match=r"omnetpp\.ini: No such config: Three"):
        run(tmp_path, project(tmp_path, config="Three"))
    with pytest.raises(UserError, match="omit --reps"):
        run(tmp_path, project(tmp_path), reps=2)
    with pytest.raises(UserError, match="bad value 'x' for parameter hosts"):
        run(tmp_path, project(tmp_path, "[Config Bad]\nextends = Python\n**.y = ${hosts = x, y}\n", "Bad"))


def test_a_misspelt_iteration_variable_is_a_warning_before_and_after_the_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    doubt = "iteration variable rates sets no parameter of the study; did you mean rate?"
    config = "[Config Rates]\nextends = Python\n*.host[*].app[0].sendInterval = ${rates = 1s, 2s}\n"
    assert run(tmp_path, project(tmp_path, config, "Rates"), "hosts=13") is False
    out = capsys.readouterr()
    assert out.err.count(f"warning: {doubt}") == 1
    assert [one["warnings"] for one in json.loads(out.out)["runs"]] == [[doubt]] * 2
