"""The command line: its output, its results and its error messages."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from causeway.analysis import store
from tests.helpers.command import causeway

TOY = str(Path(__file__).parents[1] / "helpers" / "toy_study.py")
TOP = Path(__file__).parents[2]


def test_json_prints_one_object_with_scalars_and_digest_and_nothing_else(tmp_path):
    done = causeway("run", TOY, "--set", "messages=50", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    run = json.loads(done.stdout)
    assert run["scalars"]["messages"] == 50
    assert run["scalars"]["deliveries"] == 500
    assert len(run["digest"]) == 32
    assert run["parameters"]["messages"] == 50


def test_the_command_says_its_version(tmp_path):
    import causeway as package

    assert causeway("--version", cwd=tmp_path).stdout == f"causeway {package.__version__}\n"


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="no /proc")
@pytest.mark.parametrize("given", [None, "2"])
def test_a_command_starts_no_threads_for_matrices_unless_the_user_sets_them(given):
    env = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    env |= {} if given is None else {"OPENBLAS_NUM_THREADS": given}
    script = "import causeway.cli.main, numpy, os; print(len(os.listdir('/proc/self/task')))"
    threads = int(subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, check=True).stdout)
    assert threads == min(int(given or 1), os.cpu_count())


def test_a_stored_run_is_not_repeated(tmp_path):
    first = json.loads(causeway("run", TOY, "--json", "--out", "r", cwd=tmp_path).stdout)
    again = json.loads(causeway("run", TOY, "--json", "--out", "r", cwd=tmp_path).stdout)
    assert (first.pop("reused"), again.pop("reused")) == (False, True)
    assert again == first  # wall_s too: it is the first run's
    assert len(store.finished_runs(tmp_path / "r")) == 1


@pytest.mark.slow
def test_a_sweep_with_repetitions_makes_one_run_of_each(tmp_path):
    done = causeway("run", TOY, "--sweep", "rates", "--reps", "3", "--set", "messages=20", "--out", "r", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert len(store.finished_runs(tmp_path / "r")) == 6
    rows = [line.split()[0] for line in done.stdout.splitlines() if line[:1].isdigit()]
    assert rows[:2] == ["20.0", "80.0"], "one row for each point, labelled by the parameters that differ"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "hahs"], "unknown study 'hahs'; did you mean 'hash'?"),
        (["run", "nowhere.py"], "no file nowhere.py"),
        (["run", TOY, "--set", "ratte=3"], "unknown parameter of study toy 'ratte'; did you mean 'rate'?"),
        (["run", TOY, "--set", "rate=-1"], "bad value '-1' for parameter rate of study toy"),
        (["run", TOY, "--set", "rate=fast"], "bad value 'fast' for parameter rate of study toy"),
        (["run", TOY, "--set", "order=fif"], "unknown value of order 'fif'; did you mean 'fifo'?"),
        (["run", TOY, "--set", "rate"], "'rate' is not a setting; write --set NAME=VALUE"),
        (["run", TOY, "--engine", "inlin"], "unknown engine 'inlin'; did you mean 'inline'?"),
        (["run", TOY, "--engine", "ns3"], "study toy does not run on engine ns3; it runs on inline, omnet"),
        (["run", TOY, "--sweep", "rate"], "unknown sweep of study toy 'rate'; did you mean 'rates'?"),
        (["run", TOY, "--config", "Mine"], "--config, --hosts and --with need --ini FILE; add it"),
        (["run", TOY, "--hosts", "host[*]"], "--config, --hosts and --with need --ini FILE"),
        (["run", TOY, "--out", ""], "the result folder has no name; write . for the current folder"),
        (["run", TOY, "--out", "a\nb"], "a folder named 'a\\nb' has a control character"),
        (["run", TOY, "--spark", "nonsense"], "'nonsense' is not a Spark master; allowed: local[*], spark://HOST:7077"),
        (["report", "empty"], "empty contains no finished run"),
        (["diff", "a", "b"], "a contains no finished run"),
        (["replay", "x.frames"], "no recording at x.frames"),
    ],
)
def test_every_mistake_gets_one_line_and_exit_status_2(causeway_here, arguments, words):
    done = causeway_here(*arguments)
    assert done.returncode == 2
    assert done.stderr.startswith(f"causeway: {words}")
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


def test_a_sweep_without_points_is_one_line(tmp_path):
    study = "import causeway as cw\nclass Empty(cw.Study):\n    sweeps = {'none': []}\n"
    study += "    def network(self, params, seed):\n        return cw.AbstractNetwork(2)\n"
    study += "    def protocol(self, params):\n        return cw.PerNode(cw.Node)\n"
    (tmp_path / "empty.py").write_text(study)
    done = causeway("run", "empty.py", "--sweep", "none", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == "causeway: sweep none of study Empty has no points; add one to its list in `sweeps`\n"


def test_a_recorded_run_replays_with_the_same_digest(tmp_path):
    ran = json.loads(
        causeway("run", TOY, "--set", "messages=20", "--record", "--json", "--out", "r", cwd=tmp_path).stdout
    )
    (recording,) = (tmp_path / "r" / "recordings").iterdir()
    done = causeway("replay", str(recording), "--study", TOY, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert ran["digest"] in done.stdout
