"""The wire contract in Python: version, hash, tables, enums, comments and the generated code.

Everything on which both sides must agree is declared in proto/causeway.proto; this module only reads it.
"""

from __future__ import annotations

import hashlib
import importlib
import re
from enum import EnumMeta, IntEnum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from causeway.errors import UserError

PROTO = Path(__file__).resolve().parent.parent / "proto" / "causeway.proto"

try:
    pb: Any = importlib.import_module("causeway.proto.causeway_pb2")  # generated, so mypy cannot read it
    CONTRACT: int = pb.Constant.CONTRACT
    pb.needs  # noqa: B018 (generated code of an older contract lacks the latest declaration)
except (ImportError, AttributeError) as error:  # pragma: no cover - only in a checkout that was not set up (anew)
    raise UserError("proto/causeway_pb2.py is not built or too new for this protobuf; run `make setup`") from error

if PROTO.exists() and getattr(pb, "PROTO_SHA256", "") != hashlib.sha256(PROTO.read_bytes()).hexdigest():
    raise UserError(
        "proto/causeway_pb2.py was generated from another causeway.proto: run `make proto` (python proto/generate.py)"
    )

__all__ = [
    "CONTRACT",
    "PROTO",
    "DeclaredEnum",
    "column_type",
    "comments",
    "constant",
    "declared",
    "may_lack",
    "pb",
    "schema_sha256",
    "table",
    "words",
]


@cache
def schema_sha256() -> str:
    """Return the hash of the contract, which both sides compare."""
    return hashlib.sha256(PROTO.read_bytes()).hexdigest()


# ---- enums and constants --------------------------------------------------------------------------------------------


class _Declared(EnumMeta):
    """Makes type checkers accept members that only the contract declares."""

    if TYPE_CHECKING:

        def __getattr__(cls, name: str) -> Any: ...


class DeclaredEnum(IntEnum, metaclass=_Declared):
    """An enum with the members of `declared`; its body is a loop over them."""


def declared(message: str) -> list[tuple[str, int]]:
    """Return the names and numbers of the values of `message { enum Value }`."""
    return list(getattr(pb, message).Value.items())


def constant(name: str) -> int:
    """Return a shared constant by its name."""
    value = pb.Constant.Value.DESCRIPTOR.values_by_name[name]
    options = value.GetOptions()
    return int(options.Extensions[pb.exactly] if options.HasExtension(pb.exactly) else value.number)


def words(message: str, name: str) -> str:
    """Return the text for a value in messages and tables."""
    return str(getattr(pb, message).Value.DESCRIPTOR.values_by_name[name].GetOptions().Extensions[pb.words])


@cache
def comments(message: str) -> dict[str, str]:
    """Return the contract's comment for every value of `message { enum Value }`: above the value or behind it."""
    body = re.search(rf"^message {message} {{$(.*?)^}}$", PROTO.read_text(), re.MULTILINE | re.DOTALL)
    found: dict[str, str] = {}
    above: list[str] = []
    for line in body[1].splitlines() if body else []:
        value = re.match(r"\s*([A-Z0-9_]+) = -?\d+(?: \[|.*?;\s*(?://\s*(.*))?)$", line)
        if value:
            found[value[1]] = " ".join([*above, value[2] or ""]).strip()
        above = [*above, line.strip(" /")] if line.lstrip().startswith("//") else []
    return found


# ---- tables ---------------------------------------------------------------------------------------------------------


@cache
def table(message: str, name: str) -> np.dtype:
    """Return the columns of one table of a message, in the contract's order."""
    return np.dtype([(field.name, "<" + about.type) for field, about in _columns(message) if about.table == name])


@cache
def column_type(message: str, name: str) -> np.dtype:
    """Return the type of the elements of one column."""
    return np.dtype("<" + next(about.type for field, about in _columns(message) if field.name == name))


@cache
def may_lack(message: str) -> frozenset[str]:
    """Return the columns that may be empty, which means 0 in every row."""
    return frozenset(field.name for field, about in _columns(message) if about.may_lack)


def _columns(message: str) -> list[tuple[Any, Any]]:
    fields = [(field, field.GetOptions()) for field in getattr(pb, message).DESCRIPTOR.fields]
    return [(field, o.Extensions[pb.column]) for field, o in fields if o.HasExtension(pb.column)]
