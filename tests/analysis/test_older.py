"""Folders of the layout before the log are read and converted."""

from __future__ import annotations

from pathlib import Path

import pytest

from causeway.analysis import compact, delta, health, report, store
from causeway.analysis.diff import diff
from causeway.errors import UserError
from causeway.results import open as open_results
from tests.analysis.test_store import tables
from tests.helpers import older_folder


def older(folder: Path) -> Path:
    older_folder.alone(folder, tables("a", 1.0))
    older_folder.batch(folder, "0001", [tables("x", 9.0)])
    older_folder.batch(folder, "0002", [tables("b", 2.0), tables("c", 3.0)], ["@0001"])
    older_folder.alone(folder, tables("half", 4.0))
    (folder / "tables" / "samples" / "half.parquet").unlink()
    return folder


VALUES = {"a": 1.0, "b": 2.0, "c": 3.0}


def values(folder: Path) -> dict[str, float]:
    rows = store.read_arrow(folder, "scalars").to_pylist()
    assert len({row["run_id"] for row in rows}) == len(rows)
    return {row["run_id"]: row["value"] for row in rows}


def test_an_older_folder_can_only_be_read(tmp_path):
    folder = older(tmp_path / "out")
    assert values(folder) == VALUES and store.finished_runs(folder) == set(VALUES)
    assert store.count_rows(folder, "samples") == 3 and store.has_run(folder, "b")
    assert store.read_table_of(folder, "scalars", "c")["value"].to_pylist() == [3.0]
    assert len(open_results(folder).scalars()) == 3 and diff(folder, folder).passed
    assert report.write(folder).is_file()
    with pytest.raises(UserError, match="older causeway: `causeway compact"):
        store.write_run(folder, tables("d"))


def test_compacting_converts_an_older_folder_to_the_current_format(tmp_path):
    folder = older(tmp_path / "out")
    done = compact.compact(folder)
    assert done.runs == 3 and values(folder) == VALUES and list(health.problems(folder)) == []
    assert delta.latest(folder).version >= 0
    store.write_run(folder, tables("d", 5.0))
    assert values(folder) == {**VALUES, "d": 5.0}
    left = (folder / "tables" / "scalars").rglob("*.parquet")
    assert sorted(path.name for path in left) == ["@0001~0.parquet", "half.parquet"], "what was not converted stays"


def test_damaged_older_files_get_no_checksums(tmp_path):
    folder = older(tmp_path / "out")
    path = folder / "tables" / "scalars" / "a.parquet"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    compact.compact(folder)
    assert values(folder) == {"b": 2.0, "c": 3.0} and path.read_bytes() == data


def test_a_kill_before_the_older_files_are_removed_changes_no_row(tmp_path, monkeypatch):
    folder = older(tmp_path / "out")

    real = type(tmp_path).unlink

    def killed(self, missing_ok=False):
        if self.suffix == ".parquet":
            raise KeyboardInterrupt
        real(self, missing_ok)

    with monkeypatch.context() as patch:
        patch.setattr(type(tmp_path), "unlink", killed)
        with pytest.raises(KeyboardInterrupt):
            compact.compact(folder)
    assert values(folder) == VALUES
    compact.compact(folder)
    assert values(folder) == VALUES and len(list((folder / "tables" / "runs").glob("*"))) == 1


@pytest.mark.parametrize("linked", ["runs", "scalars", "samples/study=s"])
def test_nothing_is_removed_through_a_link(tmp_path, linked):
    folder, mine = older(tmp_path / "out"), tmp_path / "mine"
    (folder / "tables" / linked).rename(mine)
    (folder / "tables" / linked).symlink_to(mine)
    before = sorted(mine.rglob("*"))
    with pytest.raises(UserError, match="is a link"):
        compact.compact(folder)
    assert sorted(mine.rglob("*")) == before and delta.latest(folder).version < 0
