"""Evaluate a quantity, an arithmetic expression over names such as `requests/(messages*processes)`.

The operands may be numbers, pandas Series or Spark Columns: any type with + - * / and **. A name that is not a Python
identifier needs quotation marks: `"channelUtilization:last" / 100`.
"""

import ast
import operator
import re
from collections.abc import Callable
from typing import Any, cast

from causeway.errors import UserError

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Pow: operator.pow,
}
LONGEST = 1000
"""The maximum length of an expression in characters. Python's parser takes much memory for longer ones."""
_OTHERS = (ast.Div, ast.USub, ast.UAdd)


def parse(text: str) -> ast.expr:
    """Return the syntax tree of an expression; raise UserError if it is not arithmetic."""
    if len(text) > LONGEST:
        raise UserError(f"an expression of {len(text)} characters is too long; {LONGEST} are allowed")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise UserError(f"'{text}' is not an arithmetic expression over scalars") from None
    for node in ast.walk(tree):
        known = isinstance(node, ast.Constant) and type(node.value) in (int, float, str)
        if not known and not isinstance(node, (ast.BinOp, ast.UnaryOp, ast.Name, ast.Load, *_BINARY, *_OTHERS)):
            raise UserError(f"'{text}' may only use names (\"odd:ones\" in quotes), numbers, + - * / **, brackets")
    return tree


def names(text: str) -> list[str]:
    """Return the names in an expression, sorted, each once."""
    found = {_name_of(node) for node in ast.walk(parse(text))}
    return sorted(name for name in found if name is not None)


def _name_of(node: ast.AST) -> str | None:
    if isinstance(node, ast.Name):
        return node.id
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def without_quotes(text: str) -> str:
    """Return an expression as the label of an axis: without the quotation marks around names."""
    return re.sub(r"""(["'])(.*?)\1""", r"\2", text)


def evaluate(text: str, value_of: Callable[[str], Any], divide: Callable[[Any, Any], Any]) -> Any:
    """Return the value of an expression.

    `divide` carries out divisions, so it defines the result of division by zero.
    """

    def value(node: ast.expr) -> Any:
        if (name := _name_of(node)) is not None:
            return value_of(name)
        if isinstance(node, ast.Constant):
            return float(cast(float, node.value))  # powers of ints could grow without bounds
        if isinstance(node, ast.UnaryOp):
            operand = value(node.operand)
            return -operand if isinstance(node.op, ast.USub) else operand
        assert isinstance(node, ast.BinOp)
        left, right = value(node.left), value(node.right)
        return divide(left, right) if isinstance(node.op, ast.Div) else _BINARY[type(node.op)](left, right)

    tree = parse(text)
    try:
        result = value(tree)
    except (OverflowError, ZeroDivisionError):
        result = 0j
    if isinstance(result, complex):
        raise UserError(f"'{text}' has no value that fits a number")
    return result
