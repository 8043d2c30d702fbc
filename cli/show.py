"""`causeway studies`: list the studies, or describe one."""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from causeway.pycontrol.checker import CausalityChecker
from causeway.pycontrol.scalar_meanings import MEANINGS
from causeway.studies import registry
from causeway.studies.describe import describe
from causeway.studies.runner import engines_of
from causeway.studies.study import Study


def show_studies(console: Console) -> None:
    """Print one line per study."""
    studies = registry.all_studies()
    wide = max(len(study.name) for study in studies)
    for study in studies:
        console.print(f"{study.name:<{wide}}  {study.title}", highlight=False, markup=False, soft_wrap=True)
    console.print("\n`causeway studies STUDY` lists its parameters, sweeps and measured numbers", highlight=False)


def show_study(name: str, console: Console) -> None:
    """Print the parameters of a study with their defaults, its headlines, sweeps and engines."""
    study = registry.get(name)

    def say(line: str) -> None:
        console.print(line, highlight=False, markup=False, soft_wrap=True)

    say(f"{study.name}: {study.title}")
    console.print(_parameters(study))
    if study.headlines:
        say("headlines (`causeway run --all` also prints the other scalars):")
        wide = [max(len(getattr(one, part)) for one in study.headlines) for part in ("name", "unit")]
        for one in study.headlines:
            say(f"  {one.name:<{wide[0]}}  {one.unit:<{wide[1]}}  {one.meaning}")
        say("")
    observers = study.observers(study.Params(), 2)
    if any(isinstance(one, CausalityChecker) for one in observers):
        say("scalars of every run, of the causality checker and of nodes (`causeway run --all`):")
        wide_name = max(map(len, MEANINGS))
        for scalar, meaning in MEANINGS.items():
            say(f"  {scalar:<{wide_name}}  {meaning}")
        say("")
    if study.sweeps:
        say("sweeps (points): " + ", ".join(f"{name} ({len(points)})" for name, points in study.sweeps.items()))
    say("engines: " + ", ".join(engines_of(study, study.network(study.Params(), 1))))
    if numbers := describe(study).published:
        say(f"published numbers: {len(numbers)}, in {study.published_file()}")


def _parameters(study: Study) -> Table:
    table = Table("parameter", "default", "type", "what", box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for name, field in study.Params.model_fields.items():
        type_ = getattr(field.annotation, "__name__", None)
        if type_ is None or type_ == "Literal":
            type_ = str(field.annotation).removeprefix("typing.Literal").strip("[]").replace("'", "")
        table.add_row(*map(Text, (name, str(field.default), type_, field.description or "")))
    return table
