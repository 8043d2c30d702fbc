"""Records a session that has no frames of its own (an engine in process) as if it had spoken over the wire."""

from __future__ import annotations

from causeway.bridge import wire
from causeway.bridge.engine import Finish, RunSpec, Session
from causeway.bridge.events import Actions, Window
from causeway.bridge.recording import Recorder


class TapedSession:
    """Passes everything through to a session and keeps it."""

    def __init__(self, session: Session, spec: RunSpec) -> None:
        assert spec.record_to is not None
        self.session = session
        self.engine, self.engine_version = session.engine, session.engine_version
        self._recorder: Recorder | None = Recorder(spec.record_to)
        self._recorder.from_engine(wire.encode_hello(self.engine, self.engine_version))
        self._recorder.from_controller(wire.encode_setup(spec))
        self._number = 0

    def next(self) -> Window | Finish:
        step = self.session.next()
        if self._recorder is not None:
            if isinstance(step, Finish):
                self._recorder.from_engine(wire.encode_finish(step))
                self._recorder.land()
                self._recorder = None
            else:
                self._recorder.from_engine(wire.encode_window(step))
                self._number = step.number
        return step

    def answer(self, actions: Actions) -> None:
        if self._recorder is not None:
            self._recorder.from_controller(wire.encode_actions(self._number, actions))
        self.session.answer(actions)

    def close(self) -> None:
        self.session.close()
        if self._recorder is not None:
            self._recorder.discard()
            self._recorder = None
