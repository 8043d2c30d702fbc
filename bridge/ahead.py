"""`Ahead`: start the simulator of the next run while this one is under way, since a simulator takes long to start."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from causeway.bridge.engine import Engine, RunSpec
from causeway.errors import RunError, UserError


class Launch(NamedTuple):
    """All that a simulator is started with. It gets the rest of a run's description in the handshake."""

    command: Sequence[str]
    environment: Mapping[str, str]
    directory: Path | None


class Ahead:
    """At most one simulator that waits for its run. A run that has this object in its `spec` takes it if it fits."""

    def __init__(self) -> None:
        self.starting = False
        """True while a simulator is started that waits before its handshake."""
        self._session: Any = None
        self._end: weakref.finalize[Any, Any] | None = None
        """Ends the simulator. Without a call of `close`, it comes before the end of the socket, which would wait."""

    def start(self, engine: Engine, spec: RunSpec) -> None:
        """Start the simulator of a run that may come next. If it cannot start, the run itself will say why."""
        self.close()
        if spec.record_to is not None or not engine.adapters(spec.network):
            return
        self.starting = True
        try:
            with contextlib.suppress(RunError, UserError):
                self._session = engine.open(replace(spec, ahead=self))
                self._end = weakref.finalize(self, self._session.close)
        finally:
            self.starting = False

    def take(self, launch: Launch) -> Any:
        """Return the session of the simulator, or None if there is none, it has died, or it was started otherwise."""
        session, end = self._session, self._end
        if session is None or end is None:
            return None
        if session.launch == launch and session.lives():
            end.detach()
            self._session = None
            return session
        self.close()
        return None

    def close(self) -> None:
        """End the simulator that waits."""
        if self._session is not None and self._end is not None:
            self._end()
            self._session = None
