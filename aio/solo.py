"""A loop without an owner: simulated time without a simulator, for tests of programs and of the loop itself.

    with asyncio.Runner(loop_factory=SoloLoop) as runner:
        runner.run(main())          # an hour of sleeping takes no time

It is a single host: sockets reach only other sockets of the same loop, over 127.0.0.1. Inside `with
solo_environment():`, `socket.socket`, clocks and random generators belong to the simulation.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Iterator
from typing import Any

from causeway.aio.event_loop import S_PS
from causeway.aio.names import Names
from causeway.aio.networked import NetworkedLoop
from causeway.aio.packets import DATAGRAM_HEADER_BYTES, MAX_DATAGRAM_BYTES, Content
from causeway.aio.stack import Stack
from causeway.errors import UserError
from causeway.network.field_shapes import checked_values

CROSSING_S = 1e-6
"""The time that a packet takes from one socket to another."""

MOST_S = 1_000_000


class _Time:
    now_ps = 0


def _drop(peer: int, content: Content, size_bytes: int) -> None:
    """Drop a broadcast, since there are no other nodes."""


@checked_values
class SoloLoop(NetworkedLoop):
    """A loop that jumps from one instant to the next."""

    def __init__(self, seed: int = 0, crossing_s: float = CROSSING_S, calls_in_place: bool = False) -> None:
        """Make a loop.

        Args:
            seed: The seed of its random generators.
            crossing_s: The time that a packet takes.
            calls_in_place: True to call functions for an executor directly, False to refuse them.
        """
        if not 0 <= crossing_s <= MOST_S:
            raise UserError(f"SoloLoop: crossing_s is {crossing_s}; allowed: 0 to {MOST_S:,} seconds")
        self._next_ps, self.calls_in_place = -1, calls_in_place
        super().__init__(_Time(), self._set_next)
        self.node, self._seed = 0, seed
        self.stack = Stack(
            0, self, Names(1), _drop, round(crossing_s * S_PS), self.chance_of("stack"),
            MAX_DATAGRAM_BYTES - DATAGRAM_HEADER_BYTES, None,
        )  # fmt: skip

    def chance_of(self, what: str) -> random.Random:
        """Return a random generator for one use, from the seed."""
        return random.Random(f"{self._seed}/{what}")

    def _set_next(self, due_ps: int) -> None:
        self._next_ps = due_ps

    def stop(self) -> None:
        """Stop the loop after this turn."""
        self._stopping = True

    def run_forever(self) -> None:
        """Run until `stop` is called."""
        self._check_closed()
        if self._running:
            raise RuntimeError("This event loop is already running")
        while True:
            self.turn()
            if self._stopping:
                self._stopping = False
                return
            if self._next_ps < 0:
                raise RuntimeError("the loop has no callbacks or timers left, and `stop` was not called")
            self.clock.now_ps, self._next_ps, self._armed_ps = max(self.clock.now_ps, self._next_ps), -1, -1

    def run_until_complete(self, future: Any) -> Any:
        """Run until a future is done, and return its result."""
        self._check_closed()
        if self._running:
            raise RuntimeError("This event loop is already running")
        task = asyncio.ensure_future(future, loop=self)
        task.add_done_callback(self._stop_with)
        try:
            self.run_forever()
        finally:
            task.remove_done_callback(self._stop_with)
        return task.result()

    def _stop_with(self, _: Any) -> None:
        self.stop()


@contextlib.contextmanager
def solo_environment() -> Iterator[None]:
    """Use the simulation's clocks, random generators and `socket.socket` while a SoloLoop runs."""
    from causeway.aio.environment import Environment

    environment = Environment()
    try:
        yield
    finally:
        environment.leave()
