"""A loop that nobody owns: simulated time without a simulator. For tests of programs and of the loop itself.

    with asyncio.Runner(loop_factory=SoloLoop) as runner:
        runner.run(main())          # an hour of sleeping takes no time

It is a host by itself: sockets reach other sockets of the same loop, over 127.0.0.1, and nothing else. A suite of
tests that opens sockets of its own (`socket.socket`), or asks for the time, sees the simulation's inside
`with solo_world():`.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Iterator
from typing import Any

from causeway.aio.loop import S_PS
from causeway.aio.names import Names
from causeway.aio.networked import NetworkedLoop
from causeway.aio.stack import Stack
from causeway.aio.wire import DATAGRAM_HEADER_BYTES, MAX_DATAGRAM_BYTES, Content

CROSSING_S = 1e-6
"""How long a packet takes from one socket to another."""


class _Time:
    now_ps = 0


def _nobody(peer: int, content: Content, size_bytes: int) -> None:
    """Who else hears a broadcast."""


class SoloLoop(NetworkedLoop):
    """Jumps from one instant to the next."""

    def __init__(self, seed: int = 0, crossing_s: float = CROSSING_S, calls_in_place: bool = False) -> None:
        """`calls_in_place`: functions for an executor are called at once."""
        self._next_ps, self.calls_in_place = -1, calls_in_place
        super().__init__(_Time(), self._set_next)
        self.node, self._seed = 0, seed
        self.stack = Stack(
            0, self, Names(1), _nobody, round(crossing_s * S_PS), self.chance_of("stack"),
            MAX_DATAGRAM_BYTES - DATAGRAM_HEADER_BYTES, None,
        )  # fmt: skip

    def chance_of(self, what: str) -> random.Random:
        return random.Random(f"{self._seed}/{what}")

    def _set_next(self, due_ps: int) -> None:
        self._next_ps = due_ps

    def stop(self) -> None:
        self._stopping = True

    def run_forever(self) -> None:
        self._check_closed()
        if self._running:
            raise RuntimeError("This event loop is already running")
        while True:
            self.turn()
            if self._stopping:
                self._stopping = False
                return
            if self._next_ps < 0:
                raise RuntimeError("nothing is left to happen, and the loop was not told to stop")
            self.clock.now_ps, self._next_ps, self._armed_ps = max(self.clock.now_ps, self._next_ps), -1, -1

    def run_until_complete(self, future: Any) -> Any:
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
def solo_world() -> Iterator[None]:
    """Clocks, chance and `socket.socket` are the simulation's while a SoloLoop runs."""
    from causeway.aio.world import World

    world = World()
    try:
        yield
    finally:
        world.leave()
