"""Scalars of runs: number scalars of the same name, and reduce them to one value for each run."""

from collections.abc import Iterable, Sequence
from functools import partial

import numpy as np
import pandas as pd

from causeway.analysis.query.patterns import matcher
from causeway.analysis.reduce import arithmetic
from causeway.analysis.reduce.means import groups
from causeway.analysis.reduce.spread import REAL, Frame, each_part, together

_ITEM = ["run_id", "module", "name"]


def numbered(scalars: Frame) -> Frame:
    """Give numbers to scalars of equal name in a module of a run: `name`, `name #2`, ..."""
    return together(scalars, _ITEM, _numbered, list(scalars.columns), {})


def _numbered(scalars: pd.DataFrame) -> pd.DataFrame:
    again = scalars.duplicated(_ITEM, keep=False)
    if not again.any():
        return scalars
    some = scalars[again].sort_values(["position", "value"], kind="stable", na_position="first")
    number = some.groupby(_ITEM, dropna=False).cumcount()
    names = some["name"].where(number == 0, some["name"] + " #" + (number + 1).astype(str))
    return scalars.assign(name=scalars["name"].where(~again, names.reindex(scalars.index)))


def run_values(scalars: Frame, names: Iterable[str]) -> Frame:
    """Return one value per run and name: the scalar of the module `run` if there is one, else the sum over all modules.

    A name with a wildcard or a dot is matched with `module.name`: `**.host[*].app[0].packetReceived:count` sums over
    all matching scalars, and `Net.host[0].app[0].packetReceived:count` is one scalar.
    """
    plain = sorted(name for name in names if "*" not in name)
    # the name of a scalar itself may contain dots, too
    patterns = sorted(name for name in names if "*" in name or "." in name)
    wanted = scalars[[*_ITEM, "value"]]
    if patterns:
        wanted = each_part(wanted, partial(_matching, plain=plain, patterns=patterns), [*_ITEM, "value"], {})
    else:
        wanted = wanted[wanted["name"].isin(plain)]
    return together(wanted, ["run_id"], _run_values, ["run_id", "name", "value"], {"value": REAL})


def _matching(scalars: pd.DataFrame, plain: Sequence[str], patterns: Sequence[str]) -> pd.DataFrame:
    """Return the scalars with these plain names, and those whose `module.name` matches a pattern.

    A scalar that matches a pattern gets the pattern as its name.
    """
    there = scalars[["module", "name"]].drop_duplicates()
    whole = list(zip(there["module"], there["name"], there["module"] + "." + there["name"], strict=True))
    fitting = []
    for pattern in patterns:
        fits = matcher(pattern) if "*" in pattern else pattern.__eq__
        fitting += [(module, name, pattern) for module, name, path in whole if fits(path)]
    known = pd.DataFrame(fitting, columns=["module", "name", "pattern"], dtype=object)
    of_patterns = scalars.merge(known, on=["module", "name"]).drop(columns="name").rename(columns={"pattern": "name"})
    return pd.concat([scalars[scalars["name"].isin(plain)], of_patterns])


def _run_values(scalars: pd.DataFrame) -> pd.DataFrame:
    own = scalars["module"] == "run"
    has_own = own.groupby([scalars["run_id"], scalars["name"]]).transform("any")
    keys, values = groups(scalars[own == has_own], ["run_id", "name"], "value")
    return keys.assign(value=np.array([arithmetic.total(one) for one in values], float))
