"""Simulations that the user starts: several in a row, one that is held by a debugger, one that is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from causeway.bridge.attached import AttachEngine
from causeway.bridge.engine import RunSpec
from causeway.bridge.engines.omnet import command, launch_of
from causeway.errors import RunError
from causeway.network.networks import InetNetwork
from causeway.network.workload import Workload
from causeway.pycontrol.loop import Outcome, run_protocol
from causeway.pycontrol.node import PerNode
from causeway.toolchain.adapters import build
from causeway.toolchain.omnet_find import find_omnetpp
from tests.helpers.inet_probe import ENGINE, needs_inet
from tests.helpers.inet_projects import PROJECTS
from tests.helpers.wireless_probe import MS, S, logged
from tests.omnet.test_somebodys_network import Talk

pytestmark = needs_inet


@pytest.fixture
def engine() -> Iterator[AttachEngine]:
    build(ENGINE.adapters()[0])  # nobody would, for a simulation that is started by hand
    made = AttachEngine()
    yield made
    made.close()


def spec_in(folder: Path) -> RunSpec:
    network = InetNetwork(20, ini=str(PROJECTS["aodv"].write(folder)), workload=Workload(20), config="Python")
    return RunSpec("test", {}, 1, network, MS, 6 * S)


def start(
    spec: RunSpec, engine: AttachEngine, *options: str, output: int = subprocess.DEVNULL
) -> subprocess.Popen[bytes]:
    """As a user would, in a shell."""
    found = find_omnetpp()
    assert found is not None
    environment = {**os.environ, **engine.environment}
    return subprocess.Popen(
        [*command(found, launch_of(spec, found), spec), *options], env=environment,
        stdout=output, stderr=subprocess.STDOUT,
    )  # fmt: skip


def run(spec: RunSpec, engine: AttachEngine) -> Outcome:
    protocol = PerNode(logged(Talk))
    return run_protocol(engine, spec, protocol, [])


def later(seconds: float, call, *arguments) -> None:
    threading.Timer(seconds, call, arguments).start()


def test_several_attached_runs_equal_a_run_that_causeway_starts(tmp_path: Path, engine: AttachEngine) -> None:
    spec = spec_in(tmp_path)
    digests = []
    for _ in range(2):
        simulation = start(spec, engine)
        digests.append(run(spec, engine).digest)
        assert simulation.wait(30) == 0
    protocol = PerNode(logged(Talk))
    assert {*digests, run_protocol(ENGINE, spec, protocol, []).digest} == {digests[0]}


def test_every_window_is_a_line_of_the_simulations_log(tmp_path: Path, engine: AttachEngine) -> None:
    """Cmdenv prints the log of a graphical environment, unless it runs in express mode."""
    spec = spec_in(tmp_path)
    with open(tmp_path / "log", "wb") as log:
        options = "--cmdenv-express-mode=false", "--**.cmdenv-log-level=info"
        simulation = start(spec, engine, *options, output=log.fileno())
        outcome = run(spec, engine)
    assert simulation.wait(60) == 0
    lines = [line for line in (tmp_path / "log").read_text().splitlines() if "causeway: window " in line]
    assert len(lines) == outcome.windows


def test_a_simulation_that_a_debugger_holds_goes_on_afterwards(tmp_path: Path, engine: AttachEngine) -> None:
    """Longer than the deadline that a simulation of our own would have."""
    spec = replace(spec_in(tmp_path), deadline_s=0.5)
    simulation = start(spec, engine)
    simulation.send_signal(signal.SIGSTOP)
    later(3, simulation.send_signal, signal.SIGCONT)
    outcome = run(spec, engine)
    assert outcome.finish.end_ps == 6 * S
    assert simulation.wait(30) == 0


def test_a_simulation_that_ends_by_itself_has_reported_all_events(tmp_path: Path, engine: AttachEngine) -> None:
    """A window may be open just then."""
    spec = replace(spec_in(tmp_path), duration_ps=0)
    simulation = start(spec, engine, "--sim-time-limit=3.0005s")
    outcome = run(spec, engine)
    assert simulation.wait(30) == 0
    assert outcome.finish.reason == "ended by the simulation"
    assert outcome.events > 0


def test_a_killed_simulation_is_reported_and_the_next_one_can_connect(tmp_path: Path, engine: AttachEngine) -> None:
    spec = spec_in(tmp_path)
    simulation = start(spec, engine)

    class Kills(PerNode):
        def on_window(self, window):  # type: ignore[no-untyped-def]
            if len(window) and int(window.time_ps[0]) > 2 * S:
                simulation.kill()
                simulation.wait(30)
            return super().on_window(window)

    protocol = Kills(logged(Talk))
    with pytest.raises(RunError, match="the simulation ended before the run was over"):
        run_protocol(engine, spec, protocol, [])
    simulation = start(spec, engine)
    assert run(spec, engine).finish.end_ps == 6 * S
    assert simulation.wait(30) == 0


def test_without_a_screen_or_without_qtenv_the_graphical_environment_is_refused_in_one_line(tmp_path: Path) -> None:
    from causeway.errors import UserError

    spec = replace(spec_in(tmp_path), options={"ui": "Tkenv"})
    with pytest.raises(UserError, match="there is no user interface 'Tkenv'; there are Cmdenv, Qtenv"):
        ENGINE.open(spec)
