"""The engine replay: recorded frames instead of a simulator.

The controller sees the windows of the recording and must answer as it did then. The first answer that differs ends the
run, with an error that names it. `RunSpec.options["recording"]` is the file.
"""

from __future__ import annotations

from itertools import zip_longest
from pathlib import Path

import numpy as np

from causeway.bridge import framing
from causeway.bridge.engine import Finish, RunSpec
from causeway.bridge.events import COLUMNS, Actions, Window, column
from causeway.bridge.recording import CONTROLLER, describe, frames
from causeway.errors import RunError, UserError
from causeway.network.networks import Network
from causeway.proto.contract import CONTRACT
from causeway.toolchain.adapters import Adapter


class ReplayEngine:
    """Feeds a recording to the controller."""

    name = "replay"
    networks: tuple[type, ...] = ()
    """Empty, since it builds no network: all events come from a recording."""

    def missing(self, network: Network | None = None) -> str | None:
        """Return None, since a recording needs no further software."""
        return None

    def adapters(self, network: Network | None = None) -> list[Adapter]:
        """Return no adapters."""
        return []

    def open(self, spec: RunSpec) -> ReplaySession:
        """Open a recording."""
        recording = spec.options.get("recording")
        if recording is None:
            raise UserError("engine 'replay' needs a recording; use `causeway replay FILE`")
        return ReplaySession(Path(recording))


class ReplaySession:
    """A replay of one recording."""

    def __init__(self, path: Path) -> None:
        recorded = describe(path)
        if recorded.setup.contract != CONTRACT:
            raise UserError(
                f"{path} was recorded under contract {recorded.setup.contract}, this controller speaks {CONTRACT}; "
                "record the run again"
            )
        self.path = path
        self.engine = "replay"
        self.engine_version = f"recording of {recorded.engine} ({recorded.engine_version})"
        self._frames = frames(path)
        self._frame = -1
        self._take()
        self._take()
        self._window = -1

    def _take(self) -> tuple[int, bytes]:
        self._frame += 1
        try:
            return next(self._frames)
        except StopIteration:
            raise RunError(f"the recording {self.path} ends at frame {self._frame}, before its run does") from None

    def next(self) -> Window | Finish:
        """See `causeway.bridge.engine.Session`."""
        direction, data = self._take()
        if direction == CONTROLLER:
            raise RunError(
                f"frame {self._frame}: the recorded controller answered window {self._window}, this one did not"
            )
        frame = framing.decode(data)
        body = frame.WhichOneof("body")
        if body == "finish":
            self._check_end()
            return framing.finish(frame.finish)
        if body != "window":
            raise RunError(
                f"frame {self._frame} of {self.path} is of a wrong kind ({body or 'empty'}); record the run again"
            )
        window = framing.window(frame.window)
        self._window = window.number
        return window

    def _check_end(self) -> None:
        """Refuse a recording with frames after the end of its run: they would not be compared."""
        if next(self._frames, None) is not None:
            raise UserError(
                f"{self.path} has frames after the end of its run (frame {self._frame}), so it was changed after it "
                "was written; record the run again"
            )

    def answer(self, actions: Actions) -> None:
        """Compare an answer with the recorded one.

        Raises:
            RunError: They differ, or the recording is damaged.
        """
        direction, data = self._take()
        if direction != CONTROLLER:
            raise RunError(
                f"frame {self._frame}: this controller answered window {self._window}, the recorded one did not"
            )
        try:
            recorded = framing.actions(framing.decode(data).actions)
        except ValueError:
            raise RunError(
                f"frame {self._frame} of {self.path} is damaged: its columns differ; record the run again"
            ) from None
        difference = first_difference(recorded, actions)
        if difference:
            raise RunError(
                f"the controller answers differently at frame {self._frame} (window {self._window}): {difference}"
            )

    def close(self) -> None:
        """Close the recording."""
        self._frames.close()


def first_difference(recorded: Actions, replayed: Actions) -> str | None:
    """Describe the first difference of two answers; None if they are the same."""
    rows = min(len(recorded), len(replayed))
    first: tuple[int, str] | None = None
    for name in COLUMNS:
        differs = np.flatnonzero(column(recorded, name)[:rows] != column(replayed, name)[:rows])
        if len(differs) and (first is None or differs[0] < first[0]):
            first = int(differs[0]), name
    if first is not None:
        row, name = first
        return f"row {row}, column {name}: recorded {column(recorded, name)[row]}, now {column(replayed, name)[row]}"
    if len(recorded) != len(replayed):
        return f"row {rows}: recorded {len(recorded)} actions, now {len(replayed)}"
    if recorded.stop != replayed.stop:
        return f"stop: recorded {recorded.stop}, now {replayed.stop}"
    if recorded.lookaheads != replayed.lookaheads:
        pairs = zip_longest(recorded.lookaheads, replayed.lookaheads)
        was, now = next((a, b) for a, b in pairs if a != b)
        return f"declared lookahead: recorded {was}, now {now}"
    return None
