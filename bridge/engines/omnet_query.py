"""What runs a configuration of somebody's ini file has: OMNeT++ itself is asked (`opp_run -q`), nothing is parsed here
but its answer.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from causeway.bridge.edges import build
from causeway.bridge.engines.omnet import INET_LIBRARY, LIBRARY, edge_of, loadable
from causeway.bridge.engines.omnet_find import HOW_TO_GET_IT, Found, find_omnetpp
from causeway.bridge.engines.omnet_inet import missing_inet
from causeway.bridge.errors import UserError

QUERY_S = 60.0
"""Longer than this no list of runs takes."""
RUN = re.compile(r"Run (\d+): (.*)")
VARIABLE = re.compile(r"\$(\w+)=(.*?)(?=, \$\w+=|$)")
"""`$range=150m`; OMNeT++ numbers variables that have no name: `$0=100`. A `$name` in a value is substituted before."""
MEANT_NAME = re.compile(r"\s*([A-Za-z]\w*)\s*=(?!=)\s*")
"""What OMNeT++ takes for the beginning of the first value, where it does not take a name for one."""
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
    """All runs of a configuration, in order."""
    if not ini.is_file():
        raise UserError(f"there is no ini file {ini}")
    found = find_omnetpp()
    if found is None or (why := missing_inet(found)):
        raise UserError(f"{ini} cannot be run here: {HOW_TO_GET_IT if found is None else why}")
    build(edge_of(found))
    runs = read_runs(_ask(found, ini, config))
    _check_names(runs, ini, config)
    if not runs:
        raise UserError(f"configuration {config} of {ini} has no runs: its constraint leaves none")
    return runs


def _check_names(runs: list[IniRun], ini: Path, config: str) -> None:
    """Refuse a variable that was meant to have a name and has none for OMNeT++: its names have no underscores."""
    for run in runs:
        for name, value in run.variables.items():
            if name.isdecimal() and (meant := MEANT_NAME.match(value)):
                raise UserError(
                    f"configuration {config} of {ini} iterates over ${{{meant[1]} = ...}}, which has no name for "
                    f"OMNeT++: names have letters and digits only, so the value itself is '{value}'; write "
                    f"${{{meant[1].replace('_', '')} = ...}}, which also sets a parameter {meant[1]} of the study"
                )


def read_runs(text: str) -> list[IniRun]:
    """From what `opp_run -q runconfig` prints. Of a key that is there twice the first one holds, as in OMNeT++."""
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


def _ask(found: Found, ini: Path, config: str) -> str:
    assert found.inet_root is not None
    libraries = (str(found.inet_root / "src" / "INET"), loadable(found, LIBRARY), loadable(found, INET_LIBRARY))
    command = [
        str(found.opp_run), "-s", "-u", "Cmdenv", *(part for library in libraries for part in ("-l", library)),
        "-f", str(ini.resolve()), "-c", config, "-q", "runconfig",
    ]  # fmt: skip
    try:
        told = subprocess.run(command, cwd=ini.parent, capture_output=True, text=True, timeout=QUERY_S, check=False)
    except subprocess.TimeoutExpired:
        raise UserError(f"{found.opp_run} did not list the runs of {ini} within {QUERY_S:g} s") from None
    if told.returncode != 0:
        said = [line.strip() for line in (told.stdout + told.stderr).splitlines() if "Error" in line]
        raise UserError(f"{ini}: {said[0].removeprefix('<!> Error: ') if said else 'opp_run cannot read it'}")
    return told.stdout
