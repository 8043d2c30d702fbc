"""Find ns-3: NS3_ROOT, else the package of PyPI, else `ns3` on PATH or the pkg-config files of an installation.

NS3_ROOT is the package's folder, a source tree in which `./ns3 build` was run, or the prefix of an installation.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

VERSIONS = ("3.44", "3.45", "3.46", "3.47", "3.48")
"""The versions of ns-3 for which the adapter is written."""
HOW_TO_GET_IT = "no ns-3 found: pip install --no-deps ns3==3.44.post0 (or set NS3_ROOT=...)"
LIBRARY = re.compile(
    r"libns(3[.\d]*\d|3-dev|3)-core(?:-(default|debug|release|optimized|minsizerel|relwithdebinfo))?\.so"
)
ASSERTING = ("default", "debug", "relwithdebinfo")
"""The build profiles in which ns-3 has logging and assertions. The layout of its classes depends on these."""
LIB_FOLDERS = ("lib", "lib64", "lib/x86_64-linux-gnu")


@dataclass(frozen=True)
class Ns3:
    """A built ns-3."""

    root: Path
    include: Path
    """The folder that contains the folder `ns3` of headers."""
    lib: Path
    version: str
    prefix: str
    """The libraries' names without the module and the profile: ns3.44."""
    suffix: str
    """The profile in the libraries' names: "-default", or ""."""
    asserts: bool

    @property
    def text(self) -> str:
        """The version for result tables."""
        numbers = re.match(r"[\d.]*\d", self.version)
        return f"ns-{numbers[0] if numbers else self.version}"

    @property
    def refusal(self) -> str | None:
        """The reason why it cannot be used, and the remedy."""
        if minor_of(self.version) in VERSIONS:
            return None
        how = "newer" if _numbers(self.version) > _numbers(VERSIONS[-1]) else "older"
        return (
            f"ns-3 {self.version} in {self.root} is {how} than the versions that the adapter supports ({VERSIONS[0]} "
            f"to "
            f"{VERSIONS[-1]}): set NS3_ROOT to one of these, or pip install --no-deps ns3==3.44.post0"
        )

    @property
    def variables(self) -> dict[str, str]:
        """The variables for the adapter's Makefile."""
        defines = "-DNS3_LOG_ENABLE -DNS3_ASSERT_ENABLE" if self.asserts else ""
        return {
            "NS3_INCLUDE": str(self.include), "NS3_LIB": str(self.lib), "NS3_PREFIX": self.prefix,
            "NS3_SUFFIX": self.suffix, "NS3_DEFINES": defines,
        }  # fmt: skip


def find_ns3() -> Ns3 | None:
    """Return the ns-3 to use, even if it is refused; None if there is none."""
    if root := os.environ.get("NS3_ROOT"):
        return _built_in(Path(root))
    found = [ns3 for root in _roots() if (ns3 := _built_in(root)) is not None]
    return next((ns3 for ns3 in found if ns3.refusal is None), found[0] if found else None)


def missing_ns3() -> str | None:
    """Return the reason why no ns-3 can be used, and the remedy, in one line; None if one can be used."""
    found = find_ns3()
    if found is not None:
        return found.refusal
    if root := os.environ.get("NS3_ROOT"):
        return (
            f"NS3_ROOT={root} has no built ns-3 (include/ns3 and lib, or build/include/ns3 and build/lib): run ./ns3 "
            f"configure && ./ns3 build there, or choose another folder"
        )
    return HOW_TO_GET_IT


def _roots() -> Iterator[Path]:
    yield Path(sysconfig.get_paths()["platlib"]) / "ns3"
    if tool := shutil.which("ns3"):
        yield Path(tool).resolve().parent
    if shutil.which("pkg-config"):
        command = ["pkg-config", "--variable=libdir", "ns3-core"]
        folder = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
        if folder:
            yield next((up for up in Path(folder).parents if (up / "include" / "ns3").is_dir()), Path(folder).parent)


def _built_in(root: Path) -> Ns3 | None:
    """Return the ns-3 that is built in a source tree, or installed below a folder."""
    for base in (root, root / "build"):
        for name in LIB_FOLDERS:
            for file in sorted((base / name).glob("libns3*-core*.so")):
                if (match := LIBRARY.fullmatch(file.name)) and (base / "include" / "ns3").is_dir():
                    return _described(root, base, file.parent, f"ns{match[1]}", match[2] or "")
    return None


def _described(root: Path, base: Path, lib: Path, prefix: str, profile: str) -> Ns3:
    of_package = base == Path(sysconfig.get_paths()["platlib"]) / "ns3"
    suffix = f"-{profile}" if profile else ""
    return Ns3(
        root, base / "include", lib, _version(root, of_package, prefix.removeprefix("ns")), prefix, suffix,
        of_package or profile in ASSERTING,
    )  # fmt: skip


def _version(root: Path, of_package: bool, in_name: str) -> str:
    if of_package:
        try:
            return version("ns3")
        except PackageNotFoundError:
            return in_name
    file = root / "VERSION"
    return file.read_text().strip() if file.is_file() and in_name in ("3", "3-dev") else in_name


def minor_of(text: str) -> str:
    """Return the first two numbers of a version: 3.46 of 3.46.1."""
    return ".".join(map(str, _numbers(text)[:2]))


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(n) for n in re.findall(r"\d+", text))
