"""Damaged, truncated and foreign files are found and named; all others are read, and no healthy file is removed."""

from __future__ import annotations

import itertools
import os
import random
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from rich.console import Console

from causeway import results
from causeway.analysis import compact, convert, delta, files, health, physical, report, store
from causeway.analysis import study_description as description
from causeway.analysis.diff import diff
from causeway.analysis.study_description import Description
from causeway.cli.doctor import check_folder
from causeway.errors import UserError
from tests.analysis.test_store import tables
from tests.helpers.edits import edited


def flip(path: Path, bit: int) -> None:
    """Flip one bit of a file, by its number."""
    with path.open("r+b") as file:  # in place: to cut a file and to write it again takes a disk milliseconds
        file.seek(bit // 8)
        (byte,) = file.read(1)
        file.seek(bit // 8)
        file.write(bytes([byte ^ 1 << bit % 8]))


def small(folder: Path) -> Path:
    """Make a folder with every kind of file: two commits, the copies up to a checkpoint, a description."""
    description.write(folder, "s", description.text_of(Description("s", title="A study")))
    store.write_run(folder, tables("a", 43.0))
    store.write_runs(folder, [store.conformed(tables(name, 43.0)) for name in ("b", "c")])
    return folder


def whats(folder: Path) -> list[str]:
    delta.forget_versions()
    return [problem.what for problem in health.problems(folder)]


def repair(folder: Path) -> None:
    delta.forget_versions()
    for problem in health.problems(folder):
        problem.repair()
    assert whats(folder) == []


def everything(folder: Path) -> list[tuple]:
    return [tuple(row.values()) for name in ("runs", "scalars", "samples")
            for row in store.read_arrow(folder, name).to_pylist()]  # fmt: skip


def file_of(folder: Path, table: str, run: str) -> Path:
    (file,) = (file for file in delta.latest(folder).files[table] if file.holds(run))
    return folder / "tables" / file.path


def rot(path: Path, bit: int) -> None:
    """Flip one bit like a failing disk: neither the size nor the time of the file changes."""
    before = path.stat()
    flip(path, bit)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def forget_all() -> None:
    """Clear all that this process has stored about folders."""
    for known in (delta._LATEST, delta._SAME, physical._RIGHT, store._RUNS, store._UNION):
        known.clear()


def each_rot(folder: Path, step: int = 1) -> Iterator[tuple[Path, int]]:
    """Yield each file and byte of a folder with one bit of that byte flipped, one after the other."""
    draw = random.Random(23)
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        for byte in range(0, path.stat().st_size, step):
            bit = 8 * byte + draw.randrange(8)
            rot(path, bit)
            yield path, byte
            rot(path, bit)


def one_commit(folder: Path) -> Path:
    """Make the smallest folder with every kind of file."""
    description.write(folder, "s", description.text_of(Description("s", title="A study")))
    store.write_runs(folder, [store.conformed(tables(name, 43.0)) for name in ("b", "c")])
    return folder


@pytest.mark.slow
def test_the_doctor_finds_a_flip_in_any_byte_of_a_folder(tmp_path):
    """All 24,000 bytes are flipped, after the doctor has checked the folder once, and without changes of file times."""
    folder = one_commit(tmp_path / "out")
    assert whats(folder) == []
    seen = Counter[str]()
    for path, byte in each_rot(folder):
        assert next(iter(health.problems(folder)), None), f"{path.relative_to(folder)}:{byte}"
        seen[path.relative_to(folder).parts[-2]] += 1
    assert set(seen) == {"studies", "_copies", "_delta_log", "table=runs", "table=scalars", "table=samples"}
    assert whats(folder) == []


@pytest.mark.slow
def test_the_doctor_finds_flips_in_checkpoints_and_all_files_beside_them(tmp_path):
    """One byte in a thousand is enough, as one digest covers a whole file."""
    folder = small(tmp_path / "out")
    for number in range(20):
        store.write_run(folder, tables(f"r{number}"))
    assert whats(folder) == [] and list(folder.rglob("*.checkpoint.parquet"))
    for path, byte in each_rot(folder, step=997):
        assert next(iter(health.problems(folder)), None), f"{path.relative_to(folder)}:{byte}"


@pytest.mark.slow
def test_a_flip_in_any_byte_of_a_folder_gives_no_other_rows(tmp_path):
    """A reader sees the right rows, or an error that names the file and its runs."""
    folder = one_commit(tmp_path / "out")
    right, named = {name: store.read_arrow(folder, name) for name in ("runs", "scalars", "samples")}, Counter[str]()
    for path, byte in each_rot(folder):
        kind = path.parent.name
        if kind in ("studies", "_copies") and byte % 50:
            continue  # no reader of rows opens them
        forget_all()
        try:
            for name in [name for name in right if kind == f"table={name}"] or right:
                assert store.read_arrow(folder, name) == right[name], f"{path.relative_to(folder)}:{byte}"
        except physical.DamagedError as error:
            assert path.name in str(error) and (kind == "_delta_log" or "runs b to c" in str(error))
            named[kind] += 1
    sizes = {path.parent.name: path.stat().st_size for path in folder.glob("tables/*/*")}
    assert named == {kind: size for kind, size in sizes.items() if kind != "_copies"}


@pytest.mark.slow
def test_a_flip_changes_no_number_of_a_notebook_or_a_report(tmp_path):
    folder = one_commit(tmp_path / "out")

    def reported() -> list[str]:
        opened, page = results.open(folder), report.write(folder, tmp_path / "report")
        frames = [opened.runs(), opened.scalars(), opened.scalars(wide=True)]
        return [frame.to_csv() for frame in frames] + [path.read_text() for path in page.parent.glob("*.*")]

    right, refused = reported(), Counter[str]()
    for path, byte in each_rot(folder, step=97):
        if path.parent.name == "_copies":
            continue
        forget_all()
        try:
            assert reported() == right, f"{path.relative_to(folder)}:{byte}"
        except UserError:
            refused[path.parent.name] += 1
    assert refused.keys() >= {"studies", "_delta_log", "table=runs", "table=scalars"}


@pytest.mark.slow
def test_pages_of_a_large_file_have_checksums_of_their_own(tmp_path, monkeypatch):
    """Large files are not hashed as a whole when they are read: the footer has a digest, and pages have checksums."""
    monkeypatch.setattr(physical, "_SMALL_BYTES", 0)
    folder = small(tmp_path / "out")
    right, path = everything(folder), file_of(folder, "scalars", "b")
    whole, silent = path.read_bytes(), []
    for byte in range(len(whole)):
        flip(path, 8 * byte + byte % 8)
        try:
            if everything(folder) != right:
                silent.append(byte)
        except physical.DamagedError:
            pass
        path.write_bytes(whole)
    assert silent == []


def test_damaged_files_are_removed_and_all_others_stay(tmp_path):
    folder = small(tmp_path / "out")
    before = store.read_table_of(folder, "scalars", "a")
    flip(file_of(folder, "scalars", "b"), 8 * 40)
    assert store.read_table_of(folder, "scalars", "a") == before, "what is not touched is read"
    assert len(store.read_arrow(folder, "samples")) == 3
    (what,) = whats(folder)
    assert "runs b to c" in what and "2 rows of scalars" in what
    repair(folder)
    assert store.finished_runs(folder) == {"a"} and {row[0] for row in everything(folder)} == {"a"}


@pytest.mark.parametrize("table", ["runs", "scalars", "parameters"])
def test_a_folder_with_a_damaged_file_is_not_compared(tmp_path, table):
    whole, folder = small(tmp_path / "whole"), small(tmp_path / "out")
    more = tables("d") | {"parameters": {"name": ["n"], "value": ["1"], "number": [1.0]}}
    for one in (whole, folder):
        store.write_run(one, more)
    assert diff(whole, folder).passed
    path = file_of(folder, table, "d")
    flip(path, 8 * (path.stat().st_size - 20))
    forget_all()
    with pytest.raises(physical.DamagedError, match=path.name):
        diff(whole, folder)


@pytest.mark.parametrize("table", ["runs", "scalars", "samples"])
@pytest.mark.parametrize("change", ["flip", "cut", "gone", "empty"])
def test_every_damage_of_a_file_is_named_and_repaired(tmp_path, table, change):
    folder = small(tmp_path / "out")
    path = file_of(folder, table, "b")
    if change == "gone":
        path.unlink()
    elif change == "flip":
        flip(path, 8 * (path.stat().st_size - 20))
    else:
        path.write_bytes(path.read_bytes()[:-1] if change == "cut" else b"")
    (what,) = whats(folder)
    assert path.name in what and "runs b to c" in what
    repair(folder)
    assert {row[0] for row in everything(folder)} == {"a"} == set(store.finished_runs(folder))
    store.write_runs(folder, [store.conformed(tables(name, 43.0)) for name in ("b", "c")])
    assert len(store.finished_runs(folder)) == 3


def test_of_a_large_file_only_the_runs_of_a_damaged_page_are_lost(tmp_path, monkeypatch):
    monkeypatch.setattr(physical, "GROUP_ROWS", 10)
    store.write_runs(tmp_path, [store.conformed(tables(f"r{number:03}", number)) for number in range(100)])
    path = file_of(tmp_path, "scalars", "r000")
    column = pq.ParquetFile(path).metadata.row_group(4).column(3)
    begin = column.dictionary_page_offset or column.data_page_offset
    flip(path, 8 * (begin + column.total_compressed_size - 3))
    repair(tmp_path)
    lost = {f"r{number:03}" for number in range(100)} - store.finished_runs(tmp_path)
    assert lost == {f"r{number:03}" for number in range(40, 50)}
    assert len(store.read_arrow(tmp_path, "scalars")) == len(store.read_arrow(tmp_path, "samples")) == 90


def test_a_compaction_refuses_damaged_files_instead_of_giving_them_new_checksums(tmp_path):
    folder = small(tmp_path / "out")
    flip(file_of(folder, "scalars", "b"), 8 * 40)
    with pytest.raises(UserError, match="has changed since it was written"):
        compact.compact(folder)
    assert len(whats(folder)) == 1, "the damage is still reported"


def test_a_damaged_log_is_reported_and_restored(tmp_path):
    folder = small(tmp_path / "out")
    right, log = everything(folder), delta._log(folder, 1)
    at = log.read_bytes().index(b"numRecords") + 14
    flip(log, 8 * at)
    delta.forget_versions()
    with pytest.raises(UserError, match=r"0001\.json has changed.*doctor.*--repair"):
        store.read_arrow(folder, "runs")
    repair(folder)
    assert everything(folder) == right
    log.unlink()
    assert any("is missing" in what for what in whats(folder))
    repair(folder)
    assert everything(folder) == right


def test_a_converted_run_that_is_damaged_is_converted_again(tmp_path):
    source, out = tmp_path / "r.sca", tmp_path / "out"
    source.write_text("version 3\nrun R-1\nattr configname Base\n\nscalar a b 1\n")
    for table in ("scalars", "sources"):
        convert.convert([source], out)
        (file,) = delta.latest(out).files[table]
        (out / "tables" / file.path).write_bytes(b"")
        repair(out)
        assert convert.convert([source], out).files[0].status == "converted"
        assert store.read_arrow(out, "scalars")["value"].to_pylist() == [1.0] and whats(out) == []


def test_the_doctor_reports_its_repairs_and_the_remaining_damage(tmp_path, capsys):
    folder = small(tmp_path / "out")
    quiet = Console(quiet=True)
    assert check_folder(folder, False, quiet) == 0
    flip(file_of(folder, "scalars", "b"), 8 * 40)
    (folder / "tables" / "table=scalars" / ".0123.part").write_bytes(b"half")
    (folder / ".locks" / "gone.lock").touch()
    flip(folder / "studies" / "s.json", 8 * 30)
    assert len(whats(folder)) == 4
    assert check_folder(folder, False, quiet) == 1 and len(whats(folder)) == 4, "looking changes nothing"
    assert check_folder(folder, True, quiet) == 0 and check_folder(folder, False, quiet) == 0


def test_the_doctor_removes_nothing_that_was_just_committed(tmp_path):
    """The doctor repairs a folder between any two steps of a commit; no run is lost."""
    real = os.replace

    def doctored(source, target):
        real(source, target)
        for problem in health.problems(tmp_path):
            problem.repair()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "replace", doctored)
        for number in range(3):
            store.write_runs(tmp_path, [store.conformed(tables(f"r{number}{i}")) for i in range(5)])
    assert len(store.finished_runs(tmp_path)) == 15 == len(store.read_arrow(tmp_path, "scalars"))


def test_a_folder_of_a_newer_format_is_refused_and_not_changed(tmp_path, monkeypatch):
    folder = tmp_path / "out"
    monkeypatch.setattr(delta, "FORMAT", 2)
    small(folder)
    monkeypatch.undo()
    delta.forget_versions()
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    for use in (lambda: store.read_arrow(folder, "runs"), lambda: store.write_run(folder, tables("x")),
                lambda: compact.compact(folder)):  # fmt: skip
        with pytest.raises(UserError, match="newer version of causeway"):
            use()
    check_folder(folder, True, Console(quiet=True))
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*") if ".locks" not in str(path)} == {
        path: time for path, time in before.items() if ".locks" not in str(path)
    }


LINKED = ["tables", "tables/_delta_log", "tables/_copies", "tables/table=scalars", "studies", ".locks"]


@pytest.mark.parametrize("linked", LINKED)
def test_a_folder_with_links_is_refused(tmp_path, linked):
    """The link leads to a part of a healthy folder, two days old, which a careless repair would take for an orphan."""
    folder, mine = small(tmp_path / "out"), small(tmp_path / "mine")
    (mine / ".locks" / "old.lock").touch()
    for path in mine.rglob("*.parquet"):
        os.utime(path, (1, 1))
    shutil.rmtree(folder / linked)
    (folder / linked).symlink_to(mine / linked)
    before = {path: path.read_bytes() for path in mine.rglob("*") if path.is_file()}
    delta.forget_versions()
    for use in (lambda: store.read_arrow(folder, "runs"), lambda: compact.compact(folder),
                lambda: store.write_run(folder, tables("new")), lambda: list(health.problems(folder)),
                lambda: compact.forget_runs(folder, ["a"]), lambda: report.write(folder)):  # fmt: skip
        with pytest.raises(UserError, match="is a link"):
            use()
    assert {path: path.read_bytes() for path in mine.rglob("*") if path.is_file()} == before


def test_a_description_and_a_lock_are_not_written_through_a_link(tmp_path):
    """A command writes them before it reads any table."""
    for name in ("studies", ".locks"):
        (tmp_path / "mine" / name).mkdir(parents=True)
        (tmp_path / "out").mkdir(exist_ok=True)
        (tmp_path / "out" / name).symlink_to(tmp_path / "mine" / name)
    with pytest.raises(UserError, match="is a link"):
        description.write(tmp_path / "out", "s", description.text_of(Description("s")))
    with pytest.raises(UserError, match="is a link"), store.writing(tmp_path / "out", "r"):
        pass
    assert not any(path.is_file() for path in (tmp_path / "mine").rglob("*"))


def test_nothing_is_removed_or_written_through_a_link(tmp_path):
    folder = small(tmp_path / "out")
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "index.html").write_text("mine")
    (folder / "report").symlink_to(mine)
    with pytest.raises(UserError, match="is a link"):
        report.write(folder)
    (folder / "report").unlink()
    (folder / "report").mkdir()
    (folder / "report" / "export").symlink_to(mine)
    with pytest.raises(UserError, match="is a link"):
        report.write(folder, formats=["svg"])
    assert (mine / "index.html").read_text() == "mine"
    shutil.rmtree(folder / "report")
    path = file_of(folder, "scalars", "b")
    shutil.move(path, mine / "b.parquet")
    path.symlink_to(mine / "b.parquet")
    (what,) = whats(folder)
    assert "is a link" in what
    repair(folder)
    compact.compact(folder)
    assert (mine / "b.parquet").exists() and store.finished_runs(folder) == {"a", "b", "c"}, "its rows are right"


def test_a_log_that_names_files_of_others_is_refused(tmp_path):
    folder = small(tmp_path / "out")
    log = delta._log(folder, 1)
    text = edited(log.read_text(), ("table=scalars/", "table=scalars/../../../"))
    log.write_text(text)
    shutil.rmtree(folder / "tables" / delta.COPIES)
    delta.forget_versions()
    with pytest.raises(UserError, match="not a file of a result folder"):
        store.read_arrow(folder, "runs")


def test_a_clock_that_went_back_reorders_no_series(tmp_path, monkeypatch):
    path, out = tmp_path / "r.vec", tmp_path / "out"
    path.write_text("version 3\nrun R\nattr configname Base\nvector 0 m v TV\n0\t1\t1\n0\t2\t2\n")
    convert.convert([path], out)
    monkeypatch.setattr(delta.time, "time_ns", lambda: 0)
    with path.open("a") as file:
        file.write("0\t3\t3\n")
    convert.convert([path], out)
    assert store.read_arrow(out, "samples")["value"].to_pylist() == [1.0, 2.0, 3.0]
    compact.compact(out)
    assert store.read_arrow(out, "samples")["value"].to_pylist() == [1.0, 2.0, 3.0]


class Disk:
    """The contents of a disk after a power loss: only contents and names that were flushed."""

    def __init__(self) -> None:
        self.contents: dict[int, bytes] = {}
        self.names: dict[str, dict[str, int]] = {}

    def flush(self, path: Path) -> None:
        if path.is_dir():
            self.names[str(path)] = {one.name: one.stat().st_ino for one in path.iterdir()}
        else:
            self.contents[path.stat().st_ino] = path.read_bytes()

    def after(self, top: Path, target: Path) -> None:
        """Build what is left of `top`."""
        target.mkdir()
        for name, inode in self.names.get(str(top), {}).items():
            if str(top / name) in self.names or (top / name).is_dir():
                self.after(top / name, target / name)
            else:
                (target / name).write_bytes(self.contents.get(inode, b""))


def test_a_power_loss_loses_no_reported_run(tmp_path, monkeypatch):
    disk = Disk()
    for module in (files, delta):
        monkeypatch.setattr(module, "flush", disk.flush)
    folder, left = tmp_path / "a" / "out", (tmp_path / f"left{number}" for number in itertools.count())
    landed: list[str] = []
    for number in range(25):
        store.write_run(folder, tables(f"r{number:02}", number))
        landed.append(f"r{number:02}")
        if number in (0, 1, 19, 20, 24):
            compact.compact(folder) if number == 19 else None
            disk.after(tmp_path, one := next(left))
            delta.forget_versions()
            assert sorted(store.finished_runs(one / "a" / "out")) == landed
            assert len(store.read_arrow(one / "a" / "out", "scalars")) == len(landed)
            delta.forget_versions()


def test_a_folder_without_its_log_is_not_an_empty_one(tmp_path):
    folder = small(tmp_path / "out")
    before = sorted((folder / "tables").glob("table=*/*.parquet"))
    for name in (delta.LOG, delta.COPIES):
        shutil.rmtree(folder / "tables" / name)
    delta.forget_versions()
    (what,) = whats(folder)
    assert f"the log is missing, and {len(before)} files of rows are there" in what
    for problem in health.problems(folder):
        problem.repair()
    assert sorted((folder / "tables").glob("table=*/*.parquet")) == before


def test_a_folder_that_has_lost_its_log_gets_no_new_one_and_its_copies_restore_it(tmp_path):
    folder = small(tmp_path / "out")
    there = store.finished_runs(folder)
    shutil.rmtree(folder / "tables" / delta.LOG)
    forget_all()
    for use in (lambda: store.finished_runs(folder), lambda: store.write_run(folder, tables("new"))):
        with pytest.raises(physical.DamagedError, match=r"the log is missing, and .* files of rows .* doctor "):
            use()
    while problem := next(iter(health.problems(folder)), None):
        assert problem.repair() == "replaced by its copy"
    assert store.finished_runs(folder) == there


def test_a_folder_that_has_lost_its_first_commit_gets_it_back_from_its_copy(tmp_path):
    folder = small(tmp_path / "out")
    there = store.finished_runs(folder)
    (folder / "tables" / delta.LOG / f"{0:020d}.json").unlink()
    forget_all()
    with pytest.raises(UserError, match=r"the log of .* cannot be read .*doctor .* --repair` mends it if it has"):
        store.finished_runs(folder)
    assert whats(folder)[0].endswith(f"{0:020d}.json: is missing")
    while problem := next(iter(health.problems(folder)), None):
        assert problem.repair() == "replaced by its copy"
    assert store.finished_runs(folder) == there


def test_a_first_command_that_was_killed_before_its_commit_lost_no_log(tmp_path):
    folder = tmp_path / "out"
    with store.files_for(delta.latest(folder)) as writer:
        writer.write("runs", store.conformed(tables("r", 1))["runs"])
    assert list((folder / "tables").glob("table=runs/*.parquet"))
    assert whats(folder) == []
    assert not store.finished_runs(folder)


@pytest.mark.parametrize("inside", ["", "tables", "tables/table=runs"])
def test_the_doctor_refuses_a_folder_without_tables(tmp_path, inside):
    """A wrong path, such as the folder of tables, would pass for a folder without problems."""
    if inside:
        small(tmp_path)
    with pytest.raises(UserError, match="is not a result folder: it has no tables/"):
        check_folder(tmp_path / inside, False, Console(quiet=True))
