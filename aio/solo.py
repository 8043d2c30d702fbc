"""A loop that nobody owns: simulated time without a simulator. For tests of programs and of the loop itself.

    with asyncio.Runner(loop_factory=SoloLoop) as runner:
        runner.run(main())          # an hour of sleeping takes no time

It has no network.
"""

from __future__ import annotations

import asyncio
from typing import Any

from causeway.aio.errors import outside
from causeway.aio.loop import SimulatedLoop

NO_NETWORK = "it has no network; run the program as a node with Programs(main)"


class _Time:
    now_ps = 0


class SoloLoop(SimulatedLoop):
    """Jumps from one instant to the next."""

    def __init__(self) -> None:
        self._next_ps = -1
        super().__init__(_Time(), self._set_next)

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

    async def create_connection(self, *args: Any, **options: Any) -> Any:
        raise outside("a connection of SoloLoop", NO_NETWORK)

    async def create_server(self, *args: Any, **options: Any) -> Any:
        raise outside("a server of SoloLoop", NO_NETWORK)

    async def create_datagram_endpoint(self, *args: Any, **options: Any) -> Any:
        raise outside("a socket of SoloLoop", NO_NETWORK)

    async def getaddrinfo(self, *args: Any, **options: Any) -> Any:
        raise outside("a name on SoloLoop", NO_NETWORK)

    def _stop_with(self, _: Any) -> None:
        self.stop()
