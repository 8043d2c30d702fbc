"""Compile the adapters, the C++ modules inside a simulator, into the user's cache folder. Start here: `build`.

An adapter has a separate folder for each simulator, version of Causeway and installation, so that several can be used
side by side. A stamp beside the products contains a digest of the sources. After a change, make compiles the parts that
depend on it. It also identifies the products: one that was replaced by a file from elsewhere is built anew.
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

from causeway.errors import UserError
from causeway.toolchain.installation import SOURCES, VARIABLE, cache_dir, digest_of, version

TOOLS = ("g++", "make", "protoc", "pkg-config")
PACKAGES = ("libzmq", "protobuf")
DEBIAN = "g++ make pkg-config protobuf-compiler libprotobuf-dev libzmq3-dev"
SHARED = ("proto", "bridge/cpp")
"""The sources that all adapters share."""
SUFFIXES = (".cc", ".h", ".ned", ".proto")
LAST_LINES = 12
"""The number of lines of the compiler's output shown in an error."""

Say = Callable[[str], None]


@dataclass(frozen=True)
class Adapter:
    """An adapter for one installed simulator."""

    name: str
    """Its name in messages."""
    simulator: str
    """The simulator and its version, as in the name of the folder."""
    folder: str
    """The folder of its Makefile, below `SOURCES`."""
    products: tuple[str, ...]
    """The files that building makes, below `directory`."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """The variables passed to its Makefile."""
    folders: tuple[str, ...] = ()
    """The folders of its own sources, below `SOURCES`; () for `folder` only."""
    base: Adapter | None = None
    """The adapter that it is linked with; its folder is passed to the Makefile as BASE."""

    @property
    def directory(self) -> Path:
        """The folder in which it is built."""
        text = repr((str(SOURCES), sorted(self.variables.items())))
        which = hashlib.blake2b(text.encode(), digest_size=4).hexdigest()
        return cache_dir() / "adapters" / f"{self.simulator}-causeway-{version()}-{which}"

    def product(self, name: str) -> Path:
        """Return the path of one of the products."""
        return self.directory / name

    def sources(self) -> list[Path]:
        """Return every file that the adapter is compiled from."""
        folders = [SOURCES / folder for folder in (*SHARED, *(self.folders or (self.folder,)))]
        files = [path for folder in folders for path in folder.rglob("*") if path.suffix in SUFFIXES]
        makefiles = [path for folder in folders for path in folder.rglob("Makefile")]
        base = self.base.sources() if self.base is not None else []
        return list(dict.fromkeys([*files, *makefiles, SOURCES / self.folder / "Makefile", *base]))

    def is_built(self) -> bool:
        """Return whether all products are those that were built from the present sources."""
        return self._stamped("stamp") and self._stamp("stamp")[1:] == self.on_disk()

    def replaced(self) -> list[Path]:
        """Return the products that are files from elsewhere."""
        built = dict(zip(self.products, self._stamp("stamp")[1:], strict=False))
        found = dict(zip(self.products, self.on_disk(), strict=True))
        return [self.product(name) for name in built if found[name] not in ("", built[name])]

    def on_disk(self) -> list[str]:
        """Return the folder, size and time of change of each product, which identify it; "" if it does not exist."""
        found = []
        for name in self.products:
            try:
                status = self.product(name).stat()
                found.append(f"{self.directory.name} {status.st_size} {status.st_mtime_ns}")
            except OSError:
                found.append("")
        return found

    def failure(self) -> str | None:
        """Return the reason why the present sources could not be compiled; None if this has not failed so far."""
        if self.base is not None and (why := self.base.failure()):
            return why
        if not self._stamped("failed"):
            return None
        return (
            f"the {self.name} adapter for {self.simulator} does not compile (see {self.directory / 'log'}): use "
            f"another version, or correct the error in that log and run `causeway build`"
        )

    def _stamped(self, name: str) -> bool:
        """Return whether a file in the adapter's folder has the digest of the present sources."""
        return self._stamp(name)[:1] == [digest_of(self.sources(), SOURCES)]

    def _stamp(self, name: str) -> list[str]:
        """Return the lines of a stamp; none if it does not exist."""
        with suppress(OSError):
            return (self.directory / name).read_text().splitlines()
        return []


def missing_tools() -> str | None:
    """Return the tools that are missing to compile an adapter, with the remedy, in one line; None if none is."""
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if "pkg-config" not in missing:
        missing += [p for p in PACKAGES if subprocess.run(["pkg-config", "--exists", p], check=False).returncode != 0]
    return f"to compile an adapter, install {', '.join(missing)}: apt install {DEBIAN}" if missing else None


def build(adapter: Adapter, say: Say = lambda text: None) -> None:
    """Compile the adapter unless it is up to date. Concurrent calls wait for one another.

    Args:
        adapter: The adapter.
        say: Called with the name of each step.

    Raises:
        UserError: A tool is missing, or the compiler failed.
    """
    if adapter.is_built():
        return
    if why := missing_tools():
        raise UserError(why)
    if adapter.base is not None:
        build(adapter.base, say)
    directory = adapter.directory
    if " " in str(directory):
        raise UserError(f"make cannot build in a folder with a space in its name: {directory}; set {VARIABLE}=DIR")
    directory.mkdir(parents=True, exist_ok=True)
    with _locked(directory / "lock"):
        if adapter.is_built():
            return
        for product in adapter.replaced():
            shutil.rmtree(product.parent)  # make would take it for its own: it is newer than the objects
        for name in ("stamp", "failed"):
            (directory / name).unlink(missing_ok=True)
        stamp = digest_of(adapter.sources(), SOURCES)
        try:
            _make(adapter, directory, say)
        except UserError:
            (directory / "failed").write_text(stamp)
            raise
        (directory / "stamp").write_text("\n".join([stamp, *adapter.on_disk()]))


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold a lock that ends with its process."""
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _make(adapter: Adapter, directory: Path, say: Say) -> None:
    base = {"BASE": str(adapter.base.directory)} if adapter.base is not None else {}
    variables = {"BUILD": str(directory), "PYTHON": sys.executable, **base, **adapter.variables}
    command = ["make", "-j2", "-C", str(SOURCES / adapter.folder), *(f"{k}={v}" for k, v in variables.items())]
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
        raise UserError(f"the {adapter.name} adapter does not compile; see {directory / 'log'}; it ends with\n{shown}")
    for product in adapter.products:
        if not adapter.product(product).exists():
            raise UserError(f"the {adapter.name} adapter was compiled without {product}; see {directory / 'log'}")


def _step(line: str) -> str:
    """Return the file that a compiler's command line compiles, or else the start of the line."""
    source = next((word for word in line.split() if word.endswith(".cc")), "")
    return Path(source).name if source else line.strip()[:60]
