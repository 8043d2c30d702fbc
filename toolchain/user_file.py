"""Import a user's Python file. Errors in it are shown with the user's own lines, without Causeway's."""

from __future__ import annotations

import hashlib
import importlib.util
import linecache
import sys
import traceback
from pathlib import Path
from types import ModuleType

from causeway.errors import UserError
from causeway.toolchain.compiled_code import use_for
from causeway.toolchain.installation import SOURCES
from causeway.toolchain.siblings import FreshLoader, Home
from causeway.toolchain.sources import check_siblings, imported

MOST_LINES = 6
PACKAGES = (
    "aio", "analysis", "bridge", "causeway", "cli", "explore", "network", "proto", "pycontrol", "studies", "toolchain",
)  # fmt: skip
"""Causeway's own folders."""


def module_from(path: Path, prefix: str = "causeway_file") -> ModuleType:
    """Execute the file as a module. It can import the files beside it.

    Raises:
        UserError: The file is not Python, or raised an exception.
    """
    name = f"{prefix}_{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:8]}"
    if path.suffix != ".py":
        raise UserError(f"{path} is not a Python file")
    loader = FreshLoader(name, str(path))
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    assert spec is not None
    home = _homes[name] = Home(path.resolve().parent)
    home.enter()
    found = imported(path.resolve())
    check_siblings(found, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    use_for(found.files)
    try:
        loader.exec_module(module)
    except UserError:
        raise
    except (Exception, SystemExit) as error:
        raise UserError(f"{path} cannot be executed: {describe_user_error(error) or _description(error)}") from error
    return module


def enter_folder_of(thing: type) -> None:
    """Make the files beside a user's file importable again, for a class that is defined in it."""
    if home := _homes.get(thing.__module__):
        home.enter()


_homes: dict[str, Home] = {}
"""Maps the name of a module that `module_from` made to the folder of its file."""


def describe_user_error(error: BaseException) -> str | None:
    """Describe an exception raised in or below a user's code, with the user's lines; None if no line is the user's."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if is_user_file(f.filename)]
    return _description(error) + _lines(frames) if frames else None


def is_user_file(filename: str) -> bool:
    """Return whether a file is a user's: not Causeway's, Python's or an installed package's."""
    path = Path(filename)
    if filename.startswith("<") or "site-packages" in path.parts or "__pycache__" in path.parts:
        return False
    if any(path.is_relative_to(prefix) for prefix in (sys.base_prefix, sys.prefix)):
        return False
    return not any(path.resolve().is_relative_to(SOURCES / package) for package in PACKAGES)


def _description(error: BaseException) -> str:
    message = " ".join((error.msg if isinstance(error, SyntaxError) else str(error)).split())
    where = ""
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        where = f"\n  {error.filename}:{error.lineno}: {(error.text or '').strip()}"
    return (f"{type(error).__name__}: {message}" if message else type(error).__name__) + where


def _lines(frames: list[traceback.FrameSummary]) -> str:
    return "".join(
        f"\n  {f.filename}:{f.lineno}, in {f.name}: {linecache.getline(f.filename, f.lineno or 0).strip()}"
        for f in frames[-MOST_LINES:]
    )
