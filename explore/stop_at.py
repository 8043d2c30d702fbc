"""Stop a replayed run in the handler of one event: the event of a node at an instant, or the first one after it."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from causeway.bridge.events import Actions, Window, joined
from causeway.explore import debugger
from causeway.pycontrol.protocol import Protocol
from causeway.pycontrol.protocol_calls import answer_to
from causeway.pycontrol.stepping import part_of


class StopAt:
    """The place at which to stop. `loop.windows` calls it."""

    def __init__(self, at_ps: int, node: int) -> None:
        self._at_ps, self._node = at_ps, node
        self.reached = False
        """True after a handler was called at this place."""

    def answer(self, window: Window, protocol: Protocol) -> Generator[None, None, Actions]:
        """Return the protocol's actions for a window. If the window contains the event, debug its handler."""
        parts: list[Actions] = []
        done = 0
        wanted = (window.time_ps >= self._at_ps) & ((window.node == self._node) | (self._node < 0))
        for row in np.flatnonzero(wanted).tolist():
            if self.reached or row < done:
                continue
            if row > done:
                parts.append(answer_to(part_of(window, done, row, False), protocol))
            one = part_of(window, row, row + 1, False)
            self.reached = debugger.stop_in(None, lambda one=one: parts.append(answer_to(one, protocol)))  # type: ignore[misc]
            done = row + 1
        if any(part.stop for part in parts):
            done = len(window)
        parts.append(answer_to(part_of(window, done, len(window), window.reply), protocol))
        yield from ()
        return joined(parts)

    def end(self, end_ps: int) -> Generator[None, None, None]:
        """Do not stop at the end."""
        yield from ()
