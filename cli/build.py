"""`causeway build`: compile adapters and kernels before their first use."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape

from causeway.bridge import engines
from causeway.errors import UserError
from causeway.network.networks import Network
from causeway.toolchain.adapters import Adapter, build

KERNELS = "kernels"
"""The name for the functions that numba compiles, used like the name of an engine."""


def build_adapters(names: Sequence[str], console: Console) -> None:
    """Compile the adapters of these engines, or `kernels`; by default everything that can be compiled here.

    Raises:
        UserError: An engine has nothing to build, or an adapter does not compile. The other adapters have been built.
    """
    failures = []
    for name in [n for n in names or engines.ENGINES if n != KERNELS]:
        engine = engines.get(name)
        adapters = engine.adapters()
        why = None if adapters else engine.missing()
        if not adapters and names:
            raise UserError(f"engine {name} " + (f"cannot run here: {why}" if why else "has no adapter to build"))
        if why:
            _say(console, f"engine {name} is skipped: {why}")
        for adapter in adapters:
            try:
                with_progress(adapter, console)
            except UserError as error:
                failures.append(error)
            else:
                _say(console, f"engine {name} is ready: {adapter.simulator}, in {adapter.directory}")
        if name == "omnet" and adapters:
            _say_without_inet(console)
    if not names or KERNELS in names:
        from causeway.cli.kernels import build_kernels

        build_kernels(console)
    if failures:
        raise failures[0]


def _say_without_inet(console: Console) -> None:
    """Print why only abstract networks are possible, if no INET can be used."""
    from causeway.bridge.engines.omnet_inet import missing_inet
    from causeway.toolchain.omnet_find import find_omnetpp

    found = find_omnetpp()
    if found is not None and (why := missing_inet(found)):
        _say(console, f"INET is skipped, so the engine omnet supports only abstract networks: {why}")


def _say(console: Console, text: str) -> None:
    console.print(text, markup=False, highlight=False, soft_wrap=True)


def prepare(name: str, network: Network, console: Console) -> None:
    """Compile the adapters that an engine needs for a network, before a run on it."""
    for adapter in engines.get(name).adapters(network):
        with_progress(adapter, console)


def with_progress(adapter: Adapter, console: Console) -> None:
    """Compile one adapter, and show the file that is being compiled."""
    if adapter.is_built():
        return
    first = f"compiling the {adapter.name} adapter for {adapter.simulator} (once; about a minute)"
    if not console.is_terminal:
        console.print(first, markup=False, highlight=False, soft_wrap=True)
        build(adapter)
        return
    with console.status(escape(first)) as status:
        build(adapter, lambda step: status.update(escape(f"{first}: {step}")))
