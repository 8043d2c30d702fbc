"""Made-up installations of OMNeT++ and INET: the files that are looked at before anything is compiled."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from causeway.toolchain import omnet_find

WHOLE = b"\x7fELF".ljust(64, b"\0")
"""A library without sections."""


def install(root: Path, version: str, built: str = "release") -> Path:
    (root / "bin").mkdir(parents=True)
    for folder, file in (("include", "omnetpp.h"), ("bin", "opp_makemake"), ("lib", "liboppsim.so")):
        (root / folder).mkdir(exist_ok=True)
        (root / folder / file).write_bytes(WHOLE)
    (root / "Version").write_text(f"omnetpp-{version}\n")
    (root / "Makefile.inc").write_text("CXX = sh\n")
    if built:
        (root / "bin" / "opp_run").touch()
        (root / "bin" / f"opp_run_{built}").touch()
    tool = root / "bin" / "opp_configfilepath"
    tool.write_text(f"#!/bin/sh\necho {root}/Makefile.inc\n")
    tool.chmod(0o755)
    return root


DEFINED = "src/inet/common/INETDefs.h"
DEFINES = "#define INET_VERSION        0x{:02x}{:02x}\n#define INET_PATCH_LEVEL    0x{:02x}\n"


def install_inet(root: Path, version: str = "4.5.4", built: str = "libINET.so") -> Path:
    (root / DEFINED).parent.mkdir(parents=True)
    (root / DEFINED).write_text(DEFINES.format(*map(int, version.split("."))))
    (root / omnet_find.INET_HEADER).parent.mkdir()
    (root / omnet_find.INET_HEADER).touch()
    if built:
        (root / "src" / built).write_bytes(WHOLE)
    return root


def library(path: Path, *options: str, source: str = "") -> None:
    file = path.with_suffix(".c")
    file.write_text(source)
    command = ["gcc", "-o", str(path), str(file), *(options if "-pie" in options else ("-shared", *options))]
    if shutil.which("gcc") is None or shutil.which("readelf") is None:
        pytest.skip("no gcc here")
    subprocess.run(command, check=True)
    omnet_find.dynamic_section.cache_clear()
    omnet_find.lacks.cache_clear()
