"""Lines of Algorithms 1 to 3 of `hash`, broken one by one, as in the tests of the detector."""

from __future__ import annotations

from typing import Any

import pytest

from causeway.pycontrol.protocols.hash.node import App, HashDetectorNode


def as_printed_only_line_21_adds_to_the_delivered(m: pytest.MonkeyPatch) -> None:
    real = HashDetectorNode.ready

    def ready(self: Any, waiting: Any) -> bool:
        received = {id_ for id_, sender in self.Deliv.items() if sender != self.id}
        return waiting.dep <= received if waiting.dep is not None else real(self, waiting)

    m.setattr(HashDetectorNode, "ready", ready)


def never_suspecting(m: pytest.MonkeyPatch) -> None:
    m.setattr(HashDetectorNode, "error", lambda self, message: False)


def delivering_on_the_answer(m: pytest.MonkeyPatch) -> None:
    real = HashDetectorNode.ready
    m.setattr(HashDetectorNode, "ready", lambda self, w: w.dep is not None or real(self, w))


def answering_with_no_dependencies(m: pytest.MonkeyPatch) -> None:
    real = HashDetectorNode.on_broadcast

    def on_broadcast(self: Any, number: int, size_bytes: int) -> None:
        real(self, number, size_bytes)
        self.S_dep[max(self.S_dep)] = frozenset()

    m.setattr(HashDetectorNode, "on_broadcast", on_broadcast)


def never_answering(m: pytest.MonkeyPatch) -> None:
    real = HashDetectorNode.on_packet

    def on_packet(self: Any, content: Any, sender: int, interface: int) -> None:
        if isinstance(content, App):
            real(self, content, sender, interface)

    m.setattr(HashDetectorNode, "on_packet", on_packet)


def a_hash_that_forgets(m: pytest.MonkeyPatch) -> None:
    real = HashDetectorNode.handle

    def handle(self: Any, message: Any) -> None:
        before = self.hash
        real(self, message)
        self.hash = before

    m.setattr(HashDetectorNode, "handle", handle)
