"""Find OMNeT++ and INET, or the reasons why they cannot be used. Start here: `find_omnetpp`, `installed`.

OMNETPP_ROOT and INET_ROOT (or `--omnetpp` and `--inet`) choose. Without them, an OMNeT++ on PATH is used (a shell in
which its `setenv` was sourced, or one of opp_env), else the newest beside INET_ROOT, in an opp_env workspace around the
present folder, in the home folder or in /opt, preferably one with an INET that fits. An INET fits the OMNeT++ that it
was built with.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from struct import Struct

OLDEST = (6, 0)
"""The oldest OMNeT++ for which the adapters are written. A later first number is refused, too."""
PARTS = ("Makefile.inc", "include/omnetpp.h", "lib/liboppsim.so", "bin/opp_makemake")
"""The files of an OMNeT++ with which the adapters are built."""
INET_HEADER = "src/inet/common/packet/Packet_m.h"
"""A header of INET that its own build writes: if it exists, the others do."""
INETS = {"4.5": "6.0", "4.6": "6.2", "4.7": "6.4"}
"""The versions of INET for which the adapter is written, and the oldest OMNeT++ with which each can be built."""
HOW_TO_GET_IT = (
    "no OMNeT++ found: install OMNeT++ 6.1 or newer (omnetpp.org), build it (MODE=release), put its bin directory on "
    "PATH or set OMNETPP_ROOT=..."
)
ELF_HEADER = Struct("<40xQ10xHH2x")
"""The header of a 64-bit ELF file: the offset of the table of sections, the size of an entry, their number."""
OPP_ENV = ".opp_env_workspace"
"""The folder that marks a workspace of opp_env."""


@dataclass(frozen=True)
class Found:
    """An OMNeT++ that can be used, and the INET that is used with it."""

    root: Path
    version: str
    inet_root: Path | None
    """The INET, even if it cannot be used; None if there is none."""
    inet_version: str | None
    inet_refusal: str | None = None
    """The reason why the INET cannot be used, and the remedy."""

    @property
    def opp_run(self) -> Path:
        """The program that runs simulations."""
        return opp_run_of(self.root)

    @property
    def folders(self) -> tuple[Path, Path | None]:
        """The folders of OMNeT++ and INET, which distinguish two pairs."""
        return self.root.resolve(), self.inet_root.resolve() if self.inet_root is not None else None

    @property
    def has_inet(self) -> bool:
        """True if there is an INET that can be used."""
        return self.inet_root is not None and self.inet_refusal is None

    @property
    def omnetpp_text(self) -> str:
        """The version for result tables, for networks that do not use INET."""
        return f"OMNeT++ {self.version}"

    @property
    def text(self) -> str:
        """The versions for users and result tables."""
        return self.omnetpp_text + (f", INET {self.inet_version}" if self.has_inet else "")


@dataclass(frozen=True)
class Installed:
    """An OMNeT++ or INET on this machine."""

    what: str
    version: str
    root: Path
    refusal: str | None
    """The reason why it cannot be used, and the remedy."""
    pair: Found | None = None
    """The pair of OMNeT++ and INET, or the OMNeT++, in which it is used."""


def find_omnetpp() -> Found | None:
    """Return the OMNeT++ to use; None if none can be used."""
    if root := os.environ.get("OMNETPP_ROOT"):
        return None if omnetpp_refusal(Path(root)) else pair_of(Path(root))
    for here in _on_path():
        if omnetpp_refusal(here) is None:
            return pair_of(here)
    pairs = [pair_of(one) for one in _usual_places() if omnetpp_refusal(one) is None]
    return next((pair for pair in pairs if pair.has_inet), pairs[0] if pairs else None)


def missing_omnetpp() -> str:
    """Return the reason why no OMNeT++ can be used, and the remedy, in one line."""
    if root := os.environ.get("OMNETPP_ROOT"):
        return f"OMNETPP_ROOT={root}: {omnetpp_refusal(Path(root))}"
    refused = (omnetpp_refusal(root) for root in (*_on_path(), *_usual_places()))
    return next((why for why in refused if why), HOW_TO_GET_IT)


def pair_of(root: Path) -> Found:
    """Return an OMNeT++ with the INET that is used with it: INET_ROOT, else the newest that fits."""
    version = version_of(root) or ""
    if chosen := os.environ.get("INET_ROOT"):
        return _pair(root, version, Path(chosen))
    pairs = [_pair(root, version, inet) for inet in _inets(root)]
    built = [pair for pair in pairs if pair.inet_root is not None and (pair.inet_root / "src" / "libINET.so").exists()]
    fitting = (pair for pair in pairs if pair.has_inet)
    return next(fitting, None) or next(iter([*built, *pairs]), Found(root, version, None, None))


def _pair(root: Path, version: str, inet: Path) -> Found:
    return Found(root, version, inet, version_of(inet), inet_refusal(inet, root, version))


def installed() -> Iterator[Installed]:
    """Yield every OMNeT++ and INET that is found, including those that cannot be used."""
    named = os.environ.get("OMNETPP_ROOT")
    roots = _without_duplicates([*([Path(named)] if named else []), *_on_path(), *_usual_places()])
    pairs = []
    for root in roots:
        if (refusal := omnetpp_refusal(root)) is None:
            pairs.append(pair_of(root))
        yield Installed("OMNeT++", version_of(root) or "?", root, refusal, None if refusal else pairs[-1])
    chosen = os.environ.get("INET_ROOT")
    for inet in _without_duplicates(
        [*([Path(chosen)] if chosen else []), *(i for root in roots for i in _inets(root))]
    ):
        yield _installed_inet(inet, pairs)


def pairs() -> list[Found]:
    """Return every pair of OMNeT++ and INET that can be used. The pair that is used by default comes first."""
    found = [one.pair for one in installed() if one.what == "INET" and one.pair is not None]
    used = find_omnetpp()
    return sorted(found, key=lambda pair: used is None or pair.folders != used.folders)


def _without_duplicates(folders: list[Path]) -> list[Path]:
    """Return the folders without duplicates. Of several paths of one folder, the first is kept."""
    found: dict[Path, Path] = {}
    for folder in folders:
        found.setdefault(folder.resolve(), folder)
    return list(found.values())


def _installed_inet(inet: Path, pairs: list[Found]) -> Installed:
    tried = [_pair(pair.root, pair.version, inet) for pair in pairs]
    fits = next((pair for pair in tried if pair.has_inet), None)
    refusal = None if fits else tried[0].inet_refusal if tried else "no OMNeT++ is found to use it with"
    return Installed("INET", version_of(inet) or "?", inet, refusal, fits)


# ---- refusals -------------------------------------------------------------------------------------------------------


def omnetpp_refusal(root: Path) -> str | None:
    """Return the reason why an OMNeT++ cannot be used, and the remedy, in one line; None if it can be used."""
    version = version_of(root) if (root / "Makefile.inc").exists() or (root / "Version").exists() else None
    if version is None:
        return f"{root} is not an OMNeT++: it has no file Version; choose the folder that contains bin/ and Version"
    if _numbers(version) < OLDEST:
        return f"OMNeT++ {version} in {root} is too old: install 6.1 or newer (omnetpp.org), or choose another one"
    if _numbers(version)[0] > OLDEST[0]:
        return (
            f"OMNeT++ {version} in {root} is newer than the versions that the adapter supports ({OLDEST[0]}.x): "
            f"install OMNeT++ {OLDEST[0]}.x beside it, and set OMNETPP_ROOT=..."
        )
    return _unbuilt(root, version) or _compiler_refusal(root, version)


def _unbuilt(root: Path, version: str) -> str | None:
    """Return the reason why the programs or libraries of an OMNeT++ cannot be used, and the remedy, or None."""
    name = f"OMNeT++ {version} in {root}"
    enter = f"cd {root} && . ./setenv &&"
    debug = (root / "bin" / "opp_run_dbg").exists()
    if not (root / "bin" / "opp_run_release").exists() and (debug or not (root / "bin" / "opp_run").exists()):
        return f"{name} is {'built only in debug mode' if debug else 'not built'}: {enter} make MODE=release"
    for part in PARTS:
        if not (root / part).exists():
            return (
                f"{name} has no {part}: choose the folder in which OMNeT++ was built, or build it there: {enter} "
                "./configure && make MODE=release"
            )
    if not is_whole(root / "lib" / "liboppsim.so"):
        return f"{name} has an incomplete lib/liboppsim.so: {enter} make clean && make MODE=release"
    if lacking := lacks(opp_run_of(root)):
        return (
            f"{name} needs {lacking}, which this machine lacks: install it, or {enter} make clean && make MODE=release"
        )
    return None


def is_whole(library: Path) -> bool:
    """Return whether a library is an ELF file with all its sections, the last part of the file."""
    with library.open("rb") as file:
        header = file.read(ELF_HEADER.size)
    if len(header) < ELF_HEADER.size or not header.startswith(b"\x7fELF"):
        return False
    offset, size, count = ELF_HEADER.unpack(header)
    return library.stat().st_size >= offset + size * count


def _compiler_refusal(root: Path, version: str) -> str | None:
    compiler = compiler_of(root)
    if any(shutil.which(word) is None for word in compiler.split() if not word.startswith("-")):
        return (
            f"OMNeT++ {version} in {root} was configured for the compiler {compiler}, which is not on PATH: install "
            "it, or configure and build OMNeT++ again with PREFER_CLANG=no"
        )
    return None


def inet_refusal(inet: Path, root: Path, omnetpp: str) -> str | None:
    """Return the reason why an INET cannot be used with an OMNeT++, and the remedy; None if it can be used."""
    version = version_of(inet)
    name = f"INET {version or '?'} in {inet}"
    if not (inet / "src" / "libINET.so").exists():
        if (inet / "src" / "libINET_dbg.so").exists():
            return f"{name} is built only in debug mode: build it with make MODE=release, too"
        prefix = "INET_ROOT=" if os.environ.get("INET_ROOT") == str(inet) else ""
        other = "; unset INET_ROOT to search the usual places, or choose another folder"
        if not prefix:
            other = ": build it with make makefiles && make MODE=release"
        return f"{prefix}{inet} is not a built INET (it has no src/libINET.so){other}"
    if not is_whole(inet / "src" / "libINET.so"):
        return f"{name} has an incomplete src/libINET.so: build it again with make clean && make MODE=release"
    if not (inet / INET_HEADER).exists():
        return (
            f"{name} has no {INET_HEADER}, and the adapter is compiled with INET's headers: choose the folder in which "
            "INET was built, or build it there with make makefiles && make MODE=release"
        )
    known = minor_of(version or "")
    if known not in INETS:
        how = "newer" if _numbers(version or "") > _numbers(max(INETS, key=_numbers)) else "older"
        return (
            f"{name} is {how} than the versions that the adapter supports ({', '.join(INETS)}): build INET "
            f"{fitting_inet(omnetpp)} beside OMNeT++ {omnetpp}, or set INET_ROOT=..."
        )
    needed = INETS[known]
    if _numbers(omnetpp)[:2] < _numbers(needed):
        return (
            f"{name} needs OMNeT++ {needed} or newer, not {omnetpp} (in {root}): set OMNETPP_ROOT to one, or build "
            f"INET {fitting_inet(omnetpp)} beside it"
        )
    return _built_otherwise(name, inet, root)


def _built_otherwise(name: str, inet: Path, root: Path) -> str | None:
    """Return the reason why the library of an INET cannot be used with an OMNeT++ and the adapter's compiler."""
    made = dynamic_section(inet / "src" / "libINET.so")
    if "[libc++.so" in made:
        return (
            f"{name} was built with the library libc++, the adapter is built with libstdc++: build INET again with "
            "g++, or with clang++ without -stdlib=libc++"
        )
    paths = {entry.parent for entry in runpath_of(inet / "src" / "libINET.so")}
    others = [path for path in sorted(paths) if (path / "Version").exists() and version_of(path)]
    if others and not any(other.resolve() == root.resolve() for other in others if (other / "Makefile.inc").exists()):
        return f"{name} was built with the OMNeT++ in {others[0]}, not with {root}: set OMNETPP_ROOT={others[0]}"
    if lacking := lacks(opp_run_of(root), inet / "src" / "libINET.so"):
        return (
            f"{name} needs {lacking}, which this machine lacks (INET was built on another one, or with a newer "
            "compiler): install it, or build INET again here: make cleanall && make makefiles && make MODE=release"
        )
    return None


@cache
def dynamic_section(library: Path) -> str:
    """Return the dynamic section of a library as readelf prints it; "" if readelf fails."""
    if shutil.which("readelf") is None:
        return ""
    command = ["readelf", "-d", str(library)]
    return subprocess.run(command, capture_output=True, text=True, errors="replace", check=False).stdout


def runpath_of(library: Path) -> list[Path]:
    """Return the folders in which a library looks for the libraries that it was linked with."""
    runs = re.findall(r"runpath: \[(.*?)\]", dynamic_section(library))
    return [Path(entry) for run in runs for entry in run.split(":")]


@cache
def lacks(program: Path, library: Path | None = None) -> str:
    """Return a library, or a version of one, that a program (and a library in it) needs and does not find; or ""."""
    trace = {"LD_TRACE_LOADED_OBJECTS": "1", **({"LD_PRELOAD": str(library)} if library is not None else {})}
    try:  # ld.so lists the libraries and executes nothing
        done = subprocess.run(
            [str(program)], env={**os.environ, **trace}, capture_output=True, text=True, errors="replace", check=False
        )
    except OSError:
        return ""
    found = re.search(r"(\S+) => not found|version `(\S+)' not found", done.stdout + done.stderr)
    return (found[1] or found[2]) if found else ""


def fitting_inet(omnetpp: str) -> str:
    """Return the newest version of INET that the adapter supports and that an OMNeT++ can build."""
    return [inet for inet, needed in INETS.items() if _numbers(needed) <= _numbers(omnetpp)][-1]


# ---- places ---------------------------------------------------------------------------------------------------------


def _on_path() -> Iterator[Path]:
    """Yield the OMNeT++ of this shell: on PATH, or of a sourced setenv."""
    if tool := shutil.which("opp_configfilepath"):
        config = subprocess.run([tool], capture_output=True, text=True, check=False).stdout.strip()
        if config:
            yield Path(config).resolve().parent
    elif root := os.environ.get("__omnetpp_root_dir"):  # noqa: SIM112
        yield Path(root)


def _usual_places() -> Iterator[Path]:
    inet = os.environ.get("INET_ROOT")
    for parent in (*([Path(inet).resolve().parent] if inet else []), *_workspace(), Path.home(), Path("/opt")):
        yield from newest_first(parent, "omnetpp*")


def _workspace() -> Iterator[Path]:
    """Yield the workspace of opp_env around the present folder, if there is one."""
    here = Path.cwd()
    yield from [folder for folder in (here, *here.parents) if (folder / OPP_ENV).is_dir()][:1]


def _inets(omnetpp_root: Path) -> list[Path]:
    """Return the folders named inet* in which one for an OMNeT++ may be, nearest and newest first."""
    parents = [omnetpp_root.parent, omnetpp_root / "samples", *_workspace(), Path.home(), Path("/opt")]
    return list(
        dict.fromkeys(root for parent in parents for root in newest_first(parent, "inet*") if (root / "src").is_dir())
    )


def newest_first(parent: Path, pattern: str) -> list[Path]:
    """Return the folders in a folder whose names match a pattern, by the numbers in their names."""
    try:
        return sorted((p for p in parent.glob(pattern) if p.is_dir()), key=lambda p: _numbers(p.name), reverse=True)
    except OSError:
        return []


# ---- versions -------------------------------------------------------------------------------------------------------


def opp_run_of(root: Path) -> Path:
    """Return the program of an OMNeT++ that runs simulations."""
    release = root / "bin" / "opp_run_release"
    return release if release.exists() else root / "bin" / "opp_run"


def minor_of(version: str) -> str:
    """Return the first two numbers of a version: 4.5 of 4.5.4."""
    return ".".join(map(str, _numbers(version)[:2]))


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(n) for n in re.findall(r"\d+", text))


def version_of(root: Path) -> str | None:
    """Return the version in OMNeT++'s file Version or in INET's sources, else the version in the folder's name."""
    for file, pattern in (
        ("Version", r"(?:omnetpp-|inet-)?(\S+)"),
        ("src/inet/common/INETDefs.h", r"INET_VERSION +0x(\d\d)(\d\d)\n#define +INET_PATCH_LEVEL +0x(\d\d)"),
        ("WHATSNEW", r"\bINET-(\d[\d.]*)"),
    ):
        path = root / file
        if path.is_file() and (match := re.search(pattern, path.read_text(errors="replace"))):
            numbers = match.groups()
            return numbers[0] if len(numbers) == 1 else ".".join(str(int(number, 16)) for number in numbers)
    return root.name.removeprefix("omnetpp-").removeprefix("inet-") if _numbers(root.name) else None


@cache
def compiler_of(root: Path) -> str:
    """Return the C++ compiler for which an OMNeT++ is configured; "" if its Makefile.inc does not contain it."""
    with_compiler = root / "Makefile.inc"
    text = with_compiler.read_text(errors="replace") if with_compiler.is_file() else ""
    match = re.search(r"^CXX *= *(.+?) *$", text, re.MULTILINE)
    return match[1] if match else ""
