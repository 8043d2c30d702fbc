"""Files move, are replaced under the same name, or contain runs of other files: no row is lost without a message."""

import shutil
from functools import partial

import pandas as pd
import pytest

from causeway.analysis import convert, physical, store
from causeway.errors import UserError
from tests.helpers.kills import killed_in_commit


def sca(run, value, more="", folder=None, name="r.sca"):
    text = f"version 3\nrun {run}\nattr configname Base\n{more}\nscalar a b {value}\nattr unit s\n"
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return text


def vec(run, count, folder, name="r.vec"):
    folder.mkdir(parents=True, exist_ok=True)
    lines = "".join(f"0\t{i}\t{i}\n" for i in range(count))
    (folder / name).write_text(f"version 3\nrun {run}\nattr configname Base\n\nvector 0 m v TV\n{lines}")


def values(out):
    return dict(store.read_pandas(out, "scalars")[["run_id", "value"]].itertuples(index=False, name=None))


def samples(out):
    return store.read_pandas(out, "samples").groupby("run_id").size().to_dict()


@pytest.mark.parametrize("order", [("old", "results"), ("results", "old")])
def test_results_that_moved_away_and_new_ones_in_their_place_are_both_there(tmp_path, order):
    results, old, out = tmp_path / "results", tmp_path / "old", tmp_path / "out"
    sca("A", 1, folder=results)
    vec("A", 5, results)
    convert.convert([results], out)
    results.rename(old)
    sca("B", 2, folder=results)
    vec("B", 7, results)
    report = convert.convert([tmp_path / name for name in order], out)
    assert values(out) == {"A": 1.0, "B": 2.0} and samples(out) == {"A": 5, "B": 7}
    assert store.finished_runs(out) == {"A", "B"} and report.problem_count == 0
    again = convert.convert([results, old], out)
    assert values(out) == {"A": 1.0, "B": 2.0} and samples(out) == {"A": 5, "B": 7}
    assert "failed" not in {file.status for file in again.files}


def two_places(tmp_path):
    sca("R", 1, folder=tmp_path / "one")
    sca("R", 2, folder=tmp_path / "two")
    return [tmp_path / "one", tmp_path / "two"], tmp_path / "out"


def test_a_run_of_one_name_in_two_folders_is_refused_with_a_remedy(tmp_path):
    places, out = two_places(tmp_path)
    with pytest.raises(UserError, match=r"two/r\.sca and .*one/r\.sca both hold the run 'R'.*--clash apart"):
        convert.convert(places, out)
    assert values(out) == {"R": 1.0}, "what landed stays"
    report = convert.convert(places, out, keep_going=True)
    assert [file.status for file in report.files] == ["up to date", "failed"] and report.problem_count == 1


def test_a_run_of_one_name_in_two_folders_is_kept_apart_on_request(tmp_path):
    places, out = two_places(tmp_path)
    report = convert.convert(places, out, clash="apart")
    assert sorted(values(out).values()) == [1.0, 2.0] and len(store.finished_runs(out)) == 2
    assert any("kept apart" in note for note in report.notes)
    again = convert.convert(places, out, clash="apart")
    assert [file.status for file in again.files] == ["up to date"] * 2
    for one in report, again:
        assert ", 2 runs, " in str(one)


def test_a_run_of_one_name_in_two_folders_is_merged_on_request(tmp_path):
    places, out = two_places(tmp_path)
    report = convert.convert(places, out, clash="merge")
    assert sorted(store.read_pandas(out, "scalars").value) == [1.0, 2.0] and store.finished_runs(out) == {"R"}
    assert any("made one run" in note for note in report.notes)


def test_a_large_run_is_kept_apart_too(tmp_path, monkeypatch):
    monkeypatch.setattr(convert.job, "RANGE_BYTES", 100)
    vec("R", 50, tmp_path / "one")
    vec("R", 70, tmp_path / "two")
    convert.convert([tmp_path / "one", tmp_path / "two"], tmp_path / "out", clash="apart")
    assert sorted(samples(tmp_path / "out").values()) == [50, 70]


def test_a_copy_of_a_file_is_converted_once_and_reported(tmp_path):
    sca("R", 1, folder=tmp_path / "one")
    shutil.copytree(tmp_path / "one", tmp_path / "two")
    report = convert.convert([tmp_path / "one", tmp_path / "two"], tmp_path / "out")
    assert values(tmp_path / "out") == {"R": 1.0} and len(store.read_pandas(tmp_path / "out", "scalars")) == 1
    assert report.files[1].status == "copy" and "skipped, since it is the same" in report.notes[0]


def test_the_headers_of_a_run_are_merged_in_any_order(tmp_path):
    rich = "attr network Net\nitervar n 10\nitervar m 2\nconfig a 1\nconfig b 2"
    for number, files in enumerate((["r.sca", "r.vec"], ["r.vec", "r.sca"], [".", "."])):
        folder, out = tmp_path / f"{number}", tmp_path / f"out{number}"
        sca("R", 1, rich, folder)
        vec("R", 3, folder)
        for name in files:
            convert.convert([folder / name], out)
        assert len(store.read_pandas(out, "runs")) == 1
        assert store.read_pandas(out, "parameters").name.tolist() == ["n", "m"], files
        assert store.read_pandas(out, "config").name.tolist() == ["a", "b"], files
        attributes = store.read_pandas(out, "attributes")
        assert sorted(attributes[attributes.owner == "run"].name) == ["configname", "network"]
        assert values(out) == {"R": 1.0} and samples(out) == {"R": 3}


def test_headers_that_contradict_each_other_are_reported(tmp_path):
    sca("R", 1, "attr network One\nitervar n 10\nconfig a 1", tmp_path / "f")
    (tmp_path / "f" / "r.vec").write_text(
        "version 3\nrun R\nattr configname Base\nattr network Two\nitervar n 11\nconfig a 2\n\nvector 0 m v TV\n"
    )
    report = convert.convert([tmp_path / "f"], tmp_path / "out")
    reported = "\n".join(report.notes)
    for words in ("attribute network is 'One', elsewhere 'Two'", "variable n is '10'", "configuration a is '1'"):
        assert words in reported
    assert store.read_pandas(tmp_path / "out", "parameters").value.tolist() == ["10"]


def test_a_changed_file_replaces_only_its_own_rows(tmp_path):
    folder, out = tmp_path / "results", tmp_path / "out"
    for number in range(4):
        sca(f"R{number}", number, folder=folder, name=f"r{number}.sca")
        vec(f"R{number}", number + 1, folder, f"r{number}.vec")
    convert.convert([folder], out)
    sca("N", 9, folder=folder, name="r1.sca")
    report = convert.convert([folder], out)
    assert values(out) == {"R0": 0.0, "N": 9.0, "R2": 2.0, "R3": 3.0}
    assert samples(out) == {"R0": 1, "R1": 2, "R2": 3, "R3": 4}, "r1.vec still says R1"
    assert sorted(file.status for file in report.files) == ["converted"] + ["up to date"] * 7


def test_a_kill_at_any_moment_of_a_commit_loses_and_duplicates_no_rows(tmp_path, monkeypatch):
    folder, before = tmp_path / "results", tmp_path / "before"
    for number in range(3):
        sca(f"R{number}", number, folder=folder, name=f"r{number}.sca")
        vec(f"R{number}", number + 1, folder, f"r{number}.vec")
    convert.convert([folder], before)
    sca("N", 9, folder=folder, name="r1.sca")
    vec("R2", 30, folder, "r2.vec")
    old, new = ({f"R{i}": float(i) for i in range(3)}, {"R0": 0.0, "N": 9.0, "R2": 2.0})

    for step in range(1, 60):
        out = tmp_path / f"out{step}"
        shutil.copytree(before, out)
        if not killed_in_commit(monkeypatch, step, partial(convert.convert, [folder], out)):
            break
        assert values(out) in (old, new), step
        assert sum(samples(out).values()) in (6, 33)
        convert.convert([folder], out)
        assert values(out) == new and samples(out) == {"R0": 1, "R1": 2, "R2": 30}
        shutil.rmtree(out)
    assert step > 5, "it was killed at several places"


def test_a_folder_of_an_older_version_can_only_be_read(tmp_path):
    out = tmp_path / "out"
    (out / ".convert").mkdir(parents=True)
    (out / ".convert" / "r.sca-0123.json").write_text("{}")
    sca("R", 1, folder=tmp_path / "in")
    with pytest.raises(UserError, match=r"converted by an older version.*another --out"):
        convert.convert([tmp_path / "in"], out)


def test_a_conversion_writes_one_file_per_table(tmp_path):
    folder, out = tmp_path / "results", tmp_path / "out"
    for number in range(40):
        sca(f"R{number}", number, folder=folder, name=f"r{number}.sca")
        (folder / f"q{number}.sca").write_text(sca(f"Q{number}", number).replace("Base", '"Other: one"'))
    convert.convert([folder], out)
    files = [path.relative_to(out / "tables").as_posix() for path in (out / "tables").rglob("*.parquet")]
    assert sorted({name.split("/")[0] for name in files}) == [
        "table=attributes", "table=runs", "table=scalars", "table=sources"
    ] and len(files) == 4  # fmt: skip
    assert store.read_pandas(out, "runs").groupby("study").size().to_dict() == {"Base": 40, "Other: one": 40}
    plain = pd.read_parquet(out / "tables" / "table=scalars")
    assert set(plain.columns) - {"table"} == {"run_id", "module", "name", "value", "position", physical.SOURCE}
