"""Scalars of runs: number those of one name, and reduce them to one value for each run."""

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
    """Return scalars in which a name that a module of a run has more than once becomes `name`, `name #2`, ..."""
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
    """Return one value per run and name: the run's own (module `run`) where it has one, else the sum over its modules.

    A name with a wildcard or a dot is matched with `module.name`: `**.host[*].app[0].packetReceived:count` sums over
    all matching scalars, and `Net.host[0].app[0].packetReceived:count` is one scalar.
    """
    plain = sorted(name for name in names if "*" not in name)
    patterns = sorted(name for name in names if "*" in name or "." in name)  # a scalar's own name may have dots, too
    wanted = scalars[[*_ITEM, "value"]]
    if patterns:
        wanted = each_part(wanted, partial(_called, plain=plain, patterns=patterns), [*_ITEM, "value"], {})
    else:
        wanted = wanted[wanted["name"].isin(plain)]
    return together(wanted, ["run_id"], _run_values, ["run_id", "name", "value"], {"value": REAL})


def _called(scalars: pd.DataFrame, plain: Sequence[str], patterns: Sequence[str]) -> pd.DataFrame:
    """Return the scalars with these plain names, and those whose `module.name` matches a pattern.

    The name of the latter becomes the pattern.
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
