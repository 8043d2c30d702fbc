"""Find projects of models for INET, such as Simu5G: their NED folders and their library. Start here: `find_models`."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from causeway.errors import UserError, unknown
from causeway.toolchain.omnet_find import Found, find_omnetpp, is_whole, newest_first, pairs, runpath_of, version_of


@dataclass(frozen=True)
class ModelProject:
    """A project of models, with what is needed to load it into a simulation."""

    name: str
    variable: str
    """The environment variable that names its folder. Otherwise, it is searched beside INET."""
    pattern: str
    """The names of its folder."""
    library: str
    ned_folders: tuple[str, ...]


MODELS = {"simu5g": ModelProject("Simu5G", "SIMU5G_ROOT", "[Ss]imu5[Gg]*", "src/libsimu5g.so", ("src", "simulations"))}
"""name -> project. A new project is one line here."""


def find_models(names: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the NED folders and the libraries of projects for the INET in use.

    Raises:
        UserError: A name is unknown, or the project is not found, not built, or built with another INET.
    """
    folders: list[str] = []
    libraries: list[str] = []
    for name in names:
        if name not in MODELS:
            raise unknown("project of models", name, MODELS)
        found = find_omnetpp()
        if found is None or not found.has_inet:
            continue  # the engine refuses the run and says why
        project, root = MODELS[name], _root_of(MODELS[name], found)
        folders += (str(root / folder) for folder in project.ned_folders)
        library = root / project.library
        libraries.append(str(library.with_name(library.stem.removeprefix("lib"))))
    return tuple(folders), tuple(libraries)


def _root_of(project: ModelProject, found: Found) -> Path:
    """Return the folder of a project that was built with the INET in use."""
    assert found.inet_root is not None
    named = os.environ.get(project.variable)
    roots = [Path(named)] if named else newest_first(found.inet_root.resolve().parent, project.pattern)
    refusals = {root: _refusal(project, root, found) for root in roots}
    if fitting := next((root for root, why in refusals.items() if why is None), None):
        return fitting
    missing = f"no {project.name} found: build one beside INET in {found.inet_root}, or set {project.variable}=..."
    raise UserError(next((why for why in refusals.values() if why), missing))


def _refusal(project: ModelProject, root: Path, found: Found) -> str | None:
    """Return the reason why a project cannot be used with a pair, and the remedy; None if it can be used."""
    library, inet = root / project.library, found.inet_root
    name = f"{project.name} {version_of(root) or '?'} in {root}"
    if not library.is_file() or not is_whole(library):
        return f"{name} has no complete {project.library}: build it with make makefiles && make MODE=release"
    assert inet is not None
    sources = [folder.resolve() for folder in runpath_of(library)]
    if (inet / "src").resolve() in sources:
        return None
    others = [pair for pair in pairs() if pair.inet_root and (pair.inet_root / "src").resolve() in sources]
    choose = "".join(f"choose --omnetpp {pair.root} --inet {pair.inet_root}, or " for pair in others[:1])
    return f"{name} was not built with the INET in {inet}: {choose}set {project.variable} to one that was"
