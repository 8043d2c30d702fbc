"""The part of the build that pyproject.toml cannot express: it generates the Python code of the contract."""

import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithContract(build_py):
    """Generates proto/causeway_pb2.py, and records the commit of the checkout."""

    def run(self) -> None:
        """Generate the code, build, and add the commit and the examples to a wheel."""
        subprocess.run([sys.executable, "proto/generate.py"], check=True)
        super().run()
        if not self.editable_mode:
            package = Path(self.build_lib) / "causeway"
            (package / "COMMIT").write_text(_commit())
            shutil.copytree("examples", package / "examples", ignore=shutil.ignore_patterns("__pycache__", "results"))


def _commit() -> str:
    head = subprocess.run(["git", "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True, check=False)
    return head.stdout.strip()


setup(cmdclass={"build_py": BuildWithContract})
