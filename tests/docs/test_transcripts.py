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
    return TRANSCRIPTS["difference"](page, lambda name: name != "rocket")


def test_a_page_that_is_right_has_no_difference(tmp_path: Path) -> None:
    found, text = difference(tmp_path, PAGE)
    assert found == "" and text == PAGE


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
    found, _ = TRANSCRIPTS["difference"](page, lambda name: True)
    assert "+bash: line 1: rocket: command not found" in found


def test_python_in_a_page_is_the_one_that_checks_it(tmp_path: Path) -> None:
    _, text = difference(tmp_path, '```console\n$ python -c "import sys; print(sys.executable)"\n```\n')
    assert str(Path(sys.executable).parent) in text
