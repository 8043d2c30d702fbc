"""The stand-ins of a program's environment are removed at the end of its run, however that ends."""

from __future__ import annotations

import asyncio
import io
import socket
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from causeway.aio import Programs, environment, watch
from causeway.bridge.engine import RunSpec
from causeway.bridge.engines.inline import InlineEngine
from causeway.cli.check import Search, check_study
from causeway.errors import RunError
from causeway.explore.model import Budget, Model
from causeway.pycontrol import confined
from causeway.pycontrol.loop import run_protocol
from causeway.studies.trial import Trial
from tests.helpers.aio_programs import MS_PS, S_PS, network

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


async def main(node):
    sock = await asyncio.get_running_loop().create_datagram_endpoint(asyncio.DatagramProtocol, ("0.0.0.0", 9))
    while True:
        await asyncio.sleep(1)
        sock[0].sendto(b"x", ("node0", 9))


def in_place() -> tuple[Any, ...]:
    """Return the present values of all functions that a run replaces."""
    return confined._users, socket.socket.__init__, socket.getaddrinfo, len(watches())


def watches() -> list[Any]:
    watching = [getattr(t, "_target", None) for t in threading.enumerate() if t.name == "causeway.aio.watch"]
    return [look for look in watching if look is not None and not look.__self__._over.is_set()]


class Failing(InlineEngine):
    """An engine whose runs end in one of several ways other than by the protocol."""

    def __init__(self, how: str) -> None:
        self.how = how

    def open(self, spec: RunSpec) -> Any:
        inner = super().open(spec)
        how = self.how

        class Session:
            engine = engine_version = "failing"
            answer, close = inner.answer, inner.close
            windows = 0

            def next(self) -> Any:
                self.windows += 1
                window = inner.next()
                if self.windows == 3:
                    if how == "the simulator dies":
                        raise RunError("the simulator died")
                    if how == "an interrupt":
                        raise KeyboardInterrupt
                    if how == "an invalid window":
                        window.node = np.full_like(window.node, 99)
                return window

        return Session()


class Refuses:
    """An observer that fails."""

    def observe(self, op: Any, time_ps: Any, node: Any, message: Any) -> None:
        raise ValueError("no")

    def scalars(self) -> dict[str, float]:
        raise ValueError("no")


@pytest.mark.parametrize("how", ["the simulator dies", "an interrupt", "an invalid window", "observer"])
def test_a_run_that_the_engine_ends_leaves_no_stand_ins(how: str) -> None:
    before = in_place()
    spec = RunSpec("test", {}, 1, network(2), MS_PS, duration_ps=20 * S_PS)
    programs = Programs(main)
    with pytest.raises((RunError, KeyboardInterrupt)):
        run_protocol(Failing(how), spec, programs, [Refuses()] if how == "observer" else [])
    assert in_place() == before
    assert programs.over


def test_an_environment_that_cannot_be_installed_leaves_no_stand_ins(monkeypatch: pytest.MonkeyPatch) -> None:
    before = in_place()
    put = confined._install
    left = iter(range(5))

    def fails(owner: Any, name: str, value: Any) -> None:
        if next(left, None) is None:
            raise MemoryError
        put(owner, name, value)

    monkeypatch.setattr(confined, "_install", fails)
    with pytest.raises(MemoryError):
        environment.Environment()
    monkeypatch.undo()
    assert in_place() == before

    def no_thread(self: Any, *_: Any) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(watch.Watch, "__init__", no_thread)
    with pytest.raises(RuntimeError):
        environment.Environment()
    monkeypatch.undo()
    assert in_place() == before


def test_a_model_that_fails_to_begin_leaves_no_stand_ins(monkeypatch: pytest.MonkeyPatch) -> None:
    before = in_place()

    async def fails(node):
        raise ValueError("at once")

    with pytest.raises(RunError):
        Model(Programs(fails), 2, Budget())
    assert in_place() == before


@pytest.mark.parametrize("most_states", [0, 20])
def test_a_search_of_a_model_leaves_no_stand_ins(most_states: int, tmp_path: Path) -> None:
    before = in_place()
    trial = Trial(str(EXAMPLES / "chatter.py"), {"nodes": 2})
    check_study(trial, Search(4, 2.0, most_states, False, 1), tmp_path, Console(file=io.StringIO()))
    assert in_place() == before
