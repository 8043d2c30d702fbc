"""Refuse an option that takes one value and is set twice. typer would use the last value without a message."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import typer
from typer.core import TyperGroup, TyperOption


class Interrupted(Exception):
    """Raised if the user interrupts the command. Typer would end it without a message."""


class StrictGroup(TyperGroup):
    """A group of commands that refuses repeated options before it parses them, and that reports interrupts."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command.

        Raises:
            Interrupted: The user interrupted it.
        """
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise Interrupted from None

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command with a name, with the check added."""
        command: Any = super().get_command(ctx, cmd_name)
        if command is not None and not isinstance(command.parse_args, partial):
            command.parse_args = partial(_parsed, command, command.parse_args)
        return command


def _parsed(command: Any, parse: Callable[..., list[str]], ctx: Any, args: list[str]) -> list[str]:
    _, _, options = command.make_parser(ctx).parse_args(args=list(args))
    for option in options:
        if isinstance(option, TyperOption) and options.count(option) > 1 and not (option.multiple or option.is_flag):
            raise typer.BadParameter("it is set twice; remove one", ctx, option)
    return parse(ctx, args)
