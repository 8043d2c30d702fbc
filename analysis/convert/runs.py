"""Make the dimension rows of an OMNeT++ run (`runs`, `parameters`, `config`, `attributes`) from its header."""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from causeway.analysis.convert.lexer import BadLine, number
from causeway.analysis.convert.records import Header
from causeway.analysis.units import in_base_units

_DATETIME = re.compile(r"(\d{4})(\d\d)(\d\d)-(\d\d):(\d\d):(\d\d)")


def header_tables(header: Header) -> dict[str, dict[str, list[Any]]]:
    """Return the tables `parameters`, `config` and `attributes` of one run, as columns."""
    run_id, itervars = header.run_id, header.iteration_variables()
    return {
        "parameters": {
            "run_id": [run_id] * len(itervars),
            "name": [name for name, _ in itervars],
            "value": [value for _, value in itervars],
            "number": [number_of(value) for _, value in itervars],
        },
        "config": {
            "run_id": [run_id] * len(header.config),
            "position": list(range(len(header.config))),
            "name": [name for name, _ in header.config],
            "value": [value for _, value in header.config],
        },
        "attributes": {
            "run_id": [run_id] * len(header.attributes),
            "owner": ["run"] * len(header.attributes),
            "module": [""] * len(header.attributes),
            "item": [""] * len(header.attributes),
            "name": [name for name, _ in header.attributes],
            "value": [value for _, value in header.attributes],
            "position": [0] * len(header.attributes),
        },
    }


def run_row(run_id: str, attributes: Mapping[str, str], itervars: list[list[str]], source: str) -> dict[str, Any]:
    """Return the row of a run in `runs`. `source` is its file without suffix, so its .sca and its .vec share a row."""
    study = attributes.get("configname", "")
    return {
        "run_id": run_id,
        "study": study,
        "point": _point(study, itervars),
        "engine": "omnet",
        "engine_version": "",  # the files do not contain it
        "causeway_version": "",
        "commit": "",
        "seed": _seed(attributes),
        "digest": "",
        "started_at": _started_at(attributes.get("datetime", "")),
        "wall_s": None,
        "events": None,
        "source": source,
    }


def _point(study: str, itervars: list[list[str]]) -> str:
    """Return a short name for the combination of parameters. All repetitions have the same name."""
    parameters = sorted((name, value) for name, value in itervars if name != "repetition")
    return hashlib.sha256(json.dumps([study, parameters]).encode()).hexdigest()[:12]


def _seed(attributes: Mapping[str, str]) -> int | None:
    for name in ("seedset", "repetition", "runnumber"):
        if re.fullmatch(r"\d{1,18}", attributes.get(name, "")):
            return int(attributes[name])
    return None


def _started_at(datetime: str) -> str:
    """Return the time as ISO-8601 without a zone, since the files contain local time and no zone."""
    match = _DATETIME.fullmatch(datetime)
    return "{}-{}-{}T{}:{}:{}".format(*match.groups()) if match else ""


def number_of(value: str) -> float | None:
    """Return the value of an iteration variable in the base unit; None if it is no number."""
    try:
        return number(value)
    except BadLine:
        return in_base_units(value)
