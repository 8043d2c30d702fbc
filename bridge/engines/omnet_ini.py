"""Find the lines of a user's ini file that matched nothing in the network, for the warnings of a run."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from causeway.network.networks import InetNetwork, Network

DEFINED = re.compile(r"\$\{\s*(\w+)\s*=")
"""Matches the definition of an iteration variable; the group is its name."""
MOST_LINES = 3
"""The largest number of lines that are named. An ini file for several networks may have many unused ones."""


@dataclass(frozen=True)
class Line:
    """An assignment of an ini file."""

    section: str
    key: str
    value: str
    file: Path
    number: int


def unused_lines(
    network: Network, options: Mapping[str, Any], keys: Sequence[str], carried: Collection[str] = ()
) -> list[str]:
    """Return warnings, one for each line, about settings that matched nothing in the network.

    Args:
        network: The network of the run.
        options: The options of the run: its ini file, if this is not the network's, and settings of the study.
        keys: The keys that the simulation reports, such as `**.mobility.sped`.
        carried: The iteration variables that set parameters of the study. A line that defines one has an effect, and
            is never reported.
    """
    ini = options.get("ini", network.ini if isinstance(network, InetNetwork) else "")
    if not ini or not keys:
        return []
    config = str(options.get("config", network.config if isinstance(network, InetNetwork) else "General"))
    lines = [
        line for line in in_force(list(_lines(Path(ini).resolve(), "General", ())), config)
        if not set(DEFINED.findall(line.value)) & set(carried)
    ]  # fmt: skip
    settings = options.get("set", {})
    found = [f"{line.file.name}:{line.number}: {line.key}" for key in keys for line in lines if line.key == key]
    found += [f"setting {key}" for key in keys if key in settings]
    warnings = [f"{one} matches no parameter of the network, so that it has no effect" for one in found[:MOST_LINES]]
    if left := found[MOST_LINES:]:
        warnings.append(f"{len(left)} more lines of {Path(ini).name} match no parameter, {left[0]} among them")
    return warnings


def in_force(lines: Sequence[Line], config: str) -> list[Line]:
    """Return the lines of the sections that a configuration consists of."""
    sections, todo = set[str](), [config]
    while todo:
        if (section := todo.pop()) not in sections:
            sections.add(section)
            bases = [line.value for line in lines if line.section == section and line.key == "extends"]
            todo += bases[0].replace(",", " ").split() if bases else ["General"]
    return [line for line in lines if line.section in sections]


def _lines(file: Path, section: str, included: tuple[Path, ...]) -> Iterator[Line]:
    """Yield the assignments of an ini file and of the files that it includes. OMNeT++ has accepted them before."""
    for number, text in enumerate(file.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        if text[:1] == "[":
            section = text[1:].partition("]")[0].removeprefix("Config").strip()
        elif text.startswith("include ") and file not in included:
            name = text.removeprefix("include").partition("#")[0].strip().strip('"')
            yield from _lines((file.parent / name).resolve(), section, (*included, file))
        elif "=" in text and text[0] not in "# \t":
            key, _, value = text.partition("=")
            yield Line(section, key.strip(), value.partition("#")[0].strip(), file, number)
