"""Runs of simulations that the user starts, for instance in a debugger or a graphical environment.

`AttachEngine` listens on one address. Each simulation that connects there is one run. After its end, the next one may
connect. Causeway neither ends such a simulation nor limits its time.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from causeway.bridge.engine import RunSpec
from causeway.bridge.session import NO_DEADLINE_S, PairSession
from causeway.bridge.transport import Transport, private_directory
from causeway.errors import UserError
from causeway.network.networks import Network
from causeway.toolchain.adapters import Adapter


class ExternalProcess:
    """A process that Causeway did not start. Only its connection shows that it is alive."""

    def death(self) -> str | None:
        """Return None, since the exit status of a foreign process is unknown."""
        return None

    def wait(self, timeout_s: float) -> int | None:
        """Return at once."""
        return 0

    def end(self, grace_s: float = 0) -> None:
        """Leave the process running."""
        return None


class AttachedSession(PairSession):
    """A run of a simulation that connected to Causeway."""

    def wait_for(self, endpoint: str) -> None:
        """Wait until a simulation connects to the endpoint, and do the handshake."""
        self._deadline_s = NO_DEADLINE_S
        self._simulator = ExternalProcess()
        self._transport = Transport(endpoint, "the simulation ended before the run was over")
        self.greet(self._spec)


class AttachEngine:
    """Waits for simulations at one address, in a folder that only this user can enter.

    `on_connected` is called for each simulation that has connected.
    """

    name = "attach"
    networks: tuple[type, ...] = ()

    def __init__(self, on_connected: Callable[[], None] = lambda: None) -> None:
        self._folder, self._lock = private_directory()
        self._on_connected = on_connected
        self.endpoint = f"ipc://{self._folder}/bridge"

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables with which the simulation must be started."""
        return {
            "CAUSEWAY_ENDPOINT": self.endpoint,
            "CAUSEWAY_CONTROLLER_PID": str(os.getpid()),
            "CAUSEWAY_DEADLINE_S": repr(NO_DEADLINE_S),
        }

    def open(self, spec: RunSpec) -> AttachedSession:
        """Wait for a simulation and open its run."""
        if spec.record_to is not None:
            raise UserError("an attached simulation cannot be recorded; record with `causeway run --record`")
        session = AttachedSession(spec, "omnet")
        try:
            session.wait_for(self.endpoint)
        except BaseException:
            session.close()
            raise
        self._on_connected()
        return session

    def missing(self, network: Network | None = None) -> str | None:
        """Return None: the simulation is already there."""
        return None

    def adapters(self, network: Network | None = None) -> list[Adapter]:
        """Return no adapters: the simulation has its own."""
        return []

    def close(self) -> None:
        """Remove the address, so that no further simulation can connect."""
        Path(self._folder, "bridge").unlink(missing_ok=True)
        Path(self._folder).rmdir()
        os.close(self._lock)
