"""From a study to what a result folder keeps of it (analysis/description.py)."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from causeway.analysis import description, published
from causeway.analysis.description import Description
from causeway.analysis.kinds import kind_of
from causeway.studies.study import Study


def describe(study: Study) -> Description:
    """What a report and the command line must know about a study."""
    return _describe(type(study))


@cache
def _describe(study: type[Study]) -> Description:
    for plot in study.plots:
        kind_of(plot.kind).check(plot)
    path = study.published_file()
    rows = published.read(path) if path is not None else []
    own = tuple(row for row in rows if row["study"] == study.name)
    return Description(
        study.name,
        study.title,
        study.paper,
        tuple(study.plots),
        tuple(study.headlines),
        own,
        study.scene,
        tuple(study.expected),
    )


@cache
def _text(study: type[Study]) -> str:
    return description.text_of(_describe(study))


def describe_in(out: Path, study: Study) -> None:
    """Leaves the description of a study in a result folder."""
    description.write(out, study.name, _text(type(study)))
