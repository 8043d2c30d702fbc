"""The digest of an OMNeT++ project changes with every file that OMNeT++ reads of it, and with no other."""

from __future__ import annotations

from pathlib import Path

import pytest

from causeway.studies.project import project_code

FILES = {
    "omnetpp.ini": 'include more.ini\n**.config = xmldoc("routes.xml")\n**.trace = "walk${repetition}.txt"\n',
    "more.ini": "ned-path = neds\n", "routes.xml": '<a file="deep.txt"/>', "deep.txt": "1", "walk0.txt": "1",
    "Net.ned": "network Net {}", "neds/Far.ned": "simple Far {}",
}  # fmt: skip


def written(folder: Path) -> Path:
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder / "omnetpp.ini"


@pytest.mark.parametrize("name", FILES)
def test_every_file_of_a_project_counts(tmp_path: Path, name: str) -> None:
    here, there = written(tmp_path / "here"), written(tmp_path / "there")
    assert project_code(here) == project_code(there)
    (there.parent / "notes.md").write_text("nobody reads this")
    assert project_code(here) == project_code(there)
    (there.parent / name).write_text(FILES[name] + " ")
    assert project_code(here) != project_code(there)
