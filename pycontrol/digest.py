"""The digest of a run: equal digests mean that the same things happened at the same instants in the same order.

It covers what nodes broadcast and delivered and what they sent, never how events were batched into windows.
"""

from __future__ import annotations

import hashlib

import numpy as np

from bridge.events import Act, Actions
from pycontrol.protocol import Observer

SEND = int(Act.SEND)
"""A plain number: comparing an array with an IntEnum costs microseconds."""


class Digest(Observer):
    """Hashes broadcasts and deliveries as an observer, and sends as the loop passes them."""

    def __init__(self) -> None:
        self._observed = [hashlib.blake2b(digest_size=16) for _ in range(4)]
        self._sent = [hashlib.blake2b(digest_size=16) for _ in range(5)]

    def observe(self, op, time_ps, node, message) -> None:
        for column, (hasher, type_) in zip(
            (op, time_ps, node, message),
            zip(self._observed, (np.uint8, np.int64, np.int32, np.int64), strict=True),
            strict=True,
        ):
            hasher.update(np.ascontiguousarray(column, type_).data)

    def sent(self, actions: Actions) -> None:
        """Adds the SENDs among the actions."""
        which = actions.kind == SEND
        if which.all():
            columns = (actions.time_ps, actions.node, actions.ref, actions.peer, actions.size_bytes)
        else:
            columns = tuple(
                c[which] for c in (actions.time_ps, actions.node, actions.ref, actions.peer, actions.size_bytes)
            )
        for hasher, column in zip(self._sent, columns, strict=True):
            hasher.update(np.ascontiguousarray(column).data)

    def scalars(self) -> dict[str, float]:
        return {}

    def hexdigest(self) -> str:
        """32 hex digits."""
        total = hashlib.blake2b(digest_size=16)
        for hasher in (*self._observed, *self._sent):
            total.update(hasher.digest())
        return total.hexdigest()
