"""Every public class and function answers wrong arguments in one line of its own, never with a raw traceback.

The calls come from the public interface itself, so that a new name is tested from its first day.
"""

from __future__ import annotations

import enum
import inspect
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import causeway as cw
from causeway import api
from causeway.cli.public_names import MADE_FOR_USERS

STREETS = Path(__file__).parents[1] / "examples" / "streets" / "streets.sumocfg"
WRONG = {
    "None": None, "text": "x", "-1": -1, "0": 0, "nan": math.nan, "inf": math.inf, "True": True, "10**30": 10**30,
    "[]": [], "numpy": np.int64(3), "1.5": 1.5, "{}": {}, "object": object(),
}  # fmt: skip


class Quiet(cw.Node):
    def on_start(self) -> None: ...


S = cw.seconds(1)
DRAWN = {"seed": 1, "per_s": 1.0, "mean_s": 1.0, "until_s": 2.0}
RUN = {"network": cw.AbstractNetwork(2), "until": S}
UNITS = ("km", "km_per_hour", "metres", "metres_per_second", "mm", "ms", "ns", "seconds", "us")
VALID: dict[str, dict[str, Any]] = {
    "AbstractNetwork": {"nodes": 3}, "Battery": {"capacity_j": 1.0}, "Budget": {}, "CausalityChecker": {"nodes": 3},
    "Checks": {}, "Expected": {"scalar": "a", "why": "b"}, "Faults": {}, "Headline": {"name": "a", "scalar": "b"},
    "InetNetwork": {"ini": "omnetpp.ini"}, "Jammer": {"x_mm": 0, "y_mm": 0, "radius_mm": 5, "from_ps": 0, "to_ps": S},
    "LinkFailure": {"a": 0, "b": 1, "from_ps": 0, "to_ps": S}, "Links": {"delay_ms": [[1.0, 2.0], [2.0, 1.0]]},
    "MobileNetwork": {}, "Partition": {"one": (0,), "other": (1,), "from_ps": 0, "to_ps": S},
    "PerNode": {"make": Quiet}, "Plot": {"title": "t", "study": "s", "y": "y"}, "Programs": {"main": print},
    "Scene": {"place": "p", "thing": "t", "at": "a", "state": "s", "states": ()}, "SoloLoop": {},
    "Script": {"time_ps": [1], "node": [0], "size_bytes": [5]}, "Segment": {"start_ps": 0, "rate_per_s": 5.0},
    "State": {"value": 1.0, "mark": "x", "meaning": "m"}, "Stays": {"node": [0], "from_ps": [0], "to_ps": [S]},
    "Sumo": {"config": str(STREETS)}, "SymmetricNodes": {"nodes": [0, 1]}, "Workload": {}, "Drones": {"nodes": []},
    "constant_delay": {"delay_ms": 1.0}, "hexagonal_places": {"cells": 7, "spacing_mm": 100.0},
    "normal_delay": {"mean_ms": 1.0, "sd_ms": 1.0}, "uniform_delay": {"low_ms": 1.0, "high_ms": 2.0},
    "poisson": {"rate": 5.0}, "random_edges": {"nodes": 5, "degree": 2, "seed": 1},
    "random_jammers": {"area_mm": (0, 0, 9, 9), "radius_mm": 5, **DRAWN},
    "random_link_failures": {"wires": [(0, 1)], **DRAWN}, "random_partitions": {"nodes": [0, 1], **DRAWN},
    "read_traces": {"path": str(STREETS)}, "size_of": {"content": 1}, "tree_of": {"places": ((0, 0), (5, 5))},
    "run": {"protocol": Quiet, **RUN}, "simulation": {"protocol": Quiet, **RUN},
    "sweep": {"protocol": Quiet, "points": {}, "seeds": [1], "jobs": 1, **RUN},
    "compare": {"one": Quiet, "other": Quiet, "seeds": [1, 2], "jobs": 1, **RUN}, "plot_kind": {"name": "own"},
    "trace": {}, "handles": {},
    **{unit: {"value": 1} for unit in UNITS},
}  # fmt: skip
"""Arguments with which each public class and function can be called."""
NOT_TRIED = {
    "run": {"twice", "out", "record", "pdb"}, "sweep": {"jobs", "out"}, "compare": {"jobs", "out", "seeds"},
}  # fmt: skip
"""Arguments whose right values start processes or write files."""
MADE_BY_OTHERS = {
    *MADE_FOR_USERS, "Actions", "Observer", "Protocol", "Study", "ModelStudy", "ProgramStudy", "Network", "Trace",
    "Params", "ModelParams", "ProgramParams",
}  # fmt: skip
"""Classes that users do not call, and parameters, which pydantic checks."""
CLASSMETHODS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "Stays.poisson": (cw.Stays.poisson, {"nodes": 5, "per_s": 1.0, "mean_s": 1.0, "seed": 1}),
    "Links.of": (cw.Links.of, {"sites": 2, "delay_ms": lambda a, b: 1.0}),
    "Links.graph": (cw.Links.graph, {"nodes": 3, "edges": [(0, 1)]}),
    "Links.read": (cw.Links.read, {"path": STREETS.parents[1] / "cities.csv"}),
    "MobileNetwork.hexagons": (cw.MobileNetwork.hexagons, {"hosts": 3}),
    "PerNode.every": (cw.PerNode(Quiet).every, {"period_ps": S, "handler": print}),
}


def public() -> Iterator[str]:
    for name in api.__all__:
        thing = getattr(api, name)
        is_kind = isinstance(thing, type) and issubclass(thing, Exception | enum.Enum)
        if callable(thing) and not is_kind and name not in MADE_BY_OTHERS:
            yield name


def called(name: str) -> tuple[Callable[..., Any], dict[str, Any]]:
    return CLASSMETHODS[name] if name in CLASSMETHODS else (getattr(api, name), VALID[name])


def answer(call: Callable[..., Any], *arguments: Any, **named: Any) -> str:
    """Return the library's answer to a call, or "" if it succeeds. Any other error fails the test."""
    try:
        call(*arguments, **named)
    except (cw.UserError, cw.RunError) as error:
        return str(error)
    return ""


NAMES = [*public(), *CLASSMETHODS]


@pytest.mark.parametrize("name", [name for name in NAMES if name != "Links.read"])  # its file is read first
def test_arguments_that_do_not_fit_are_an_error_of_one_line(name: str) -> None:
    call, valid = called(name)
    said = [answer(call, **valid, mispelled=5), answer(call, *range(20), **valid)]
    if any(one.default is one.empty and one.name in valid for one in inspect.signature(call).parameters.values()):
        said.append(answer(call))
    if name == "trace" or name == "handles":  # they take any number of arguments
        del said[1]
    for line in said:
        assert line and "\n" not in line and name.rpartition(".")[2] in line + name, said
    assert "mispelled" in said[0], said


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("name", NAMES)
def test_a_wrong_value_is_an_error_of_one_line_if_it_is_an_error(name: str) -> None:
    call, valid = called(name)
    raw = []
    for one in inspect.signature(call).parameters.values():
        if one.kind in (one.VAR_KEYWORD, one.VAR_POSITIONAL, one.POSITIONAL_ONLY):
            continue
        if one.name in NOT_TRIED.get(name, ()):
            continue
        for words, value in WRONG.items():
            try:
                said = answer(call, **{**valid, one.name: value})
            except Exception as error:
                raw.append(f"{one.name}={words}: {type(error).__name__}: {error}")
            else:
                raw += [f"{one.name}={words}: {said}"] if "\n" in said else []
    assert raw == []
