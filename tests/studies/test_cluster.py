"""Clusters whose workers have Python and Java, and no checkout: package, study and its data come from the driver."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
import zipfile
from pathlib import Path

import pyspark
import pytest

from causeway.analysis import ship, store
from causeway.analysis.remote import place
from tests.helpers.edits import edited
from tests.helpers.s3 import CREDENTIALS, needs_s3, s3  # noqa: F401
from tests.studies.test_campaign import TOP, cluster_of
from tests.studies.test_processes import rows

RUNS = 40
LIBRARIES = sysconfig.get_paths()["purelib"]
"""The dependencies of Causeway. Since they are in PYTHONPATH, a link to a checkout (.pth) is not followed."""
BARE = os.path.realpath(sys.executable)
PROBE = "import importlib.util as u, sys; sys.exit(u.find_spec('causeway') is not None or u.find_spec('numba') is None)"


def bare_environment(tmp_path: Path) -> dict[str, str]:
    """Make an environment with the libraries, but without Causeway."""
    given = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "CAUSEWAY", "VIRTUAL"))
    }
    return {
        **given, **CREDENTIALS, "PYTHONPATH": LIBRARIES, "PYSPARK_PYTHON": BARE, "SPARK_LOCAL_IP": "127.0.0.1",
        "CAUSEWAY_CACHE": str(tmp_path / "workers-cache"),
    }  # fmt: skip


needs_bare = pytest.mark.skipif(
    subprocess.run([BARE, "-c", PROBE], cwd="/", env={"PYTHONPATH": LIBRARIES}).returncode != 0,
    reason="no Python here that has the libraries and lacks Causeway",
)


@pytest.fixture
def cluster(tmp_path):
    with cluster_of(tmp_path, bare_environment(tmp_path), tmp_path) as made:
        yield made


@pytest.fixture
def study(tmp_path) -> Path:
    """Write a study that only the driver can read."""
    place_ = tmp_path / "users-own"
    (place_ / "data").mkdir(parents=True)
    shutil.copy(TOP / "tests" / "helpers" / "shipped_study.py", place_ / "study.py")
    (place_ / "data" / "factor.txt").write_text("2.5")
    return place_ / "study.py"


def command(study: Path, out: str, *more: str, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "causeway.cli.main", "run", study.name, "--sweep", "sizes", "--reps", str(RUNS // 2),
         "--out", out, *more],
        cwd=study.parent, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, **CREDENTIALS, "PYTHONPATH": str(TOP), **environment},
    )  # fmt: skip


@pytest.mark.spark
@pytest.mark.slow
@needs_s3
@needs_bare
def test_workers_without_a_checkout_fill_a_folder_on_s3_though_one_is_killed(tmp_path, cluster, study, s3):  # noqa: F811
    url, workers = cluster
    out = s3 % "campaign"
    process = command(study, out, "--spark", url, PYSPARK_PYTHON=BARE)
    deadline, folder = time.monotonic() + 300, place(out)
    while len(store.finished_runs(folder)) < 4:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.2)
    assert len(store.finished_runs(folder)) < RUNS - 4, "too fast: the worker died after the campaign"
    os.killpg(workers[0].pid, signal.SIGKILL)
    reported, errors = process.communicate(timeout=400)
    assert process.returncode == 0, reported + errors[-3000:]
    alone = command(study, str(tmp_path / "alone"), "--jobs", "1")
    reported, errors = alone.communicate(timeout=300)
    assert alone.returncode == 0, reported + errors
    store.forget_versions()
    assert len(store.finished_runs(folder)) == RUNS
    assert rows(folder) == rows(tmp_path / "alone")
    factors = store.read_pandas(folder, "scalars").query("name == 'factor'")["value"]
    assert list(factors) == [2.5] * RUNS


@pytest.mark.spark
@pytest.mark.slow
@needs_bare
def test_a_file_that_a_study_imports_from_its_folder_is_sent_to_workers(tmp_path, cluster, study):
    """The study refuses to be run in the user's own folder, so the file beside it was sent, too."""
    text = edited(study.read_text(), ("import causeway\n", "import causeway\nimport doubling\n"))
    study.write_text(text.replace('"factor": float(', '"factor": doubling.twice('))
    (study.parent / "doubling.py").write_text("def twice(text):\n    return 2 * float(text)\n")
    url, _ = cluster
    done = subprocess.run(
        [sys.executable, "-m", "causeway.cli.main", "run", study.name, "--set", "messages=10", "--reps", "2", "--out",
         str(tmp_path / "out"), "--spark", url],
        cwd=study.parent, text=True, capture_output=True, timeout=400,
        env={**os.environ, "PYTHONPATH": str(TOP), "PYSPARK_PYTHON": BARE},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    factors = store.read_pandas(tmp_path / "out", "scalars").query("name == 'factor'")["value"]
    assert list(factors) == [5.0, 5.0]


@pytest.mark.slow
def test_the_package_that_is_sent_to_workers_is_complete_and_runs_from_a_zip(tmp_path, study):
    """As with `spark-submit --py-files`: compiled kernels find a place, the version is known, a study runs."""
    archive = ship.package_zip()
    names = zipfile.ZipFile(archive).namelist()
    assert {"causeway/__init__.py", "causeway/proto/causeway_pb2.py", "causeway/omnet/src/Bridge.cc"} <= set(names)
    assert not [name for name in names if "__pycache__" in name or name.startswith("causeway/tests")]
    environment = {**bare_environment(tmp_path), "PYTHONPATH": f"{archive}{os.pathsep}{LIBRARIES}"}
    done = subprocess.run(
        [BARE, "-m", "causeway.cli.main", "run", str(study), "--set", "messages=10", "--out", str(tmp_path / "out"),
         "--jobs", "1", "--json"],
        cwd=tmp_path, env=environment, text=True, capture_output=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert len(store.finished_runs(tmp_path / "out")) == 1
    assert (tmp_path / "workers-cache" / "unpacked").is_dir()


def test_missing_files_of_a_study_are_reported(study):
    from causeway.studies import campaign, shipped

    shutil.rmtree(study.parent / "data")
    (job,) = campaign.plan(str(study), "inline", [{}], 1, 1)
    with pytest.raises(Exception, match=r"declares files 'data/\*.txt'"):
        shipped._pack(job)


@pytest.mark.spark
@pytest.mark.slow
@needs_bare
def test_spark_submit_takes_the_package_as_a_zip(tmp_path):
    """The driver lacks Causeway, too, and its session stays unchanged."""
    script = tmp_path / "driver.py"
    script.write_text(
        "import sys\n"
        "from pathlib import Path\n"
        "from pyspark.sql import SparkSession\n"
        "spark = SparkSession.builder.getOrCreate()\n"
        "from causeway.studies import campaign\n"
        "jobs = campaign.plan('hash', 'inline', [{'processes': 10, 'messages': 20, 'entries': 4}], 1, 2)\n"
        "tally = campaign.run_on_spark(jobs, Path(sys.argv[1]), spark, lambda tally: None)\n"
        "assert (tally.done, tally.failed) == (2, {}), tally\n"
        "assert spark.conf.get('spark.sql.session.timeZone') == 'Asia/Tokyo'\n"
    )
    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    done = subprocess.run(
        [str(submit), "--master", "local[1]", "--conf", "spark.sql.session.timeZone=Asia/Tokyo",
         "--conf", "spark.driver.bindAddress=127.0.0.1", "--py-files", str(ship.package_zip()), str(script),
         str(tmp_path / "out")],
        cwd=tmp_path, env={**bare_environment(tmp_path), "PYSPARK_DRIVER_PYTHON": BARE}, text=True,
        capture_output=True, timeout=400,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert len(store.finished_runs(tmp_path / "out")) == 2
