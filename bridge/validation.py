"""The rules of actions and of runs, as proto/causeway.proto declares them, for every check.

They are used for error messages (`validation_messages`), compiled (`validation_kernel`), at the calls of a node
(`pycontrol/arguments.py`), and before a run begins (`checked`). The adapter reads the same declarations
(`bridge/cpp/validation.cc`).
"""

from __future__ import annotations

import string
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from google.protobuf.descriptor import FieldDescriptor

from causeway.bridge.events import COLUMNS, Act
from causeway.proto.contract import column_type, constant, declared, pb

LIMITS = ("nodes", "interfaces", "channels", "first_mover", "movers", "tcp", "connections", "earliest_ps")
"""Numbers of a run that rules name besides the columns of a row."""
OPERANDS = (*COLUMNS, *LIMITS, "zero")
INTERFACES = len(declared("Interface"))
LATEST_PS = constant("LATEST_PS")
MOST_NODES = constant("MOST_NODES")
TYPES = {FieldDescriptor.TYPE_INT32: "<i4"}
"""The types that limit the values of fields outside of columns. All other types can hold any bound."""


class Bound(NamedTuple):
    """A bound: the value of an operand plus a whole number."""

    base: str
    plus: int

    def value(self, held: Mapping[str, int]) -> int:
        """Return the bound for these values of the operands."""
        return held.get(self.base, 0) + self.plus


class Rule(NamedTuple):
    """An operand and its bounds."""

    of: str
    least: Bound
    most: Bound
    unlike: str
    """The operand whose value is forbidden though within the bounds, or ""."""
    wrong: str
    allowed: str

    def is_broken(self, held: Mapping[str, int]) -> bool:
        """Return whether these values of the operands break the rule."""
        value = held[self.of]
        within = self.least.value(held) <= value <= self.most.value(held)
        return not within or (self.unlike != "" and value == held[self.unlike])

    def words(self, held: Mapping[str, int]) -> str:
        """Return the message: the wrong value, and the allowed ones."""
        least, most = self.least.value(held), self.most.value(held)
        message = string.Template(f"{self.wrong}; allowed: {self.allowed}".replace("{", "${"))
        return message.substitute({**held, "value": held[self.of], "least": least, "most": most})


def first_broken(rules: Iterable[Rule], held: Mapping[str, int]) -> Rule | None:
    """Return the first broken rule, or None."""
    return next((rule for rule in rules if rule.is_broken(held)), None)


@cache
def rules_of_table(message: str, table: str) -> tuple[Rule, ...]:
    """Return the rules that hold for every row of a table."""
    found = []
    for field in getattr(pb, message).DESCRIPTOR.fields:
        options = field.GetOptions()
        if options.HasExtension(pb.rule) and options.Extensions[pb.column].table == table:
            found.append(_rule(options.Extensions[pb.rule], field.name, column_type(message, field.name)))
    return tuple(found)


@cache
def rules_of_action(kind: int) -> tuple[Rule, ...]:
    """Return the rules of a row of this kind, in the order in which they are checked."""
    value = pb.Act.Value.DESCRIPTOR.values_by_number[kind]
    own = tuple(_rule(rule, rule.of, _type_of(rule.of)) for rule in value.GetOptions().Extensions[pb.needs])
    return (*rules_of_table("Actions", "actions"), *own)


@cache
def bounds(kind: int, of: str, **held: int) -> tuple[int, int]:
    """Return the lowest and the highest value of an operand in an action of this kind."""
    rule = next(rule for rule in rules_of_action(kind) if rule.of == of)
    return rule.least.value(held), rule.most.value(held)


@cache
def rule_of_field(message: str, field: str) -> Rule:
    """Return the rule of a field of a run's description."""
    found = getattr(pb, message).DESCRIPTOR.fields_by_name[field]
    options = found.GetOptions()
    is_column = options.HasExtension(pb.column)
    dtype = column_type(message, field) if is_column else np.dtype(TYPES.get(found.type, "<i8"))
    return _rule(options.Extensions[pb.rule], field, dtype)


def _type_of(operand: str) -> np.dtype:
    return column_type("Actions", operand) if operand in COLUMNS else np.dtype(np.int64)


def _rule(declared: Any, of: str, dtype: np.dtype) -> Rule:
    limits = np.iinfo(dtype if dtype.kind in "iu" else np.int64)
    least = _bound(declared.least, int(limits.min))
    most = _bound(declared.most, int(limits.max))
    if declared.below:
        below = _bound(declared.below, 0)
        most = Bound(below.base, below.plus - 1)
    return Rule(of, least, most, declared.unlike, declared.wrong, declared.allowed or "{least} to {most}")


def _bound(text: str, unbounded: int) -> Bound:
    """Return the bound that a rule names: a whole number, an operand or a constant."""
    if text in OPERANDS:
        return Bound(text, 0)
    if text.lstrip("-").isdigit():
        return Bound("zero", int(text))
    return Bound("zero", constant(text) if text else unbounded)


# ---- for compiled checks --------------------------------------------------------------------------------------------

PLACES = {name: place for place, name in enumerate(OPERANDS)}
OF, LEAST, LEAST_PLUS, MOST, MOST_PLUS, UNLIKE = range(6)
"""The columns of `TABLE`: places of operands, and numbers to add."""


def _table() -> tuple[np.ndarray, np.ndarray]:
    """Return all rules of actions as numbers, and the first row of each kind.

    Topics, which few answers have, are left out; `first_bad_topic` checks them.
    """
    rows: list[tuple[int, ...]] = []
    first = [0]
    known = {int(act) for act in Act}
    for kind in range(max(known) + 1):
        for rule in rules_of_action(kind) if kind in known else ():
            if rule.of != "topic":
                bounds = PLACES[rule.least.base], rule.least.plus, PLACES[rule.most.base], rule.most.plus
                rows.append((PLACES[rule.of], *bounds, PLACES[rule.unlike] if rule.unlike else -1))
        first.append(len(rows))
    return np.array(rows, np.int64), np.array(first, np.int64)


TABLE, FIRST = _table()
