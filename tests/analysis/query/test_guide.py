"""The guide's notebook section runs as it is printed."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[3]


@pytest.mark.slow
def test_the_guides_lines_for_a_notebook_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("xarray")
    flood = [sys.executable, "-m", "causeway.cli.main", "run", str(TOP / "examples" / "flood.py"), "--out", "results"]
    for loss in ("0.0", "0.3"):
        subprocess.run(
            [*flood, "--set", f"loss={loss}", "--set", "messages=20"], cwd=tmp_path, check=True, capture_output=True,
            env={**os.environ, "PYTHONPATH": str(TOP)},
        )  # fmt: skip
    text = (TOP / "docs" / "guide" / "05-results.md").read_text().partition("## In a notebook")[2].partition("\n## ")[0]
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(blocks) == 2
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    exec("\n".join(blocks), names)
    assert len(names["wide"]) == 2
    assert names["folder"].array("violations", "loss").shape == (2, 1)
