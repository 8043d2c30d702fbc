"""Pause a run between two events: after a window, or after all events up to an instant.

A window that extends beyond the instant is handled in parts. The engine gets one answer when the run continues. So a
stepped run has the same results as an uninterrupted run, since a protocol must not depend on the ends of windows.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator
from dataclasses import dataclass, field

import numpy as np

from causeway.bridge.events import EVENT, Actions, Window, joined
from causeway.bridge.validation_kernel import FAR_PS
from causeway.pycontrol.confined import acting
from causeway.pycontrol.handler_errors import raise_with_context
from causeway.pycontrol.handlers import Node
from causeway.pycontrol.node import PerNode
from causeway.pycontrol.protocol import Protocol
from causeway.pycontrol.protocol_calls import answer_to
from causeway.pycontrol.protocol_errors import call
from causeway.pycontrol.watchdog import calls_handlers

Handler = Callable[[Node], object]


def part_of(window: Window, begin: int, end: int, reply: bool) -> Window:
    """Return some rows of a window."""
    if begin == 0 and end == len(window) and reply == window.reply:
        return window
    columns = {name: getattr(window, name) for name in EVENT.names or ()}
    kept = {name: None if column is None else column[begin:end] for name, column in columns.items()}
    return Window(window.number, window.end_ps, reply, **kept)


@dataclass
class Pauses:
    """The state of a stepped run; `loop.windows` calls it."""

    reaction_ps: int
    until_ps: int = FAR_PS
    """The run pauses after all events up to this instant."""
    each_window: bool = True
    """True if the run also pauses after each window."""
    now_ps: int = 0
    """The time up to which all events have been handled."""
    ended: bool = False
    """True if no event is left."""
    calls: deque[tuple[int, Handler]] = field(default_factory=deque)
    """Handlers to call at the next opportunity: (node, function)."""

    def answer(self, window: Window, protocol: Protocol) -> Generator[None, None, Actions]:
        """Return the protocol's actions for a window; yield at each pause."""
        parts: list[Actions] = []
        done = 0
        while True:
            if self.calls and window.reply:
                # takes effect at the end of the window or later
                at_ps = max(self.now_ps, window.end_ps - self.reaction_ps)
                if at_ps <= self.until_ps:
                    done = self._handle_up_to(at_ps, window, done, protocol, parts)
                    parts += self._call_injected(at_ps, protocol)
            if self.until_ps >= window.end_ps:
                break
            done = self._handle_up_to(self.until_ps, window, done, protocol, parts)
            self.now_ps = self.until_ps
            yield
        if any(part.stop for part in parts):
            done = len(window)
        parts.append(answer_to(part_of(window, done, len(window), window.reply), protocol))
        self.now_ps = window.end_ps
        if self.each_window:
            yield
            if self.calls and window.reply:
                parts += self._call_injected(self.now_ps, protocol)
        return joined(parts)

    def end(self, end_ps: int) -> Generator[None, None, None]:
        """Pause at instants between the last event and the end of the run."""
        self.ended = True
        while self.until_ps < end_ps:
            self.now_ps = self.until_ps
            yield
        self.now_ps = end_ps

    def _handle_up_to(self, time_ps: int, window: Window, done: int, protocol: Protocol, parts: list[Actions]) -> int:
        """Handle the remaining events up to an instant. Return the number of events that have been handled."""
        end = int(np.searchsorted(window.time_ps, time_ps, "right"))
        if end > done and not any(part.stop for part in parts):
            parts.append(answer_to(part_of(window, done, end, False), protocol))
        return max(done, end)

    def _call_injected(self, at_ps: int, protocol: Protocol) -> list[Actions]:
        """Call the waiting handlers at an instant."""
        assert isinstance(protocol, PerNode)
        self.now_ps = at_ps
        found = []
        while self.calls:
            node, function = self.calls.popleft()
            found.append(call_as_handler(protocol, node, function, at_ps))
        return found


@calls_handlers
def call_as_handler(protocol: PerNode, node: int, function: Handler, now_ps: int) -> Actions:
    """Call a function as a handler of a node, and return the actions that the node takes."""
    one = protocol.nodes[node]
    protocol.now_ps, protocol.acting, acting.host = now_ps, one, protocol.actor
    try:
        function(one)
    except BaseException as error:
        called = call(getattr(function, "__name__", "a function"))
        raise_with_context(protocol.nodes, error, node, now_ps, called)
    finally:
        acting.host = None
    return protocol._take_actions(False)
