"""`causeway doctor`: check the software on this machine, or a result folder."""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from causeway.bridge import engines
from causeway.errors import UserError
from causeway.network.networks import InetNetwork
from causeway.network.workload import Workload
from causeway.toolchain.adapters import missing_tools
from causeway.toolchain.installation import other_distribution
from causeway.toolchain.installation import version as version_of_causeway


@dataclass(frozen=True)
class Check:
    """One row of the doctor's table."""

    what: str
    found: str
    ok: bool
    advice: str = ""


def show_machine(console: Console) -> None:
    """Print a table of the software that Causeway uses, with versions and advice."""
    table = Table("", "what", "found", "what to do")
    for check in checks():
        mark = Text("ok", "green") if check.ok else Text("--", "yellow")
        table.add_row(mark, *map(Text, (check.what, check.found, check.advice)))
    console.print(table)


def check_folder(directory: Path, repair: bool, console: Console) -> int:
    """Print the problems of a result folder, and repair them if `repair` is set. Return the exit status."""
    from causeway.analysis import health, versions

    if not directory.is_dir():
        raise UserError(f"no result folder {directory}")
    if not (directory / "tables").is_dir():
        raise UserError(f"{directory} is not a result folder: it has no tables/; name the folder of `run --out`")
    count = 0
    for count, problem in enumerate(health.problems(directory), 1):  # noqa: B007
        done = f": {problem.repair()}" if repair else f"; {problem.advice}"
        console.print(f"{problem.what}{done}", highlight=False, markup=False, soft_wrap=True)
    with suppress(UserError):  # files that cannot be read are reported above
        for line in versions.mixed_versions(directory):
            console.print(f"{directory}: {line}; reports separate them", highlight=False, markup=False, soft_wrap=True)
    left = sum(1 for _ in health.problems(directory)) if repair and count else count
    found = f"{health.finished(directory)} finished runs, {count} problems" + (f", {left} left" if repair else "")
    advice = "" if repair or not count else f"; `causeway doctor {directory} --repair` repairs them"
    console.print(f"{directory}: {found}{advice}", highlight=False, markup=False, soft_wrap=True)
    return 1 if left else 0


def checks() -> Iterator[Check]:
    """Yield a check for each piece of software that Causeway can use, in the order in which a newcomer needs them."""
    advice = other_distribution()
    yield Check("Causeway", version_of_causeway(), not advice, advice)
    yield Check("Python", platform.python_version(), True)
    yield _java()
    for package in ("numpy", "numba", "pyarrow", "deltalake", "pyspark", "pyzmq", "protobuf"):
        yield _package(package)
    yield _tool("g++", "build of the adapters", "apt install g++")
    yield _tool("protoc", "build of the adapters", "apt install protobuf-compiler libprotobuf-dev libzmq3-dev")
    yield from _omnetpp()
    for name in engines.ENGINES:
        yield _engine(name)


def _java() -> Check:
    advice = "Spark (report, --spark) needs Java 17 or newer: apt install openjdk-17-jre-headless"
    if shutil.which("java") is None:
        return Check("Java", "not found", False, advice)
    text = subprocess.run(["java", "-version"], capture_output=True, text=True).stderr
    match = re.search(r'version "(\d+)([^"]*)"', text)
    if match is None:
        return Check("Java", text.splitlines()[0] if text else "unknown", False, advice)
    return Check("Java", match[1] + match[2], int(match[1]) >= 17, "" if int(match[1]) >= 17 else advice)


def _package(name: str) -> Check:
    try:
        return Check(name, version(name), True)
    except PackageNotFoundError:
        return Check(name, "not found", False, f"pip install {name}")


def _tool(name: str, what_for: str, advice: str) -> Check:
    path = shutil.which(name)
    return Check(name, path or "not found", path is not None, "" if path else f"{what_for}: {advice}")


def _omnetpp() -> Iterator[Check]:
    from causeway.bridge.engines.omnet import adapter_of, inet_adapter_of
    from causeway.toolchain.omnet_find import HOW_TO_GET_IT, find_omnetpp, installed

    used, every = find_omnetpp(), list(installed())
    if not any(one.what == "OMNeT++" for one in every):
        yield Check("OMNeT++", "not found", False, HOW_TO_GET_IT)
        return
    for one in every:
        place = f"{one.version} in {one.root}"
        if one.pair is None or one.refusal:
            yield Check(one.what, f"{place}: refused", False, one.refusal or "")
            continue
        is_inet = one.what == "INET"
        adapter = inet_adapter_of(one.pair) if is_inet else adapter_of(one.pair)
        beside = f" with OMNeT++ {one.pair.version}" if is_inet else ""
        is_used = used is not None and one.root in (used.root, used.inet_root) and one.pair.root == used.root
        why = None if adapter.is_built() else missing_tools() or adapter.failure()
        state = "works" if adapter.is_built() else "refused" if why else "builds"
        yield Check(one.what, f"{place}{beside}: {state}{', used' if is_used else ''}", why is None, why or "")
    if not any(one.what == "INET" for one in every) and used is not None:
        from causeway.bridge.engines.omnet_inet import missing_inet

        yield Check("INET", "not found", False, missing_inet(used) or "")


def _engine(name: str) -> Check:
    try:
        engine = engines.get(name)
        why = engine.missing()
        partly = [text for text in map(engine.missing, _SAMPLES.get(name, ())) if text] if why is None else []
    except ImportError as error:
        why, partly = str(error), []
    if partly:
        return Check(f"engine {name}", "ready for abstract networks only", True, partly[0])
    return Check(f"engine {name}", "ready" if why is None else "not ready", why is None, why or "")


_SAMPLES = {"omnet": (InetNetwork(1, ini="", workload=Workload(1)),)}
"""Example networks: each needs a different part of an engine."""
