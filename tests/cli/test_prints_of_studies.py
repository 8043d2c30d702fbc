"""Results depend neither on a study's output nor on the order of its sets of strings."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]
STUDY = """
import os
from causeway import EVERYONE, Node, PerNode, ModelStudy

print("imported")


class Words(Node):
    def on_broadcast(self, number, size_bytes):
        os.write(1, b"written\\n")
        print("broadcast")
        message = self.new_message()
        for word in {"alpha", "beta", "gamma", "delta", "epsilon"}:
            self.send(EVERYONE, message, len(word))


class WordStudy(ModelStudy):
    name, title, versions = "words", "words", {"right": Words}
"""


def run(folder: Path, hash_seed: str, *more: str) -> subprocess.CompletedProcess[str]:
    (folder / "words.py").write_text(STUDY)
    command = [sys.executable, "-m", "causeway.cli.main", "run", "words.py", "--out", f"out{hash_seed}", *more]
    environment = {**os.environ, "PYTHONPATH": str(TOP), "PYTHONHASHSEED": hash_seed}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_a_print_does_not_spoil_json_and_the_order_of_strings_is_fixed(tmp_path: Path) -> None:
    one, other = run(tmp_path, "1", "--json"), run(tmp_path, "2", "--json", "--reps", "2", "--jobs", "2")
    assert (one.returncode, other.returncode) == (0, 0), one.stderr + other.stderr
    first, both = json.loads(one.stdout), json.loads(other.stdout)
    assert first["digest"] == both["runs"][0]["digest"] != both["runs"][1]["digest"]
    for said in ("imported", "written", "broadcast"):
        assert said in one.stderr
    warning = "warning: messages were broadcast, but none was delivered; nodes must call self.deliver(message)"
    assert one.stderr.splitlines().count(warning) == 1
