"""The bench of the authors' program: what it says where no copy is, and what it hands to one that is."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import bench_authors
from causeway.errors import RunError, UserError

PROGRAM = """#!/bin/sh
grep -q 'Nodes\\[200\\]: NodePC;' ErrorDetectorWithRecovery.ned || exit 3
grep -q 'deliveryOption = 2' omnetpp.ini || exit 4
test -f Stats.ned || exit 5
{last}
"""


def built(folder: Path, last: str) -> Path:
    """A folder in which a program stands for theirs."""
    code = folder / "ErrorDetectors" / "code"
    (code / "src").mkdir(parents=True)
    (code / "simulations").mkdir()
    (code / "simulations" / "Stats.ned").write_text("")
    program = code / "src" / "ErrorDetectors"
    program.write_text(PROGRAM.format(last=last))
    program.chmod(0o755)
    return code


def test_without_a_copy_the_bench_says_which_folder_it_wants(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(bench_authors.FOLDER, raising=False)
    with pytest.raises(UserError, match="CAUSEWAY_AUTHORS"):
        bench_authors.run()
    monkeypatch.setenv(bench_authors.FOLDER, str(tmp_path))
    with pytest.raises(UserError, match="no program at"):
        bench_authors.run()


def test_deliveries_are_the_last_count_that_the_program_wrote(tmp_path: Path) -> None:
    busy = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; "
    code = built(tmp_path, busy + "printf '5\\n700\\n' > data/nbDeliveredMessagesFile.dat")
    assert 0 < bench_authors._theirs(code, 2) < 700 / 0.001


def test_a_program_that_fails_is_reported_with_its_last_words(tmp_path: Path) -> None:
    code = built(tmp_path, "echo no such gate >&2; exit 7")
    with pytest.raises(RunError, match="ended with 7: no such gate"):
        bench_authors._theirs(code, 2)
