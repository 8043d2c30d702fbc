"""Refuse a node's services in `on_finish`, when no event can follow any more."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, NoReturn

from causeway.pycontrol.protocol_errors import Misuse

SERVICES = (
    "send", "declare_lookahead", "set_timer", "cancel_timer", "switch", "move", "connect", "on_tcp", "new_message",
    "note",
)  # fmt: skip
IN_WORDS = {"switch": "crash or recover", "note": "deliver, joined or left"}
"""The names of services in error messages, if they differ from the methods' names."""


def refuse_services(protocol: Any) -> None:
    """Replace the services of a PerNode by functions that raise Misuse."""
    for service in SERVICES:
        setattr(protocol, service, partial(_refuse, service))


@contextmanager
def services_refused(protocol: Any) -> Iterator[None]:
    """Refuse the services of a PerNode while a node that goes runs its `on_finish`."""
    before = {name: vars(protocol)[name] for name in SERVICES if name in vars(protocol)}
    refuse_services(protocol)
    try:
        yield
    finally:
        for name in SERVICES:
            delattr(protocol, name)
        vars(protocol).update(before)


def _refuse(service: str, *_: Any, **__: Any) -> NoReturn:
    raise Misuse(
        f"{IN_WORDS.get(service, service)} is called in on_finish, after the last event; there a node can only record "
        f"and log"
    )
