"""`causeway build`: compiles edges and kernels ahead of their first use."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape

from causeway.bridge import engines
from causeway.bridge.edges import Edge, build
from causeway.bridge.errors import UserError

KERNELS = "kernels"
"""The name, beside those of engines, for the functions that numba compiles."""


def build_edges(names: Sequence[str], console: Console) -> None:
    """Compile the adapters of these engines, or `kernels`; by default everything that can be compiled here."""
    for name in [n for n in names or engines.ENGINES if n != KERNELS]:
        engine = engines.get(name)
        edges = engine.edges()
        if not edges and names:
            raise UserError(f"engine {name} has nothing to build: {engine.missing() or 'it runs in process'}")
        if not edges and (why := engine.missing()):
            console.print(f"engine {name} is left out: {why}", markup=False, highlight=False, soft_wrap=True)
        for edge in edges:
            with_progress(edge, console)
            console.print(
                f"engine {name} is ready: {edge.simulator}, in {edge.directory}",
                markup=False, highlight=False, soft_wrap=True,
            )  # fmt: skip
    if not names or KERNELS in names:
        from causeway.cli.kernels import build_kernels

        build_kernels(console)


def prepare(name: str, console: Console) -> None:
    """Compile the adapters that an engine needs, before a run on it."""
    for edge in engines.get(name).edges():
        with_progress(edge, console)


def with_progress(edge: Edge, console: Console) -> None:
    """Compile one adapter, and show which file is being compiled."""
    if edge.is_built():
        return
    first = f"compiling the {edge.name} edge for {edge.simulator} (once; about a minute)"
    if not console.is_terminal:
        console.print(first, markup=False, highlight=False, soft_wrap=True)
        build(edge)
        return
    with console.status(escape(first)) as status:
        build(edge, lambda step: status.update(escape(f"{first}: {step}")))
