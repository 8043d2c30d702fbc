"""Describe a study for a result folder, so that reports need only the folder (see analysis/study_description.py)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from causeway.analysis import published, study_description
from causeway.analysis.kinds import kind_of
from causeway.analysis.study_description import Description
from causeway.studies.study import Study


def describe(study: Study) -> Description:
    """Return the description of a study for reports and commands. It is computed once for each class."""
    return _describe(type(study))


@cache
def _describe(study: type[Study]) -> Description:
    for plot in study.plots:
        kind_of(plot.kind).check(plot)
    path = study.published_file()
    rows = published.read(path) if path is not None else []
    own = tuple(_remarked(study, row) for row in rows if row["study"] == study.name)
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


def _remarked(study: type[Study], row: Mapping[str, Any]) -> dict[str, Any]:
    """Add the remarks of the study's tables to a published number, so that reports and tables judge it alike."""
    from causeway.studies.scores import remark
    from causeway.studies.tables import tables_of

    module = tables_of(study)
    if module is None or not hasattr(module, "READINGS"):
        return dict(row)
    return {**row, "drawn": module.is_drawn(row["parameters"]), "remark": remark(module, row, row["parameters"])}


@cache
def _text(study: type[Study]) -> str:
    return study_description.text_of(_describe(study))


def describe_in(out: Path, study: Study) -> None:
    """Write the description of a study into a result folder."""
    study_description.write(out, study.name, _text(type(study)))
