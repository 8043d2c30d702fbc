"""`causeway build`: compiles adapters and kernels ahead of their first use."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape

from causeway.bridge import engines
from causeway.errors import UserError
from causeway.toolchain.adapters import Adapter, build

KERNELS = "kernels"
"""The name, beside those of engines, for the functions that numba compiles."""


def build_adapters(names: Sequence[str], console: Console) -> None:
    """Compile the adapters of these engines, or `kernels`; by default everything that can be compiled here."""
    for name in [n for n in names or engines.ENGINES if n != KERNELS]:
        engine = engines.get(name)
        adapters = engine.adapters()
        if not adapters and names:
            raise UserError(f"engine {name} has nothing to build: {engine.missing() or 'it runs in process'}")
        if not adapters and (why := engine.missing()):
            console.print(f"engine {name} is left out: {why}", markup=False, highlight=False, soft_wrap=True)
        for adapter in adapters:
            with_progress(adapter, console)
            console.print(
                f"engine {name} is ready: {adapter.simulator}, in {adapter.directory}",
                markup=False, highlight=False, soft_wrap=True,
            )  # fmt: skip
    if not names or KERNELS in names:
        from causeway.cli.kernels import build_kernels

        build_kernels(console)


def prepare(name: str, console: Console) -> None:
    """Compile the adapters that an engine needs, before a run on it."""
    for adapter in engines.get(name).adapters():
        with_progress(adapter, console)


def with_progress(adapter: Adapter, console: Console) -> None:
    """Compile one adapter, and show which file is being compiled."""
    if adapter.is_built():
        return
    first = f"compiling the {adapter.name} adapter for {adapter.simulator} (once; about a minute)"
    if not console.is_terminal:
        console.print(first, markup=False, highlight=False, soft_wrap=True)
        build(adapter)
        return
    with console.status(escape(first)) as status:
        build(adapter, lambda step: status.update(escape(f"{first}: {step}")))
