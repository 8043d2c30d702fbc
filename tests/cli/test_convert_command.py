"""`causeway convert` and `causeway diff` as a user meets them."""

import pytest
from typer.testing import CliRunner

from causeway.cli.main import app

TEXT = "version 3\nrun R-1\nattr configname Base\n\nscalar a b 1\n"


def invoke(*arguments: object):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_convert_reports_the_outcome_of_each_file(tmp_path):
    (tmp_path / "r.sca").write_text(TEXT)
    first = invoke("convert", tmp_path, "--out", tmp_path / "out")
    assert first.exit_code == 0 and "1 files (1 converted), 1 runs, 0 samples" in first.output
    assert "1 up to date" in invoke("convert", tmp_path / "r.sca", "--out", tmp_path / "out").output


def test_convert_with_keep_going_reports_bad_lines_and_exits_with_1(tmp_path):
    (tmp_path / "r.sca").write_text(TEXT + "nonsense\n")
    found = invoke("convert", tmp_path / "r.sca", "--out", tmp_path / "out", "--keep-going")
    assert found.exit_code == 1 and "r.sca:6: expected a record" in found.output


@pytest.mark.parametrize(("value", "status"), [("1", 0), ("1.05", 0), ("2", 1)])
def test_diff_exits_with_1_above_the_threshold(tmp_path, value, status):
    for name, number in (("a", "1"), ("b", value)):
        (tmp_path / f"{name}.sca").write_text(TEXT.replace("b 1", f"b {number}"))
        invoke("convert", tmp_path / f"{name}.sca", "--out", tmp_path / name)
    found = invoke("diff", tmp_path / "a", tmp_path / "b", "--threshold", "0.1")
    assert found.exit_code == status and ("50.000% apart" in found.output) == (status == 1)
