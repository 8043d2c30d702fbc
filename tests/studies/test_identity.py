"""A run is identified by everything that determines its numbers: after any change, a command makes new runs."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from causeway.analysis import store
from causeway.errors import UserError
from causeway.studies import campaign, registry
from causeway.studies.runner import Job, run_job
from causeway.studies.study_objects import content_of
from causeway.toolchain.opened_files import opened_below
from causeway.toolchain.sources import APART, imported
from tests.helpers.drawn import examples
from tests.helpers.edits import edited

TOP = Path(__file__).parents[2]
STUDY = '''
"""A study whose numbers come from four files."""
import helper
from parts.inner import offset
from pathlib import Path
from causeway import AbstractNetwork, EVERYONE, Node, Params, PerNode, Segment, Study, Workload, constant_delay

OWN = 1


class Talker(Node):
    def on_broadcast(self, number, size_bytes):
        message = self.new_message()
        self.deliver(message)
        self.send(EVERYONE, message, size_bytes)

    def on_packet(self, content, sender, interface):
        self.deliver(content)


class Edited(Study):
    name = "edited"
    title = "numbers from four files"
    files = ("data/*.txt",)

    def network(self, params, seed):
        load = Workload(3, messages=5, segments=(Segment(0, 20.0),))
        return AbstractNetwork(3, delay=constant_delay(10), workload=load)

    def protocol(self, params):
        return PerNode(Talker, 2)

    def scalars(self, params, scalars):
        import late

        given = int((Path(__file__).parent / "data" / "given.txt").read_text())
        return {**scalars, "all": OWN + helper.VALUE + offset() + late.VALUE + given}
'''


def written(folder: Path, own: int = 1, helper: int = 2, inner: int = 3, late: int = 4, given: int = 5) -> Path:
    """Write the study; its scalar `all` is the sum of the numbers."""
    (folder / "parts").mkdir(parents=True, exist_ok=True)
    (folder / "data").mkdir(exist_ok=True)
    (folder / "study.py").write_text(STUDY.replace("OWN = 1", f"OWN = {own}"))
    (folder / "helper.py").write_text(f"VALUE = {helper}\n")
    (folder / "parts" / "__init__.py").write_text("")
    (folder / "parts" / "inner.py").write_text("from . import deep\ndef offset():\n    return deep.VALUE\n")
    (folder / "parts" / "deep.py").write_text(f"VALUE = {inner}\n")
    (folder / "late.py").write_text(f"VALUE = {late}\n")
    (folder / "data" / "given.txt").write_text(str(given))
    return folder / "study.py"


def all_of(study: Path, out: Path) -> float:
    """Run the study into a folder, and return the number that the command shows."""
    jobs = campaign.plan(str(study), "inline", [{}], 1, 1)
    tally = campaign.run_here(jobs, out, lambda tally: None)
    assert not tally.failed, tally.failed
    rows = store.read_table_of(out, "scalars", jobs[0].run_id).to_pylist()
    return next(row["value"] for row in rows if row["name"] == "all")


NUMBERS = st.fixed_dictionaries({name: st.integers(0, 9) for name in ("own", "helper", "inner", "late", "given")})


@settings(max_examples=examples(15))
@given(versions=st.lists(NUMBERS, min_size=2, max_size=4))
def test_after_any_edit_of_a_file_no_number_of_older_code_is_shown(
    tmp_path: Path, versions: list[dict[str, int]]
) -> None:
    """The drawn edits keep the size and happen within one tick of the clock, which makes them hard to detect."""
    for numbers in versions:
        study = written(tmp_path / "study", **numbers)
        assert all_of(study, tmp_path / "out") == sum(numbers.values())


def command(study: Path, out: Path, *more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "causeway.cli.main", "run", study.name, "--out", str(out), "--all", *more],
        cwd=study.parent, env={**os.environ, "PYTHONPATH": str(TOP)}, capture_output=True, text=True, check=False,
    )  # fmt: skip


def all_in(printed: str) -> int:
    return next(int(line.split()[1]) for line in printed.splitlines() if line.split()[:1] == ["all"])


@pytest.mark.slow
def test_processes_import_siblings_and_an_edit_makes_other_runs(tmp_path: Path) -> None:
    """Two processes make two runs. Then reused runs are reported, then runs of other code, then all are made anew."""
    study, out = written(tmp_path / "study"), tmp_path / "out"
    first = command(study, out, "--reps", "2", "--jobs", "2")
    assert first.returncode == 0 and all_in(first.stdout) == 15, first.stderr + first.stdout
    more = command(study, out, "--reps", "3", "--jobs", "2").stdout
    assert "2 of 3 runs were already there; --fresh repeats them" in more
    assert "other code" not in more
    written(tmp_path / "study", helper=7)
    edited = command(study, out, "--reps", "3", "--jobs", "2").stdout
    assert "already" not in edited and all_in(edited) == 20
    assert "3 more runs here were made by other code; reports separate them" in edited
    before = store.read_pandas(out, "runs").set_index("run_id")["started_at"]
    assert "already" not in command(study, out, "--reps", "3", "--jobs", "2", "--fresh").stdout
    store.forget_versions()
    after = store.read_pandas(out, "runs").set_index("run_id")["started_at"]
    assert sorted(before.index) == sorted(after.index) and (before != after.loc[before.index]).sum() == 3


def test_a_worker_refuses_a_run_whose_study_was_edited_after_it_was_planned(tmp_path: Path) -> None:
    study = written(tmp_path)
    (job,) = campaign.plan(str(study), "inline", [{}], 1, 1)
    sent = pickle.dumps(job)
    assert pickle.loads(sent).run_id == job.run_id
    written(tmp_path, helper=9)
    received = pickle.loads(sent)
    assert received.run_id == job.run_id, "it is still the run that was planned"
    with pytest.raises(UserError, match=r"study\.py have changed since the run was planned"):
        run_job(received)


def test_a_file_that_is_read_and_not_declared_is_refused(tmp_path: Path) -> None:
    study = written(tmp_path)
    study.write_text(edited(study.read_text(), ('files = ("data/*.txt",)', "files = ()")))
    with pytest.raises(UserError, match=r"reads data/given\.txt without declaring it.* files = \('data/given.txt',\)"):
        run_job(Job(str(study), {}, 1, "inline"))
    study.write_text(study.read_text().replace("OWN = 1", 'OWN = int(open(Path(__file__).parent / "own.txt").read())'))
    study.write_text(edited(study.read_text(), ("files = ()", 'files = ["data/given.txt"]')))
    for own in (1, 3):
        (tmp_path / "own.txt").write_text(str(own))
        assert all_of(study, tmp_path / "out") == 14 + own, "what the file reads as it is executed is known"


def test_a_link_to_a_file_elsewhere_that_is_not_declared_is_refused(tmp_path: Path) -> None:
    elsewhere, folder = tmp_path / "elsewhere.txt", tmp_path / "study"
    elsewhere.write_text("1")
    folder.mkdir()
    (folder / "number.txt").symlink_to(elsewhere)
    with opened_below(folder) as read:
        assert (folder / "number.txt").read_text() == "1"
    assert read == {str(elsewhere.resolve())}


def test_two_studies_may_have_siblings_of_one_name(tmp_path: Path) -> None:
    one, two = written(tmp_path / "one", helper=1, late=1), written(tmp_path / "two", helper=5, late=5)
    jobs = [Job(str(path), {}, 1, "inline") for path in (one, two, one)]
    assert [run_job(job).scalars["all"] for job in jobs] == [11, 19, 11]
    assert "helper" not in sys.modules or sys.modules["helper"].__file__ != str(two.parent / "helper.py")


def test_a_sibling_with_the_name_of_a_module_in_use_is_refused(tmp_path: Path) -> None:
    study = written(tmp_path)
    study.write_text(edited(study.read_text(), ("import helper\n", "import helper, numpy\n")))
    (tmp_path / "numpy.py").write_text("")
    with pytest.raises(UserError, match=r"imports numpy, but there are two: .*rename yours"):
        registry.get(str(study))


def test_a_study_is_identified_by_its_contents_in_any_folder(tmp_path: Path) -> None:
    here, there = (Job(str(written(tmp_path / name)), {}, 1, "inline") for name in ("here", "there"))
    assert here.run_id == there.run_id
    other = Job(str(written(tmp_path / "there", inner=4)), {}, 1, "inline")
    assert other.point == here.point and other.identity.causeway == here.identity.causeway
    assert other.run_id != here.run_id


LOADED = """
import sys
from pathlib import Path
from causeway.bridge import engines
from causeway.studies import identity, registry
from causeway.studies.runner import Job, engines_of, make_spec, run_job
resolved = registry.resolve({name!r})
engine = engines_of(resolved.study, resolved.study.network(resolved.study.Params(), 1))[0]
job = Job({name!r}, resolved.study.sweeps.get("smallest", [{{}}])[0], 1, engine)
if engine == "inline":
    run_job(job)
else:
    make_spec(job, 0), job.study.protocol(job.params), job.study.observers(job.params, 3), engines.get(engine)
known = set(identity._core(engine)) | identity.own_files(resolved.code.own, frozenset())
loaded = {{Path(m.__file__).resolve() for n, m in sys.modules.items() if n.startswith("causeway.") and m.__file__}}
print(len(loaded), *(one.relative_to(identity.SOURCES).as_posix() for one in loaded - known))
"""
ELSEWHERE = ("analysis/", "explore/", "bridge/engines/", "causeway/")
"""Modules that only inspect runs, engines of which only `missing` is called, errors, warnings and the cache folder."""


@pytest.mark.parametrize("engine", ["inline", "omnet", "ns3"])
def test_the_code_of_a_run_is_the_same_in_a_wheel_where_modules_lie_beside_the_packages(engine: str) -> None:
    """In a checkout these modules are below causeway/, and must not count there either."""
    from causeway.studies import identity

    core = list(identity._core(engine))
    assert all(path.is_file() for path in core)
    names = [one.relative_to(identity.SOURCES).as_posix() for one in core]
    assert "network/networks.py" in names and "proto/contract.py" in names
    assert [one for one in names if one.startswith("causeway/")] == []
    own = (TOP / "causeway").glob("*.py")
    assert {f"causeway.{one.stem}" for one in own} - {
        *APART,
        "causeway.__init__",
        "causeway.api",
        "causeway.results",
    } == set()


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(registry.STUDIES))
def test_all_that_a_shipped_study_loads_is_part_of_its_code(name: str) -> None:
    reported = subprocess.run(
        [sys.executable, "-c", LOADED.format(name=name)], cwd=TOP, env={**os.environ, "PYTHONPATH": str(TOP)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert reported.returncode == 0, reported.stderr
    loaded, *left = reported.stdout.split()
    assert int(loaded) > 40 and [one for one in left if not one.startswith(ELSEWHERE)] == []


def test_an_edit_of_a_protocol_changes_the_code_of_the_studies_that_use_it_alone(tmp_path: Path) -> None:
    from causeway.studies import identity

    with_hash = {one.name for one in identity.own_files(registry.resolve("hash").code.own, frozenset())}
    assert {"vectorized.py", "kernel.py", "readings.py"} <= with_hash
    of = {
        name: {one.relative_to(identity.SOURCES).as_posix() for one in identity.own_files(found, frozenset())}
        for name in ("hash", "icpp18", "mobile20")
        if (found := registry.resolve(name).code.own)
    }
    assert "pycontrol/protocols/hash/kernel.py" in of["hash"] - of["mobile20"] - of["icpp18"]
    assert "pycontrol/protocols/mobile/station.py" in of["mobile20"] - of["hash"]
    assert not any("tables.py" in one for files in of.values() for one in files), "tables are made of runs"


def test_a_worker_gets_the_siblings_and_makes_the_run_that_was_planned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pyspark

    from causeway.studies import shipped

    monkeypatch.setenv("CAUSEWAY_CACHE", str(tmp_path / "cache"))
    study = written(tmp_path / "study")
    (job,) = campaign.plan(str(study), "inline", [{}], 1, 1)
    packed = shipped._pack(job)
    monkeypatch.setattr(pyspark.SparkFiles, "get", lambda name: str(packed.parent / name))
    _, arguments, known = job.__reduce__()
    received = shipped.receive((arguments, known, packed.name))
    assert Path(received.name) != study and received.run_id == job.run_id
    assert run_job(received).scalars["all"] == 15


def test_other_files_beside_a_study_are_no_part_of_it(tmp_path: Path) -> None:
    study = written(tmp_path)
    before = Job(str(study), {}, 1, "inline").run_id
    (tmp_path / "another.py").write_text("import numba\n")
    study.touch()
    assert Job(str(study), {}, 1, "inline").run_id == before
    registry._EXECUTED.clear()
    assert Job(str(study), {}, 1, "inline").run_id == before


def test_a_module_that_is_imported_under_two_names_counts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    own = ModuleType("alias_of_ours")
    monkeypatch.setitem(sys.modules, "alias_of_ours", own)
    monkeypatch.setitem(sys.modules, "its_other_name", own)
    assert content_of({"loss": 0.3}) != ""


def test_packages_in_a_folder_of_their_own_count_as_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`pip install --target FOLDER` writes such a folder."""
    target = tmp_path / "target"
    (target / "heavy").mkdir(parents=True)
    (target / "heavy" / "__init__.py").write_text("import heavy.inner")
    study = tmp_path / "study.py"
    study.write_text("import heavy\nfrom .beside import x")
    monkeypatch.syspath_prepend(target)
    assert imported(study).files == {study: None, target / "heavy" / "__init__.py": None}
    (target / "heavy-1.0.dist-info").mkdir()
    found = imported(study)
    assert found.files == {study: None}
    assert found.packages == {"heavy", "beside"}, "a relative import without a package has no empty name"
