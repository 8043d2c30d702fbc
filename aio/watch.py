"""Report a node's step that does not end, because it waits for a lock or computes for long.

The watch runs in a separate thread. Most blocking calls are refused immediately (causeway.pycontrol.answers), but a
lock in C code or an endless loop cannot be refused. Since the run may also be correct and only slow, the watch prints a
message and the run continues.
"""

from __future__ import annotations

import sys
import threading
from types import FrameType
from typing import Any

from causeway.aio.event_loop import SimulatedLoop
from causeway.pycontrol.run_trace import user_line

PATIENCE_S = 10.0
"""The time after which a step is reported. Steps normally take microseconds."""
STEP = SimulatedLoop.turn.__code__


class Watch:
    """A watch over the thread that makes it, until `end`."""

    def __init__(self, limit_s: float = PATIENCE_S) -> None:
        self._watched, self._limit_s = threading.get_ident(), limit_s
        self._over = threading.Event()
        threading.Thread(target=self._look, name="causeway.aio.watch", daemon=True).start()

    def end(self) -> None:
        """Stop watching."""
        self._over.set()

    def _look(self) -> None:
        before, reported = None, None
        while not self._over.wait(self._limit_s):
            frame = sys._current_frames().get(self._watched)
            step = _step_of(frame)
            if step is not None and step is before and step is not reported:
                reported = step
                _report(step, frame, self._limit_s)
            before = step
            del frame


def _step_of(frame: FrameType | None) -> FrameType | None:
    """Return the frame of the node's current step. Each step has its own frame."""
    while frame is not None and frame.f_code is not STEP:
        frame = frame.f_back
    return frame


def _report(step: FrameType, frame: FrameType | None, waited_s: float) -> None:
    loop: Any = step.f_locals["self"]
    print(
        f"causeway: a step of {loop.name} at {loop.time():g} s has taken {waited_s:g} s so far, at "
        f"{user_line(frame)}: a blocking call, or a long calculation; all nodes wait for it",
        file=sys.stderr, flush=True,
    )  # fmt: skip
