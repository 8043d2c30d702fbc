"""A simulation that somebody else started: it comes to us, and we neither end it nor hurry it.

`AttachEngine` waits at one address. Each simulation that introduces itself there is a run of its own; when it is over,
the next one may come.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from causeway.bridge.edges import Edge
from causeway.bridge.engine import RunSpec
from causeway.bridge.errors import UserError
from causeway.bridge.network import Network
from causeway.bridge.session import PairSession
from causeway.bridge.transport import Transport, private_directory

NO_DEADLINE_S = 1e9
"""A debugger or a graphical environment holds a simulation as long as it likes."""


class Stranger:
    """A process that is not ours: whether it lives, its connection says."""

    def death(self) -> str | None:
        return None

    def wait(self, timeout_s: float) -> int | None:
        return 0

    def end(self, grace_s: float = 0) -> None:
        return None


class AttachedSession(PairSession):
    """A run of a simulation that came by itself."""

    def wait_for(self, endpoint: str) -> None:
        """Waits until one comes, and shakes hands."""
        self._deadline_s = NO_DEADLINE_S
        self._simulator = Stranger()
        self._transport = Transport(endpoint, "the simulation ended before the run was over")
        self._handshake()


class AttachEngine:
    """Waits for simulations at one address, in a folder that only we can enter."""

    name = "attach"
    networks: tuple[type, ...] = ()

    def __init__(self, came: Callable[[], None] = lambda: None) -> None:
        self._folder, self._lock = private_directory()
        self._came = came
        self.endpoint = f"ipc://{self._folder}/bridge"

    @property
    def environment(self) -> dict[str, str]:
        """What the simulation must be told in its environment."""
        return {
            "CAUSEWAY_ENDPOINT": self.endpoint,
            "CAUSEWAY_CONTROLLER_PID": str(os.getpid()),
            "CAUSEWAY_DEADLINE_S": repr(NO_DEADLINE_S),
        }

    def open(self, spec: RunSpec) -> AttachedSession:
        if spec.record_to is not None:
            raise UserError("a simulation that is attached is not recorded; record with `causeway run --record`")
        session = AttachedSession(spec, "omnet")
        try:
            session.wait_for(self.endpoint)
        except BaseException:
            session.close()
            raise
        self._came()
        return session

    def missing(self, network: Network | None = None) -> str | None:
        return None

    def edges(self) -> list[Edge]:
        return []

    def close(self) -> None:
        """Nobody can come any more."""
        Path(self._folder, "bridge").unlink(missing_ok=True)
        Path(self._folder).rmdir()
        os.close(self._lock)
