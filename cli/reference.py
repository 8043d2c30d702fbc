"""Generate docs/reference.md from the code: commands, studies, events, actions, tables. A test keeps it up to date.

`python -m causeway.cli.reference` writes it.
"""

from __future__ import annotations

import inspect
import textwrap
from enum import IntEnum
from pathlib import Path

import typer.main

from causeway import api
from causeway.analysis import schema
from causeway.bridge import engines, events
from causeway.cli.main import app
from causeway.proto.contract import comments
from causeway.pycontrol.scalar_meanings import MEANINGS
from causeway.studies import registry
from causeway.studies.runner import engines_of
from causeway.studies.study import Study

PAGE = Path(__file__).resolve().parents[1] / "docs" / "reference.md"
WIDTH = 110


def page() -> str:
    """Return the whole page."""
    parts = [
        "# Reference\n\nGenerated from the code by `python -m causeway.cli.reference`.",
        "## Commands\n\n" + _commands(),
        "## Studies\n\n" + "\n\n".join(_study(study) for study in registry.all_studies()),
        "## Scalars of every study\n\n" + _scalars(),
        "## Engines\n\n" + "\n".join(f"- `{name}`: {_summary(type(engines.get(name)))}" for name in engines.ENGINES),
        "## Public interface\n\n" + _public(),
        "## Events\n\n" + _kinds(events.Kind),
        "## Actions\n\n" + _kinds(events.Act),
        "## Result tables\n\n" + _tables(),
    ]
    return "\n".join(map(_folded, "\n\n".join(parts).splitlines())) + "\n"


def _folded(line: str) -> str:
    """Wrap a line of prose; leave rows of tables as they are."""
    if line.startswith("|"):
        return line
    indent = "  " if line.startswith(("- ", "  ")) else ""
    ends = "  " if line.endswith("  ") else ""  # two blanks at the end are a line break in markdown
    return (
        "\n".join(textwrap.wrap(line, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False))
        + ends
    )


def _public() -> str:
    """Return the list of public names, which semantic versioning covers."""
    lines = []
    for name in api.__all__:
        thing = getattr(api, name)
        if name.startswith("__"):
            text = "the installed version"
        elif callable(thing):
            text = _summary(thing)
        else:
            text = f"{thing:,}" if isinstance(thing, int) else str(thing)
        lines.append(f"- `{name}`: {text}")
    return "The names that `from causeway import ...` provides. Semantic versioning covers them:\n\n" + "\n".join(lines)


def _summary(thing: object) -> str:
    """Return the first paragraph of a docstring."""
    return " ".join((inspect.getdoc(thing) or "").partition("\n\n")[0].split())


def _commands() -> str:
    group = typer.main.get_command(app)
    rows = []
    for name, command in group.commands.items():  # type: ignore[attr-defined]
        options = " ".join(p.opts[0] if p.opts[0].startswith("-") else p.name.upper() for p in command.params)
        help_ = " ".join((command.help or "").split())
        rows.append(f"- `causeway {name} {options}`  \n  {help_}")
    return "\n".join(rows)


def _study(study: Study) -> str:
    rows = ["| parameter | default | meaning |", "|---|---|---|"]
    for name, field in study.Params.model_fields.items():
        rows.append(f"| `{name}` | `{field.default}` | {(field.description or '').replace('|', '/')} |")
    sweeps = ", ".join(f"`{name}` ({len(points)})" for name, points in study.sweeps.items()) or "none"
    engines_ = engines_of(study, study.network(study.Params(), 1))
    measured = [
        f"| {one.name} | `{one.scalar}` | {one.unit} | {one.meaning.replace('|', '/')} |" for one in study.headlines
    ]
    head = ["| headline | scalar | unit | meaning |", "|---|---|---|---|"] if measured else []
    tail = f"Engines: {', '.join(engines_)}. Sweeps (points): {sweeps}."
    return "\n\n".join(
        ["### " + f"{study.name}: {study.title}", "\n".join(rows), *filter(None, ["\n".join([*head, *measured])]), tail]
    )


def _scalars() -> str:
    """Return the table of the scalars that runs of every study have."""
    rows = [f"| `{name}` | {meaning} |" for name, meaning in MEANINGS.items()]
    return "\n".join(["| scalar | meaning |", "|---|---|", *rows])


def _kinds(enum: type[IntEnum]) -> str:
    """Return a list of an enum's members with their comments in the contract."""
    meanings = comments(enum.__name__)
    return "\n".join(f"- `{member.name}` ({member.value}): {meanings[member.name]}" for member in enum)


def _tables() -> str:
    rows = []
    for name, table in schema.TABLES.items():
        columns = ", ".join(f"{field.name} {field.type}{'?' if field.nullable else ''}" for field in table)
        rows.append(f"- `{name}`: {columns}")
    return "\n".join(rows)


if __name__ == "__main__":
    PAGE.write_text(page())
