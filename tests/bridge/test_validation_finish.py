"""A run that ended in another way than the study asked for is an error."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from causeway.bridge.engine import BY_SIMULATION, DURATION_OVER, NOTHING_LEFT, STOPPED, Finish, RunSpec
from causeway.bridge.engines.inline import InlineEngine, InlineSession
from causeway.bridge.validation_finish import check_finish
from causeway.errors import RunError
from causeway.network.networks import AbstractNetwork, InetNetwork, constant_delay
from causeway.network.workload import Script, Workload
from causeway.pycontrol.loop import run_protocol
from causeway.pycontrol.node import Node, PerNode

S = 10**12


def spec_with(duration_s: int = 0, workload: Workload | None = None) -> RunSpec:
    network = InetNetwork(2, ini="their/omnetpp.ini", workload=workload or Workload(2), config="Static")
    return RunSpec("test", {}, 1, network, 10**9, duration_s * S)


def end(reason: str, end_ps: int, duration_s: int = 0, workload: Workload | None = None, **reported: Any) -> None:
    reported = {"last_ps": 0, "happened": True, "broadcasts": 0, **reported}
    check_finish(Finish(reason, end_ps, 9), spec_with(duration_s, workload), **reported)


def refusal(*given: Any, **more: Any) -> str:
    """Return the error about an end; "" if it is accepted."""
    try:
        end(*given, **more)
    except RunError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("reason", [BY_SIMULATION, NOTHING_LEFT, STOPPED, DURATION_OVER, "in an engine's own words"])
def test_an_end_that_the_study_requested_is_accepted(reason: str) -> None:
    assert refusal(reason, 20 * S, duration_s=20) == ""
    assert refusal(reason, 20 * S) == ""
    assert refusal(reason, 20 * S, last_ps=20 * S) == ""


def test_an_end_by_the_simulation_before_the_studys_end_names_the_file_and_what_to_do() -> None:
    with pytest.raises(RunError) as error:
        end(BY_SIMULATION, 5 * S, duration_s=20)
    for part in ("5 s", "20 s", "sim-time-limit", "Static of their/omnetpp.ini", "shorter duration"):
        assert part in str(error.value)


def test_an_end_by_the_simulation_before_anything_happened_is_an_error() -> None:
    with pytest.raises(RunError, match="at 5 s, when nothing had happened to any node; raise"):
        end(BY_SIMULATION, 5 * S, happened=False)


def test_a_workload_that_was_not_over_is_an_error_where_there_is_no_duration() -> None:
    script = Script(np.array([S, 9 * S]), np.zeros(2, np.int32), np.zeros(2, np.int32))
    for workload in (Workload(2, script=script), Workload(2, messages=2)):
        with pytest.raises(RunError, match="when 1 of the 2 broadcasts of the workload had come"):
            end(BY_SIMULATION, 5 * S, workload=workload, broadcasts=1)
        end(BY_SIMULATION, 5 * S, workload=workload, broadcasts=2)
        end(BY_SIMULATION, 5 * S, duration_s=5, workload=workload, broadcasts=1)


@pytest.mark.parametrize(
    ("reason", "end_s", "duration_s", "allowed"),
    [
        (NOTHING_LEFT, -1, 0, "0 ps to "),
        (STOPPED, 2, 0, f"{3 * S} ps to "),
        (STOPPED, 21, 20, f"to {20 * S} ps"),
        (DURATION_OVER, 19, 20, f"{20 * S} ps to {20 * S} ps"),
        (BY_SIMULATION, 1 << 30, 0, "ps to "),
    ],
)
def test_an_impossible_end_is_refused(reason: str, end_s: int, duration_s: int, allowed: str) -> None:
    last_ps = 0 if end_s < 0 else 3 * S
    with pytest.raises(
        RunError, match=rf"the end of the run is wrong: {end_s * S} ps \({reason}\); allowed: .*{allowed}"
    ):
        end(reason, end_s * S, duration_s, last_ps=last_ps)


def test_the_loop_checks_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    network = AbstractNetwork(2, delay=constant_delay(1), workload=Workload(2))
    spec = RunSpec("test", {}, 1, network, 10**9, 20 * S)
    monkeypatch.setattr(InlineSession, "_finish", lambda *_: Finish(BY_SIMULATION, 5 * S, 0))
    with pytest.raises(RunError, match=r"at 5 s, when the study lasts 20 s; .* in its ini file, or"):
        run_protocol(InlineEngine(), spec, PerNode(lambda _: Node()), [])
