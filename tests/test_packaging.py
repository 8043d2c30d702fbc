"""The promises of pyproject.toml about an installation."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((TOP / "pyproject.toml").read_text())
BOUND = re.compile(r"([\w.-]+)>=([\d.]+)")


def lowest(requirements: list[str]) -> dict[str, str]:
    return {match[1]: match[2] for one in requirements if (match := BOUND.match(one))}


def test_every_dependency_has_a_lower_bound() -> None:
    dependencies = PROJECT["project"]["dependencies"]
    assert [one for one in dependencies if not BOUND.match(one)] == []


def test_the_lowest_protobuf_that_is_allowed_reads_the_generated_code() -> None:
    """protobuf refuses code that a newer protoc generated."""
    generated = (TOP / "proto" / "causeway_pb2.py").read_text()
    found = re.search(r"Protobuf Python Version: ([\d.]+)", generated)
    assert found and found[1] == lowest(PROJECT["project"]["dependencies"])["protobuf"]


@pytest.mark.parametrize("file", ["CITATION.cff", ".zenodo.json", "docs/how-to/cite.md"])
def test_what_is_cited_is_this_version(file: str) -> None:
    found = re.findall(r'(?<!-)\bversion"?\s*[:=] *["{]?(\d+\.\d+\.\d+)', (TOP / file).read_text())
    assert found == [PROJECT["project"]["version"]]


def test_a_build_and_development_generate_with_the_same_protoc() -> None:
    pinned = re.search(r"^grpcio-tools==(\d+\.\d+)\.", (TOP / "requirements.txt").read_text(), re.MULTILINE)
    wanted = [one for one in PROJECT["build-system"]["requires"] if one.startswith("grpcio-tools")]
    assert pinned and wanted and wanted[0].startswith(f"grpcio-tools>={pinned[1]},<")
    assert wanted[0] in PROJECT["project"]["optional-dependencies"]["dev"]


def test_every_dependency_is_pinned_for_development() -> None:
    pinned = set(re.findall(r"^([\w.-]+)==", (TOP / "requirements.txt").read_text(), re.MULTILINE))
    assert set(lowest(PROJECT["project"]["dependencies"])) <= pinned


@pytest.mark.parametrize("platform", ["darwin", "win32"])
def test_another_system_than_linux_is_refused_in_one_line(platform: str) -> None:
    code = f"import sys; sys.platform = {platform!r}; import causeway"
    done = subprocess.run([sys.executable, "-c", code], cwd=TOP, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(f"ImportError: Causeway runs on Linux, not on {platform}; ")


@pytest.mark.parametrize("line", ["", 'PROTO_SHA256 = "0"\n'])
def test_code_generated_from_another_contract_is_refused_in_one_line(line: str, tmp_path: Path) -> None:
    for name in ("proto", "causeway"):
        shutil.copytree(TOP / name, tmp_path / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    generated = tmp_path / "proto" / "causeway_pb2.py"
    generated.write_text(re.sub(r"^PROTO_SHA256 = .*\n", line, generated.read_text(), flags=re.MULTILINE))
    code = "import causeway.proto.contract"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert "generated from another causeway.proto: run `make proto`" in done.stderr.splitlines()[-1]
