"""Recorded frames instead of a simulator: the controller sees the same windows and must answer as it did.

`RunSpec.options["recording"]` is the file. The first answer that differs ends the run and is named.
"""

from __future__ import annotations

from itertools import zip_longest
from pathlib import Path

import numpy as np

from causeway.bridge import wire
from causeway.bridge.edges import Edge
from causeway.bridge.engine import Finish, RunSpec
from causeway.bridge.errors import RunError, UserError
from causeway.bridge.events import COLUMNS, Actions, Window, column
from causeway.bridge.network import Network
from causeway.bridge.recording import CONTROLLER, describe, frames
from causeway.bridge.schema import CONTRACT


class ReplayEngine:
    """Feeds a recording to the controller."""

    name = "replay"
    networks: tuple[type, ...] = ()
    """It builds none: it is given a recording, never chosen."""

    def missing(self, network: Network | None = None) -> str | None:
        return None

    def edges(self) -> list[Edge]:
        return []

    def open(self, spec: RunSpec) -> ReplaySession:
        recording = spec.options.get("recording")
        if recording is None:
            raise UserError("engine 'replay' needs a recording; use `causeway replay FILE`")
        return ReplaySession(Path(recording))


class ReplaySession:
    """One replay."""

    def __init__(self, path: Path) -> None:
        recorded = describe(path)
        if recorded.setup.contract != CONTRACT:
            raise UserError(
                f"{path} was recorded under contract {recorded.setup.contract}, this controller speaks {CONTRACT}; "
                "record it anew"
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
        direction, data = self._take()
        if direction == CONTROLLER:
            raise RunError(
                f"frame {self._frame}: the recorded controller answered window {self._window}, this one did not"
            )
        frame = wire.decode(data)
        body = frame.WhichOneof("body")
        if body == "finish":
            return wire.finish(frame.finish)
        if body != "window":
            raise RunError(f"frame {self._frame} of {self.path} has no place here ({body or 'empty'}); record it anew")
        window = wire.window(frame.window)
        self._window = window.number
        return window

    def answer(self, actions: Actions) -> None:
        direction, data = self._take()
        if direction != CONTROLLER:
            raise RunError(
                f"frame {self._frame}: this controller answered window {self._window}, the recorded one did not"
            )
        try:
            recorded = wire.actions(wire.decode(data).actions)
        except ValueError:
            raise RunError(
                f"frame {self._frame} of {self.path} is damaged: its columns differ; record it anew"
            ) from None
        difference = first_difference(recorded, actions)
        if difference:
            raise RunError(
                f"the controller answers differently at frame {self._frame} (window {self._window}): {difference}"
            )

    def close(self) -> None:
        self._frames.close()


def first_difference(recorded: Actions, given: Actions) -> str | None:
    """Where two answers differ first, in words; None if they are the same."""
    rows = min(len(recorded), len(given))
    first: tuple[int, str] | None = None
    for name in COLUMNS:
        differs = np.flatnonzero(column(recorded, name)[:rows] != column(given, name)[:rows])
        if len(differs) and (first is None or differs[0] < first[0]):
            first = int(differs[0]), name
    if first is not None:
        row, name = first
        return f"row {row}, column {name}: recorded {column(recorded, name)[row]}, given {column(given, name)[row]}"
    if len(recorded) != len(given):
        return f"row {rows}: recorded {len(recorded)} actions, given {len(given)}"
    if recorded.stop != given.stop:
        return f"stop: recorded {recorded.stop}, given {given.stop}"
    if recorded.patience != given.patience:
        pairs = zip_longest(recorded.patience, given.patience)
        was, now = next((a, b) for a, b in pairs if a != b)
        return f"promises of patience: recorded {was}, given {now}"
    return None
