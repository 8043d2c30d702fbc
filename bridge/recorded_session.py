"""Record a run of an engine in this process, which sends no frames, as if it were in another process."""

from __future__ import annotations

from causeway.bridge import framing
from causeway.bridge.engine import Finish, RunSpec, Session
from causeway.bridge.events import Actions, Window
from causeway.bridge.recording import Recorder


class TapedSession:
    """Passes all calls to a session and records them."""

    def __init__(self, session: Session, spec: RunSpec) -> None:
        assert spec.record_to is not None
        self.session = session
        self.engine, self.engine_version = session.engine, session.engine_version
        self._recorder: Recorder | None = Recorder(spec.record_to)
        self._recorder.from_engine(framing.encode_hello(self.engine, self.engine_version))
        self._recorder.from_controller(framing.encode_setup(spec))
        self._number = 0

    def next(self) -> Window | Finish:
        """See `causeway.bridge.engine.Session`."""
        step = self.session.next()
        if self._recorder is not None:
            if isinstance(step, Finish):
                self._recorder.from_engine(framing.encode_finish(step))
                self._recorder.land()
                self._recorder = None
            else:
                self._recorder.from_engine(framing.encode_window(step))
                self._number = step.number
        return step

    def answer(self, actions: Actions) -> None:
        """See `causeway.bridge.engine.Session`."""
        if self._recorder is not None:
            self._recorder.from_controller(framing.encode_actions(self._number, actions))
        self.session.answer(actions)

    def close(self) -> None:
        """See `causeway.bridge.engine.Session`."""
        self.session.close()
        if self._recorder is not None:
            self._recorder.discard()
            self._recorder = None
