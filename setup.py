"""What pyproject.toml cannot say: the contract's Python code is generated while the package is built."""

import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

PROTO = Path("proto/causeway.proto")


class BuildWithContract(build_py):
    """Generates proto/causeway_pb2.py, and notes the commit that a checkout is at."""

    def run(self) -> None:
        subprocess.run([sys.executable, "-m", "grpc_tools.protoc", "-I.", "--python_out=.", str(PROTO)], check=True)
        super().run()
        if not self.editable_mode:
            package = Path(self.build_lib) / "causeway"
            (package / "COMMIT").write_text(_commit())
            shutil.copytree("examples", package / "examples", ignore=shutil.ignore_patterns("__pycache__", "results"))


def _commit() -> str:
    told = subprocess.run(["git", "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True, check=False)
    return told.stdout.strip()


setup(cmdclass={"build_py": BuildWithContract})
