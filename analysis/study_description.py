"""Descriptions of studies in a result folder: `DIR/studies/<study>.json`.

Plots, headlines, published numbers and the scene of an animation are data of a study. They are stored with its runs, so
a report does not need the study's code. A description is written atomically before the first run of its study. If the
study has changed when it is run again, the new description replaces the old one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from causeway.analysis import kinds, store
from causeway.analysis.files import refuse_links
from causeway.analysis.plots import MARKS, Expected, Headline, Plot, Scene, State
from causeway.analysis.reduce import expression
from causeway.analysis.remote import place
from causeway.errors import UserError

VERSION = 1


@dataclass(frozen=True)
class Description:
    """The data of a study that the report and the command line need."""

    study: str
    title: str = ""
    paper: str = ""
    plots: tuple[Plot, ...] = ()
    headlines: tuple[Headline, ...] = ()
    published: tuple[Mapping[str, Any], ...] = ()
    """The published numbers, in the form of `published.read`."""
    scene: Scene | None = None
    expected: tuple[Expected, ...] = ()
    """Violations that its runs may have."""


def path_of(folder: Path, study: str) -> Path:
    """Return the path of a study's description in a result folder."""
    return place(folder) / "studies" / f"{store.quote(study)}.json"


def text_of(description: Description) -> str:
    """Return a description as the text of its file."""
    plain = {"version": VERSION, **asdict(description)}
    return json.dumps({**plain, "digest": _digest(plain)}, indent=1, allow_nan=False) + "\n"


def _digest(plain: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(plain, allow_nan=False).encode()).hexdigest()


def write(folder: Path, study: str, text: str) -> None:
    """Write a description atomically, unless the folder has the same one."""
    refuse_links(place(folder), "studies")
    path = path_of(folder, study)
    if path.is_file() and path.read_text(encoding="utf-8", errors="replace") == text:
        return
    with store.replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def read(folder: Path) -> list[Description]:
    """Return all descriptions of a result folder, sorted by name. Refuse a damaged one with an error and a remedy."""
    described = place(folder) / "studies"
    paths = sorted(path for path in described.glob("*.json") if path.name[0] != ".") if described.is_dir() else []
    return [read_one(path) for path in paths]


def read_one(path: Path) -> Description:
    """Return the description in a file; raise UserError if it is damaged or of another version."""
    try:
        text = path.read_text(encoding="utf-8")
        given = json.loads(text)
        digest = given.pop("digest", None)
        if digest is not None and (
            digest != _digest(given) or text != json.dumps({**given, "digest": digest}, indent=1) + "\n"
        ):
            raise ValueError("it has changed since it was written")
        return _from_dict(given)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, UserError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UserError(f"{path} does not describe a study ({reason}); run the study again into this folder") from None


def _from_dict(given: dict[str, Any]) -> Description:
    if given.pop("version") != VERSION:
        raise ValueError("it was written by another version of causeway")
    scene = given["scene"]
    if scene is not None:
        states = tuple(State(**state) for state in scene["states"])
        if any(state.mark not in MARKS for state in states):
            raise ValueError(f"a mark must be one of {', '.join(MARKS)}")
        scene = Scene(**{**scene, "states": states})
    found = Description(**{
        **given,
        "plots": tuple(Plot(**plot) for plot in given["plots"]),
        "headlines": tuple(Headline(**headline) for headline in given["headlines"]),
        "published": tuple(dict(row) for row in given["published"]),
        "scene": scene,
        "expected": tuple(Expected(**one) for one in given.get("expected", ())),
    })  # fmt: skip
    known = kinds.known()
    for plot in found.plots:
        if plot.kind in known:  # other kinds are defined in a file that is not imported here; the report names them
            known[plot.kind].check(plot)
    for formula in (*(h.scalar for h in found.headlines), *(row["scalar"] for row in found.published)):
        expression.parse(formula)
    return found
