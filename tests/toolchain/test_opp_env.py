"""The description for opp_env (omnet/opp_env) names versions that the adapters are written for.

Once it is in that program's list of files, opp_env 0.36.2 lists it, resolves its versions and prints it; installing
with it needs Nix and a network, and was not tried.
"""

from __future__ import annotations

import runpy
from pathlib import Path

from causeway.toolchain.omnet_find import INETS, OLDEST, minor_of

FILE = Path(__file__).parents[2] / "omnet" / "opp_env" / "causeway.py"


def test_the_description_for_opp_env_names_pairs_that_fit() -> None:
    names = runpy.run_path(str(FILE))
    (described,) = names["get_project_descriptions"]()
    assert described["name"] == "causeway" and described["git_url"] == names["REPOSITORY"]
    for omnetpp, inet in names["PAIRS"].items():
        version = tuple(map(int, minor_of(omnetpp).split(".")))
        needed = tuple(map(int, INETS[minor_of(inet)].split(".")))
        assert version >= max(OLDEST, needed), f"INET {inet} cannot be built with OMNeT++ {omnetpp}"
    assert set(described["required_projects"]["inet"]) == set(names["PAIRS"].values())
