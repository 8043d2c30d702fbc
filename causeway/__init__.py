"""Causeway: distributed protocols in Python on packet-level network simulators.

    from causeway import EVERYONE, MobileNetwork, Node, PerNode, Study

`causeway.api` lists the public names. They are loaded when one is first asked for, so that a tool that needs one module
does not wait for all.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from causeway.api import *  # noqa: F403


def __getattr__(name: str) -> Any:
    if name.startswith("_") and name != "__version__":
        raise AttributeError(name)
    api = import_module("causeway.api")
    if name not in api.__all__:
        raise AttributeError(f"causeway has no public name {name!r}; causeway.api lists them")
    return getattr(api, name)


def __dir__() -> list[str]:
    return list(import_module("causeway.api").__all__)
