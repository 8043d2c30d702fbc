"""Errors in a user's study or file with plots are reported with its own lines, without Causeway's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from causeway.analysis import kinds
from causeway.errors import UserError
from causeway.studies import campaign, registry
from causeway.toolchain.user_file import module_from
from tests.helpers.command import Said

TOP = Path(__file__).parents[2]
FLOOD = (TOP / "examples" / "flood.py").read_text()


def written(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "mine.py"
    file.write_text(text)
    return file


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ("x = 1\ny = x + z\n", "NameError: name 'z' is not defined\n  {file}:2, in <module>: y = x + z"),
        ("x = 1\ndef f(:\n", "SyntaxError: invalid syntax\n  {file}:2: def f(:"),
        ("def f(): return 1 / 0\nf()\n", "{file}:2, in <module>: f()\n  {file}:1, in f: def f(): return 1 / 0"),
        ("import sys; sys.exit(3)", "SystemExit: 3"),
        ("import numpy\nnumpy.zeros(-1)", "{file}:2, in <module>: numpy.zeros(-1)"),
    ],
)
def test_a_file_that_cannot_be_executed_is_reported_with_its_line(tmp_path: Path, text: str, reported: str) -> None:
    file = written(tmp_path, text)
    for load in (registry.get, lambda name: kinds.load(Path(name)), lambda name: module_from(Path(name))):
        with pytest.raises(UserError) as error:
            load(str(file))
        assert str(error.value).startswith(f"{file} cannot be executed: ")
        assert reported.replace("{file}", str(file)) in str(error.value)
        assert str(TOP) not in str(error.value)


@pytest.mark.parametrize(
    ("line", "reported"),
    [
        ("name = '../../x'", "the study's name is '../../x'; allowed: letters"),
        ("name = 5", "the study's name is 5"),
        ("title = None", "the study's title is None; allowed: text"),
        ("plots = [5]", "the study's plots are [5]; allowed: a list of Plot"),
        ("headlines = 5", "the study's headlines are 5; allowed: a list of Headline"),
        ("sweeps = {'x': 5}", "the study's sweeps are {'x': 5}; allowed: names of lists"),
        ("sweeps = [1]", "the study's sweeps are [1]; allowed"),
    ],
)
def test_a_study_with_a_name_or_title_of_the_wrong_type_is_refused(tmp_path: Path, line: str, reported: str) -> None:
    with pytest.raises(UserError) as error:
        registry.get(str(written(tmp_path, f"{FLOOD}\nFlood.{line}\n")))
    assert reported in str(error.value)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("duration", "duration_ps"), ("duration_s", "duration_ps"), ("until", "duration_ps"),
        ("reaction", "reaction_ps"), ("observer", "observers"), ("scalar", "scalars"), ("sweep", "sweeps"),
        ("headline", "headlines"), ("plot", "plots"), ("engine", "engines"), ("Parameters", "Params"),
        ("params", "Params"), ("expects", "expected"), ("check", "checks"),
    ],
)  # fmt: skip
def test_a_misspelled_member_of_a_study_is_reported(tmp_path: Path, name: str, meant: str) -> None:
    with pytest.raises(UserError, match=f"study Flood: nothing uses {name}; did you mean {meant}") as error:
        registry.get(str(written(tmp_path, f"{FLOOD}\nFlood.{name} = lambda self, params: 5\n")))
    assert "\n" not in str(error.value)


def test_a_member_that_the_study_uses_may_have_any_name(tmp_path: Path) -> None:
    used = "Flood.reaction = 5\nFlood.reaction_ps = lambda self, params: self.reaction"
    assert registry.get(str(written(tmp_path, f"{FLOOD}\n{used}\n"))).name == "flood"


def test_a_class_with_two_names_is_one_study(tmp_path: Path) -> None:
    assert registry.get(str(written(tmp_path, f"{FLOOD}\nTheOne = Flood\n"))).name == "flood"


@pytest.mark.parametrize(
    ("scalar", "status", "reported"),
    [
        ("violation", 2, "headline 'odd' names 'violation', which no run has; did you mean 'violations'?"),
        ("missing / deliverys", 2, "names 'deliverys', which no run has; did you mean 'deliveries'?"),
        ("throughput", 0, "warning: headline 'odd' names 'throughput', which no run has; `causeway run --all` prints"),
        ("missing +", 2, "'missing +' is not an arithmetic expression over scalars"),
    ],
)
def test_a_headline_of_a_scalar_that_no_run_has_is_reported(
    causeway_here: Callable[..., Said], tmp_path: Path, scalar: str, status: int, reported: str
) -> None:
    odd = f"Flood.headlines = (*Flood.headlines, cw.Headline('odd', {scalar!r}))"
    file = written(tmp_path, f"{FLOOD}\n{odd}\n")
    ran = causeway_here("run", str(file), "--set", "messages=5", "--out", "out")
    assert ran.returncode == status and reported in ran.stdout + ran.stderr, ran.stdout + ran.stderr


@pytest.mark.parametrize(
    ("line", "reported"),
    [
        ("network = lambda self, params, seed: 1 / 0", "ZeroDivisionError: division by zero\n  {file}:"),
        ("network = lambda self, params, seed: None", "study flood: no engine builds its network (NoneType)"),
        ("protocol = lambda self, params: 1 / 0", "ZeroDivisionError: division by zero\n  {file}:"),
        ("protocol = lambda self, params: None", "study flood: protocol() returned NoneType; allowed: a Protocol"),
        ("observers = lambda self, params, nodes: 1 / 0", "ZeroDivisionError: division by zero\n  {file}:"),
        ("scalars = lambda self, params, scalars: 1 / 0", "ZeroDivisionError: division by zero\n  {file}:"),
    ],
)
def test_a_study_whose_methods_fail_is_reported_with_its_own_lines(
    causeway_here: Callable[..., Said], tmp_path: Path, line: str, reported: str
) -> None:
    file = written(tmp_path, f"{FLOOD}\nFlood.{line}\n")
    ran = causeway_here("run", str(file), "--out", "out")
    assert ran.returncode in (1, 2)
    assert reported.replace("{file}", str(file)) in ran.stdout + ran.stderr
    assert "Traceback" not in ran.stdout + ran.stderr
    assert str(TOP / "causeway") not in ran.stdout + ran.stderr


def test_a_mistake_in_causeway_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        campaign.plan(None, "inline", [], 1, 1)  # type: ignore[arg-type]
        campaign.time_left_s(None, 0.0)  # type: ignore[arg-type]
    except Exception as error:
        error.__traceback__ = error.__traceback__.tb_next if error.__traceback__ else None  # without this test's frame
        assert campaign.error_message(error).startswith("Traceback")
    else:
        raise AssertionError
