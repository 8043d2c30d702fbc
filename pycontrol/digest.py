"""The digest of a run. Runs with equal digests had the same actions at the same instants in the same order.

It covers the nodes' broadcasts, deliveries and sent packets. It does not depend on the windows in which events were
delivered.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from causeway.bridge.events import Act, ActionRows, Actions, joined
from causeway.pycontrol.protocol import AT_ONCE, Observer

SEND, FIRST_OF_TCP = int(Act.SEND), int(Act.LISTEN)
"""Plain ints, since comparing an array with an IntEnum costs microseconds. Actions of TCP, from LISTEN on, are sends,
too."""
COLUMNS = ("time_ps", "node", "ref", "peer", "size_bytes")


def _join_rows(parts: list[Actions]) -> list[Actions]:
    """Join answers that consist of rows, so that their columns are made at once."""
    return [joined(parts)] if all(isinstance(part, ActionRows) for part in parts) else parts


class Digest(Observer):
    """An observer that hashes broadcasts, deliveries and, through the loop, sends."""

    def __init__(self) -> None:
        self._observed = [hashlib.blake2b(digest_size=16) for _ in range(4)]
        self._sent = [hashlib.blake2b(digest_size=16) for _ in range(5)]
        self._waiting: list[Actions] = []
        self._rows = 0

    def observe(self, op: Any, time_ps: Any, node: Any, message: Any) -> None:
        """Add rows of observations."""
        for column, (hasher, type_) in zip(
            (op, time_ps, node, message),
            zip(self._observed, (np.uint8, np.int64, np.int32, np.int64), strict=True),
            strict=True,
        ):
            hasher.update(np.ascontiguousarray(column, type_).data)

    def sent(self, actions: Actions) -> None:
        """Add the sends among the actions, in batches of AT_ONCE."""
        self._waiting.append(actions)
        self._rows += len(actions)
        if self._rows >= AT_ONCE:
            self._add_waiting()

    def _add_waiting(self) -> None:
        if not self._waiting:
            return
        parts = _join_rows(self._waiting)
        kind = np.concatenate([part.kind for part in parts])
        which = (kind == SEND) | (kind >= FIRST_OF_TCP)
        every = which.all()
        for hasher, name in zip(self._sent, COLUMNS, strict=True):
            column = np.concatenate([getattr(part, name) for part in parts])
            hasher.update(column.data if every else column[which].data)
        self._waiting.clear()
        self._rows = 0

    def scalars(self) -> dict[str, float]:
        """Return no scalars, since the digest is a field of the run's outcome."""
        return {}

    def hexdigest(self) -> str:
        """Return the digest as 32 hex digits."""
        self._add_waiting()
        total = hashlib.blake2b(digest_size=16)
        for hasher in (*self._observed, *self._sent):
            total.update(hasher.digest())
        return total.hexdigest()
