"""Options that choose among several installations of OMNeT++ and INET, and projects of models for INET."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer


def _choose(variable: str) -> Callable[[Path | None], Path | None]:
    """Return a callback that sets a variable of the environment to a folder, for this process and its children."""

    def chosen(folder: Path | None) -> Path | None:
        if folder is not None:
            os.environ[variable] = str(folder.resolve())
        return folder

    return chosen


Omnetpp = Annotated[
    Path | None,
    typer.Option(
        "--omnetpp", metavar="DIR", help="The OMNeT++ to use (OMNETPP_ROOT).", callback=_choose("OMNETPP_ROOT")
    ),
]
Inet = Annotated[
    Path | None,
    typer.Option("--inet", metavar="DIR", help="The INET to use (INET_ROOT).", callback=_choose("INET_ROOT")),
]
Models = Annotated[
    list[str] | None,
    typer.Option("--with", metavar="NAME", help="A project of models that --ini needs, by its name: simu5g."),
]
