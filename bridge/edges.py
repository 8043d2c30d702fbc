"""Compiles the edges: the C++ modules that live inside a simulator, into the user's cache folder.

An edge has a folder of its own for each simulator, each version of Causeway and each installation, so that several live
side by side. Beside what was built lies a stamp that says from which sources: a changed source is seen, and make
compiles what it touches.
"""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from causeway.bridge.errors import UserError
from causeway.bridge.places import SOURCES, VARIABLE, cache_dir, digest_of, version

TOOLS = ("g++", "make", "protoc", "pkg-config")
PACKAGES = ("libzmq", "protobuf")
DEBIAN = "g++ make pkg-config protobuf-compiler libprotobuf-dev libzmq3-dev"
SHARED = ("proto", "bridge/cpp")
"""What every edge is built from besides its own folder."""
SUFFIXES = (".cc", ".h", ".ned", ".proto")
LAST_LINES = 12
"""Of the compiler's output, where it fails."""

Say = Callable[[str], None]


@dataclass(frozen=True)
class Edge:
    """An edge for one installed simulator."""

    name: str
    simulator: str
    """The simulator and its version, as in the name of the folder."""
    folder: str
    """The edge's sources, below `SOURCES`."""
    products: tuple[str, ...]
    """What is there once it is built, below `directory`."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """What its Makefile is told."""

    @property
    def directory(self) -> Path:
        """Where it is built."""
        text = repr((str(SOURCES), sorted(self.variables.items())))
        which = hashlib.blake2b(text.encode(), digest_size=4).hexdigest()
        return cache_dir() / "edges" / f"{self.simulator}-causeway-{version()}-{which}"

    def product(self, name: str) -> Path:
        """One of the products."""
        return self.directory / name

    def sources(self) -> list[Path]:
        """Every file that the edge is compiled from."""
        folders = [SOURCES / folder for folder in (*SHARED, self.folder)]
        files = [path for folder in folders for path in folder.rglob("*") if path.suffix in SUFFIXES]
        return files + [path for folder in folders for path in folder.rglob("Makefile")]

    def is_built(self) -> bool:
        """Whether all products are there and come from the sources as they are now."""
        with suppress(OSError):
            stamp = (self.directory / "stamp").read_text()
            return stamp == digest_of(self.sources(), SOURCES) and all(self.product(p).exists() for p in self.products)
        return False


def missing_tools() -> str | None:
    """What is missing to compile an edge, and how to get it, in one line; None if all is here."""
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if "pkg-config" not in missing:
        missing += [p for p in PACKAGES if subprocess.run(["pkg-config", "--exists", p], check=False).returncode != 0]
    return f"to compile an edge, {', '.join(missing)} must be here: apt install {DEBIAN}" if missing else None


def build(edge: Edge, say: Say = lambda text: None) -> None:
    """Compiles the edge unless that is done. `say` is told each step. Two processes do not do it twice."""
    if edge.is_built():
        return
    if why := missing_tools():
        raise UserError(why)
    directory = edge.directory
    if " " in str(directory):
        raise UserError(f"make cannot build in a folder with a space in its name: {directory}; say {VARIABLE}=DIR")
    directory.mkdir(parents=True, exist_ok=True)
    with _only_one(directory / "lock"):
        if edge.is_built():
            return
        (directory / "stamp").unlink(missing_ok=True)
        stamp = digest_of(edge.sources(), SOURCES)
        _make(edge, directory, say)
        (directory / "stamp").write_text(stamp)


@contextmanager
def _only_one(path: Path) -> Iterator[None]:
    """A lock that dies with its owner."""
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _make(edge: Edge, directory: Path, say: Say) -> None:
    variables = {"BUILD": str(directory), "PYTHON": sys.executable, **edge.variables}
    command = ["make", "-j2", "-C", str(SOURCES / edge.folder), *(f"{k}={v}" for k, v in variables.items())]
    lines: deque[str] = deque(maxlen=LAST_LINES)
    with (directory / "log").open("w") as log, subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as make:  # fmt: skip
        assert make.stdout is not None
        for line in make.stdout:
            log.write(line)
            lines.append(line.rstrip())
            say(_step(line))
    if make.returncode != 0:
        shown = "\n".join(f"    {line}" for line in lines)
        raise UserError(f"the {edge.name} edge does not compile; the whole output is in {directory / 'log'}\n{shown}")
    for product in edge.products:
        if not edge.product(product).exists():
            raise UserError(f"the {edge.name} edge was compiled without {product}; see {directory / 'log'}")


def _step(line: str) -> str:
    """What make is at, in a word: the file in a compiler's command line, else the line."""
    source = next((word for word in line.split() if word.endswith(".cc")), "")
    return Path(source).name if source else line.strip()[:60]
