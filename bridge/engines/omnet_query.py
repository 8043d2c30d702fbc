"""Ask OMNeT++ about a user's ini file: the runs of a configuration (`opp_run -q`), and the nodes of its network."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from causeway.bridge.engine import RunSpec
from causeway.bridge.engines.omnet import INET_LIBRARY, LIBRARY, command, inet_adapter_of, launch_of, loadable
from causeway.bridge.engines.omnet_inet import missing_inet
from causeway.errors import UserError
from causeway.network.networks import InetNetwork
from causeway.toolchain.adapters import build
from causeway.toolchain.omnet_find import Found, find_omnetpp, missing_omnetpp

QUERY_S = 120.0
"""A time that is much longer than opp_run needs to list runs, or to build a network."""
BUILDS = ("ini", "config", "ned_path", "libs", "set")
"""The options of a run that determine how the network is built."""
COUNTED = re.compile(r"causeway: the network has (\d+) nodes")
RUN = re.compile(r"Run (\d+): (.*)")
VARIABLE = re.compile(r"\$(\w+)=(.*?)(?=, \$\w+=|$)")
"""`$range=150m`; OMNeT++ numbers unnamed variables: `$0=100`. It has substituted any `$name` in a value."""
MISREAD_NAME = re.compile(r"\s*([A-Za-z]\w*)\s*=(?!=)\s*")
"""An assignment to a name with an underscore, which OMNeT++ before 6.2 parses as the beginning of the first value."""
SEED_SET = re.compile(r"\tseed-set = (\d+)\s*$")


@dataclass(frozen=True)
class IniRun:
    """One run of a configuration."""

    number: int
    variables: Mapping[str, str]
    """The iteration variables, without the repetition."""
    seed: int
    """Its seed-set."""


def runs_of(ini: Path, config: str) -> list[IniRun]:
    """Return all runs of a configuration, in order.

    Raises:
        UserError: OMNeT++, INET or the ini file is missing, opp_run fails, or OMNeT++ rejects the name of a variable.
    """
    if not ini.is_file():
        raise UserError(f"there is no ini file {ini}")
    found = find_omnetpp()
    if found is None or (why := missing_inet(found)):
        raise UserError(f"{ini} cannot be run here: {missing_omnetpp() if found is None else why}")
    build(inet_adapter_of(found))
    runs = read_runs(_query_runs(found, ini, config))
    _check_names(runs, ini, config)
    if not runs:
        raise UserError(f"configuration {config} of {ini} has no runs: its constraint excludes all combinations")
    return runs


def _check_names(runs: list[IniRun], ini: Path, config: str) -> None:
    """Refuse a variable with an underscore in its name, which OMNeT++ before 6.2 does not recognize."""
    for run in runs:
        for name, value in run.variables.items():
            if name.isdecimal() and (meant := MISREAD_NAME.match(value)):
                raise UserError(
                    f"configuration {config} of {ini} iterates over ${{{meant[1]} = ...}}, which has no name for "
                    f"OMNeT++: names have letters and digits only, so the value itself is '{value}'; write "
                    f"${{{meant[1].replace('_', '')} = ...}}, which also sets a parameter {meant[1]} of the study"
                )


def read_runs(text: str) -> list[IniRun]:
    """Parse the output of `opp_run -q runconfig`. If a key occurs twice, the first one counts, as in OMNeT++."""
    runs: list[IniRun] = []
    seeds: dict[int, int] = {}
    for line in text.splitlines():
        if match := RUN.fullmatch(line):
            variables = dict(VARIABLE.findall(match[2]))
            variables.pop("repetition", None)
            runs.append(IniRun(int(match[1]), variables, int(match[1])))
        elif runs and (match := SEED_SET.fullmatch(line)):
            seeds.setdefault(runs[-1].number, int(match[1]))
    return [IniRun(run.number, run.variables, seeds.get(run.number, run.number)) for run in runs]


def count_nodes(spec: RunSpec) -> int:
    """Return the number of nodes in a user's INET network. The network is built, and ended before its first event.

    Raises:
        UserError: OMNeT++ or INET is missing, the network cannot be built, or it has no nodes.
    """
    ini = Path(spec.network.ini) if isinstance(spec.network, InetNetwork) else Path()
    found = find_omnetpp()
    if found is None or (why := missing_inet(found)):
        raise UserError(f"{ini} cannot be run here: {missing_omnetpp() if found is None else why}")
    build(inet_adapter_of(found))
    plain = replace(spec, options={name: value for name, value in spec.options.items() if name in BUILDS})
    launch = launch_of(plain, found)
    text, _ = _output(found, command(found, launch, plain), launch.ini, {"CAUSEWAY_COUNT_NODES": "1"})
    if not (counted := COUNTED.search(text)):
        if error := _error_in(text):  # it has the remedy itself, if the network was built
            raise UserError(f"{ini}: {error}")
        raise UserError(
            f"{ini}: none of its hosts is a node; name the hosts that take part, as in "
            'InetNetwork(hosts="**.host[*]", ...)'
        )
    return int(counted[1])


def _output(found: Found, arguments: list[str], ini: Path, environment: Mapping[str, str]) -> tuple[str, int]:
    """Return what opp_run prints, and its exit status."""
    try:
        done = subprocess.run(
            arguments, cwd=ini.parent, capture_output=True, text=True, timeout=QUERY_S, check=False,
            env={**os.environ, **environment},
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise UserError(f"{found.opp_run} did not answer about {ini} within {QUERY_S:g} s") from None
    return done.stdout + done.stderr, done.returncode


def _error_in(text: str) -> str:
    """Return the error that opp_run prints; "" if there is none."""
    errors = [line.strip() for line in text.splitlines() if "Error" in line]
    return errors[0].removeprefix("<!> Error: ") if errors else ""


def _query_runs(found: Found, ini: Path, config: str) -> str:
    assert found.inet_root is not None
    libraries = (str(found.inet_root / "src" / "INET"), loadable(found, LIBRARY), loadable(found, INET_LIBRARY))
    query = [
        str(found.opp_run), "-s", "-u", "Cmdenv", *(part for library in libraries for part in ("-l", library)),
        "-f", str(ini.resolve()), "-c", config, "-q", "runconfig",
    ]  # fmt: skip
    text, status = _output(found, query, ini, {})
    if status != 0:
        raise UserError(f"{ini}: {_error_in(text) or 'opp_run cannot read it'}")
    return text
