"""Mutation tests: change a protocol's code in one place. The properties should detect the change.

A mutant is one function with one change. The functions are those that run in a model of the protocol; code that does
not run cannot be detected and has no mutants. Start here: `mutants`.
"""

from __future__ import annotations

import ast
import copy
import gc
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

from causeway.explore.model import Model

SWAPS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
SIGNS = {ast.Gt: ">", ast.GtE: ">=", ast.Lt: "<", ast.LtE: "<=", ast.Eq: "==", ast.NotEq: "!=", ast.In: "in",
         ast.NotIn: "not in", ast.Is: "is", ast.IsNot: "is not"}  # fmt: skip
SET_UP = ("__init__", "on_start")
"""Functions in which no assignment is removed: without it nodes do not work, so the change is always detected."""


@dataclass(frozen=True)
class Mutant:
    """One change of one function."""

    file: Path
    line: int
    what: str
    function: FunctionType
    code: CodeType


@contextmanager
def reached(found: set[CodeType]) -> Iterator[None]:
    """Add all code that runs in the block to `found`."""

    def note(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call":
            found.add(frame.f_code)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        yield
    finally:
        sys.setprofile(before)


def mutants(model: Model, ran: set[CodeType], spared: set[CodeType]) -> Iterator[Mutant]:
    """Yield all mutants of the protocol's functions that ran.

    Args:
        model: A model. The files of its nodes' classes, and all files in the same packages, are the protocol's.
        ran: The code that ran (`reached`).
        spared: Code that is not changed, such as the code of properties.
    """
    homes = {Path(sys.modules[type(node).__module__].__file__ or "") for node in model.nodes}
    packages = {home.parent for home in homes if (home.parent / "__init__.py").exists()}
    files = sorted({Path(code.co_filename) for code in ran})
    for file in files:
        if file in homes or file.parent in packages:
            codes = [code for code in ran if code.co_filename == str(file) and code not in spared]
            yield from _of_file(file, codes)


def _of_file(file: Path, codes: list[CodeType]) -> Iterator[Mutant]:
    tree = ast.parse(file.read_text())
    for code in sorted(codes, key=lambda one: one.co_firstlineno):
        functions = [one for one in gc.get_referrers(code) if isinstance(one, FunctionType) and one.__code__ is code]
        place = _definition(tree, code)
        if len(functions) != 1 or place is None:
            continue
        for line, what, change in _changes(place):
            changed = _compiled(tree, place, change, str(file), code)
            if changed is not None:
                yield Mutant(file, line, what, functions[0], changed)


def _definition(tree: ast.Module, code: CodeType) -> ast.FunctionDef | None:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == code.co_name:
            first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
            if first == code.co_firstlineno:
                return node
    return None


Change = Callable[[], Callable[[], None]]
"""A function that changes the tree and returns a function that undoes the change."""


def _changes(function: ast.FunctionDef) -> Iterator[tuple[int, str, Change]]:
    """Yield (line, description, change) of all changes of a function."""
    for parent in ast.walk(function):
        for name in ("body", "orelse"):
            rows = getattr(parent, name, None)
            if isinstance(rows, list):
                yield from _dropped(function, rows)
        if isinstance(parent, ast.Match):
            for at, case in enumerate(parent.cases):
                kind = ast.unparse(case.pattern)
                yield case.pattern.lineno, f"no case {kind}", _element(parent.cases, at, None)
        if isinstance(parent, ast.Compare):
            for at, sign in enumerate(parent.ops):
                other = SWAPS[type(sign)]
                what = f"{SIGNS[other]} for {SIGNS[type(sign)]}"
                yield parent.lineno, what, _element(parent.ops, at, other())
        if isinstance(parent, ast.BoolOp):
            swapped = ast.Or() if isinstance(parent.op, ast.And) else ast.And()
            words = ("or", "and") if isinstance(parent.op, ast.And) else ("and", "or")
            yield parent.lineno, "{} for {}".format(*words), _attribute(parent, "op", swapped)
        if isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Add | ast.Sub):
            swapped_sign = ast.Sub() if isinstance(parent.op, ast.Add) else ast.Add()
            yield parent.lineno, "the other sign", _attribute(parent, "op", swapped_sign)
        if isinstance(parent, ast.Constant) and type(parent.value) is int:
            yield parent.lineno, f"{parent.value + 1} for {parent.value}", _attribute(parent, "value", parent.value + 1)
        if isinstance(parent, ast.Name) and parent.id in ("all", "any", "min", "max"):
            other_name = {"all": "any", "any": "all", "min": "max", "max": "min"}[parent.id]
            yield parent.lineno, f"{other_name} for {parent.id}", _attribute(parent, "id", other_name)


def _dropped(function: ast.FunctionDef, rows: list[ast.stmt]) -> Iterator[tuple[int, str, Change]]:
    for at, row in enumerate(rows):
        is_docstring = isinstance(row, ast.Expr) and isinstance(row.value, ast.Constant)
        kinds = (ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.If, ast.For, ast.Delete, ast.Return)
        if is_docstring or not isinstance(row, kinds) or (function.name in SET_UP and not isinstance(row, ast.Expr)):
            continue
        yield row.lineno, "left out", _element(rows, at, ast.Pass())


def _element(rows: list[Any], at: int, value: Any) -> Change:
    def change() -> Callable[[], None]:
        before = list(rows)
        rows[at : at + 1] = [] if value is None else [value]

        def back() -> None:
            rows[:] = before

        return back

    return change


def _attribute(node: Any, name: str, value: Any) -> Change:
    def change() -> Callable[[], None]:
        before = getattr(node, name)
        setattr(node, name, value)
        return lambda: setattr(node, name, before)

    return change


def _compiled(
    tree: ast.Module, function: ast.FunctionDef, change: Change, file: str, before: CodeType
) -> CodeType | None:  # fmt: skip
    """Return the code of the changed function, or None if it cannot replace the original."""
    back = change()
    try:
        whole = compile(ast.fix_missing_locations(copy.deepcopy(tree)), file, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return None
    finally:
        back()
    todo: list[CodeType] = [whole]
    while todo:
        code = todo.pop()
        if code.co_qualname == before.co_qualname and code.co_firstlineno == before.co_firstlineno:
            same = code.co_freevars == before.co_freevars and code.co_code != b""
            differs = (code.co_code, code.co_consts, code.co_names) != (
                before.co_code, before.co_consts, before.co_names,
            )  # fmt: skip
            return code if same and differs else None
        todo += [one for one in code.co_consts if isinstance(one, CodeType)]
    return None


class MutantHangs(Exception):
    """Raised in a mutant that takes too long."""


@contextmanager
def put_in(mutant: Mutant, seconds: float) -> Iterator[None]:
    """Replace the function by the mutant in the block, which may take at most `seconds`.

    Raises:
        MutantHangs: The time is over.
    """

    def ring(number: int, frame: FrameType | None) -> None:
        raise MutantHangs

    before, kept = signal.signal(signal.SIGALRM, ring), mutant.function.__code__
    mutant.function.__code__ = mutant.code
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        mutant.function.__code__ = kept


@dataclass
class Patch:
    """Temporary changes of attributes, with which tests seed bugs."""

    undone: list[tuple[Any, str, Any]]

    def setattr(self, target: Any, name: str, value: Any, raising: bool = True) -> None:
        """Set an attribute, like pytest's monkeypatch."""
        self.undone.append((target, name, vars(target).get(name, Patch)))
        setattr(target, name, value)

    def undo(self) -> None:
        """Undo all changes."""
        for target, name, value in reversed(self.undone):
            if value is Patch:
                delattr(target, name)
            else:
                setattr(target, name, value)
        self.undone.clear()
