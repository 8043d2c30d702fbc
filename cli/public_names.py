"""Write docs/api.txt, the public names of Causeway with their signatures. A test compares it with the code.

`python -m causeway.cli.public_names` writes the file, so that every change of the interface changes it.
"""

from __future__ import annotations

import enum
import inspect
import re
import types
import typing
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from causeway import api
from causeway.deprecated import NAMES
from causeway.pycontrol.reading import Reading
from causeway.studies.run_request import takes_setting

FILE = Path(__file__).resolve().parents[1] / "docs" / "api.txt"
ONLY = {
    "Drones": set[str](),
    "PerNode": {"every", "about", "packet_lifetime_ps", "can_be_copied", "same_machine"},
    "ProgramNode": {"address_of", "asked", "nodes", "params"},
    "Programs": set[str](),
    "SoloLoop": {"run_until_complete", "time", "close", "forgotten_failures", "pending_tasks"},
}
"""Public members of classes whose other methods are called only by Causeway or asyncio."""
MADE_FOR_USERS = {
    "Context", "Node", "PlotData", "ProgramNode", "Request", "Run", "Simulation", "Sweep", "TimerHandle", "Window",
}  # fmt: skip
"""Classes whose constructor is not part of the interface."""
WIDTH = 120
HEAD = """\
# The public interface: what `import causeway` gives, and semantic versions promise.
# Written by `python -m causeway.cli.public_names`.
"""


def text() -> str:
    """Return the whole file."""
    former = [f"{old} = {new}  # a former name" for old, new in NAMES.items()]
    return "\n".join([HEAD, *("\n".join(_lines(name, getattr(api, name))) for name in api.__all__), *former]) + "\n"


def _lines(name: str, thing: Any) -> Iterator[str]:
    """Yield the lines of one public name."""
    if inspect.isclass(thing) and isinstance(thing, type):
        yield f"class {name}{_bases(thing)}"
        yield from _members(name, thing)
    elif inspect.isfunction(thing):
        for one in typing.get_overloads(thing) or [thing]:
            shared = "setting" in inspect.signature(one).parameters
            yield _call(f"def {name}", takes_setting(one) if shared else one)
    elif isinstance(thing, types.GenericAlias):  # versions of numpy show its arguments differently
        yield f"{name} = {thing.__origin__.__name__}"
    else:
        yield f"{name} = ..." if name == "__version__" else f"{name} = {_plain(repr(thing))}"


def _bases(kind: type) -> str:
    """Return the nearest base of a class that is public or of another package."""
    bases = [base for base in kind.__mro__[1:-1] if base.__name__ in api.__all__ or not _is_ours(base)]
    return f"({bases[0].__name__})" if bases and bases[0] is not typing.Generic else ""


def _members(name: str, kind: type) -> Iterator[str]:
    """Yield the constructor and the documented members, except those that a public base also has."""
    if issubclass(kind, enum.Enum):
        yield from (f"    {one.name} = {one.value!r}" for one in kind)
        return
    fields: Mapping[str, Any] = {}
    if issubclass(kind, BaseModel):
        fields = kind.model_fields
        yield from (f"    {field}: {_field(one)}" for field, one in fields.items())
    elif name not in MADE_FOR_USERS and not inspect.isabstract(kind) and _has_constructor(kind):
        fields = inspect.signature(kind).parameters
        yield _call(f"    {name}", kind)
    public = {name for base in kind.__mro__[1:] if base.__name__ in api.__all__ for name in dir(base)}
    found: dict[str, str] = {}
    for base in reversed([base for base in kind.__mro__ if _is_ours(base)]):
        for member, annotation in inspect.get_annotations(base).items():
            found.setdefault(member, f"    {member}: {_annotation(annotation)}")
        for member, value in vars(base).items():
            if (line := _member(member, value)) is not None:
                found[member] = line
    wanted = ONLY.get(name, found.keys() - public)
    for member, line in sorted(found.items()):
        if not member.startswith("_") and member not in fields and member in wanted:
            yield line


def _has_constructor(kind: type) -> bool:
    plain = (object.__init__, Exception.__init__)
    return kind.__init__ not in plain and not issubclass(kind, Exception)  # type: ignore[misc]


def _member(name: str, value: Any) -> str | None:
    """Return the line of a member of a class; None if users neither call nor read it."""
    if isinstance(value, property | Reading):
        read: Any = value.fget if isinstance(value, property) else value.read
        return f"    {name}: {_annotation(inspect.signature(read).return_annotation)}"
    if isinstance(value, classmethod | staticmethod):
        return _call(f"    {type(value).__name__} {name}", value.__func__)
    return _call(f"    def {name}", value) if inspect.isfunction(value) and value.__doc__ else None


def _call(head: str, thing: Any) -> str:
    """Return the signature of a function or class after a name. A long one has a line for each argument."""
    signature = inspect.signature(thing)
    arguments: list[str] = []
    for name, one in signature.parameters.items():
        if one.kind is one.KEYWORD_ONLY and not any(text.startswith("*") for text in arguments):
            arguments.append("*")
        star = "*" if one.kind is one.VAR_POSITIONAL else "**" if one.kind is one.VAR_KEYWORD else ""
        kind = "" if one.annotation is one.empty else f": {_annotation(one.annotation)}"
        default = "" if one.default is one.empty else f" = {_plain(repr(one.default))}"
        arguments.append(f"{star}{name}{kind}{default}")
    if by_position := sum(one.kind is one.POSITIONAL_ONLY for one in signature.parameters.values()):
        arguments.insert(by_position, "/")
    after = "" if isinstance(thing, type) else f" -> {_annotation(signature.return_annotation)}"
    line = f"{head}({', '.join(arguments)}){after}"
    if len(line) <= WIDTH:
        return line
    indent = " " * (len(head) - len(head.lstrip()))
    return "\n".join([f"{head}(", *(f"{indent}    {one}," for one in arguments), f"{indent}){after}"])


def _field(field: Any) -> str:
    default = "" if field.is_required() else f" = {field.default!r}"
    return _plain(f"{_annotation(field.annotation)}{default}")


def _annotation(annotation: Any) -> str:
    if isinstance(annotation, typing.ForwardRef):
        annotation = annotation.__forward_arg__
    return _plain(annotation if isinstance(annotation, str) else inspect.formatannotation(annotation))


def _plain(shown: str) -> str:
    """Remove the parts of a text that differ between machines: addresses, and names of modules."""
    shown = re.sub(r" at 0x[0-9a-f]+", "", shown)
    return re.sub(r"\b(?:causeway|typing|collections|pathlib|numpy)(?:\.[a-z_]\w*)*\.(?=[A-Za-z_])", "", shown)


def _is_ours(kind: type) -> bool:
    return kind.__module__.partition(".")[0] == "causeway"


if __name__ == "__main__":
    FILE.write_text(text())
