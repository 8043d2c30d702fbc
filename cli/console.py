"""Where the commands print. What comes from files and studies is text: never markup or commands of the terminal."""

from __future__ import annotations

from rich.console import Console


def console(stderr: bool = False) -> Console:
    """A console that prints what it is given; styles come from `Text`, not from brackets in strings."""
    return Console(stderr=stderr, markup=False, emoji=False, highlight=False)


def printable(text: object) -> str:
    """Text that can be printed anywhere: what would steer the terminal, or cannot be encoded, is spelled out."""
    spelled = str(text).encode("utf-8", "backslashreplace").decode()
    return "".join(c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in spelled)
