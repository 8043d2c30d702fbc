"""docs/transcripts.py finds what a page says wrongly, and corrects it."""

import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

TRANSCRIPTS: dict[str, Any] = runpy.run_path(
    str(Path(__file__).parents[2] / "docs" / "transcripts.py"), run_name="docs"
)

PAGE = """# Page

```python title="add.py"
print(1 + 1)
```

```console
$ python add.py
2
$ echo some words and more
some ... more
```

```python
print("a program")
```

```text
a program
```

<!-- needs: rocket -->
```console
$ rocket --launch
up
```
"""


def difference(folder: Path, text: str) -> tuple[str, str]:
    page = folder / "page.md"
    page.write_text(text)
    found, corrected, _ = TRANSCRIPTS["difference"](page, lambda name: name != "rocket")
    return found, corrected


def test_a_correct_page_has_no_difference(tmp_path: Path) -> None:
    found, text = difference(tmp_path, PAGE)
    assert found == "" and text == PAGE


def test_a_page_without_programs_is_right(tmp_path: Path) -> None:
    text = "# Words only\n"
    assert difference(tmp_path, text) == ("", text)


@pytest.mark.parametrize(
    "right, wrong", [("\n2\n", "\n3\n"), ("```text\na", "```text\nno"), ("some ... more", "other")]
)
def test_a_wrong_output_is_found_and_corrected(tmp_path: Path, right: str, wrong: str) -> None:
    found, text = difference(tmp_path, PAGE.replace(right, wrong))
    assert found and text.replace("some words and more\n```", "some ... more\n```") == PAGE


def test_a_command_that_fails_shows_its_error(tmp_path: Path) -> None:
    _, text = difference(tmp_path, "```console\n$ no-such-command\n```\n")
    assert "no-such-command" in text and "not found" in text


def test_a_block_that_needs_a_simulator_runs_where_it_is(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    found, _, left_out = TRANSCRIPTS["difference"](page, lambda name: True)
    assert "+bash: line 1: rocket: command not found" in found and not left_out
    assert TRANSCRIPTS["difference"](page, lambda name: False)[2] == ["rocket"]
    page.write_text(PAGE.replace("needs: rocket", "needs: crew rocket"))
    assert TRANSCRIPTS["difference"](page, lambda name: name == "crew")[2] == ["rocket"], "it needs both"


def test_python_in_a_page_is_the_one_that_checks_it(tmp_path: Path) -> None:
    _, text = difference(tmp_path, '```console\n$ python -c "import sys; print(sys.executable)"\n```\n')
    assert str(Path(sys.executable).parent) in text


def test_the_output_of_a_program_that_shows_none_is_added(tmp_path: Path) -> None:
    silent = "```python\nx = 1\n```\n\n```python\nprint(2)\n```\n"
    _, text = difference(tmp_path, silent)
    assert text == silent + "\n```text\n2\n```\n"


def test_a_block_that_is_not_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="this block is not run"):
        difference(tmp_path, "```sh\nrm -r build\n```\n")
    shown = "<!-- not run: it needs a cluster -->\n```sh\nrm -r build\n```\n"
    assert difference(tmp_path, shown) == ("", shown)


def test_blocks_behind_one_that_is_not_run_are_run(tmp_path: Path) -> None:
    shown = "<!-- not run: no cluster -->\n```sh\nexit\n```\n\n<!-- needs: rocket -->\n```console\n$ echo 1\n2\n```\n"
    page = tmp_path / "page.md"
    page.write_text(shown)
    assert TRANSCRIPTS["difference"](page, lambda name: True)[1] == shown.replace("2\n", "1\n")


def test_a_fence_that_is_no_block_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="2 blocks and 3 pairs of fences"):
        difference(tmp_path, "```python\npass\n```\n```c++\n```\n```python\npass\n```\n")


def test_a_picture_that_a_program_writes_replaces_the_one_that_is_shown(tmp_path: Path) -> None:
    page, picture = tmp_path / "page.md", tmp_path / "images" / "one.svg"
    picture.parent.mkdir()
    picture.write_text("old")
    page.write_text("```console\n$ echo new > one.svg\n```\n\n![One](images/one.svg)\n")
    assert TRANSCRIPTS["difference"](page)[0] == "" and picture.read_text() == "old"
    TRANSCRIPTS["difference"](page, update=True)
    assert picture.read_text() == "new\n"
