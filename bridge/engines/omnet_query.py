"""Lists the runs of a configuration in a user's ini file, by asking OMNeT++ (`opp_run -q`)."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from causeway.bridge.engines.omnet import INET_LIBRARY, LIBRARY, inet_adapter_of, loadable
from causeway.bridge.engines.omnet_inet import missing_inet
from causeway.errors import UserError
from causeway.toolchain.adapters import build
from causeway.toolchain.omnet_find import Found, find_omnetpp, missing_omnetpp

QUERY_S = 60.0
"""Far longer than opp_run needs to list runs."""
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


def _query_runs(found: Found, ini: Path, config: str) -> str:
    assert found.inet_root is not None
    libraries = (str(found.inet_root / "src" / "INET"), loadable(found, LIBRARY), loadable(found, INET_LIBRARY))
    command = [
        str(found.opp_run), "-s", "-u", "Cmdenv", *(part for library in libraries for part in ("-l", library)),
        "-f", str(ini.resolve()), "-c", config, "-q", "runconfig",
    ]  # fmt: skip
    try:
        query = subprocess.run(command, cwd=ini.parent, capture_output=True, text=True, timeout=QUERY_S, check=False)
    except subprocess.TimeoutExpired:
        raise UserError(f"{found.opp_run} did not list the runs of {ini} within {QUERY_S:g} s") from None
    if query.returncode != 0:
        errors = [line.strip() for line in (query.stdout + query.stderr).splitlines() if "Error" in line]
        raise UserError(f"{ini}: {errors[0].removeprefix('<!> Error: ') if errors else 'opp_run cannot read it'}")
    return query.stdout
