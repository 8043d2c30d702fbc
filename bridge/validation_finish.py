"""Validation of the end of a run: the end must be possible, and be the one that the study describes."""

from __future__ import annotations

from typing import NoReturn

from causeway.bridge.engine import BY_SIMULATION, DURATION_OVER, Finish, RunSpec
from causeway.bridge.validation_kernel import FAR_PS
from causeway.errors import RunError
from causeway.network.networks import InetNetwork


def check_finish(finish: Finish, spec: RunSpec, last_ps: int, happened: bool, broadcasts: int) -> None:
    """Check how a run ended.

    If a study has no duration and its workload never ends, the run has no end of its own.

    Args:
        finish: The end that the engine reports.
        spec: The run.
        last_ps: The time of the last event.
        happened: Whether any node saw an event other than its position.
        broadcasts: The number of the workload's broadcasts so far.

    Raises:
        RunError: The run cannot have ended so, or the simulation ended it before the study's end.
    """
    _check_times(finish, spec, last_ps)
    if finish.reason != BY_SIMULATION:
        return
    if spec.duration_ps > finish.end_ps:
        _refuse_early_end(finish, spec, f"the study lasts {spec.duration_ps / 1e12:g} s")
    script = spec.network.workload.script
    wanted = spec.network.workload.messages if script is None else len(script.time_ps)
    if not spec.duration_ps and broadcasts < wanted:
        _refuse_early_end(finish, spec, f"{broadcasts} of the {wanted} broadcasts of the workload had come")
    if not happened:
        _refuse_early_end(finish, spec, "nothing had happened to any node")


def _check_times(finish: Finish, spec: RunSpec, last_ps: int) -> None:
    latest_ps = spec.duration_ps or FAR_PS - 1
    earliest_ps = latest_ps if spec.duration_ps and finish.reason == DURATION_OVER else last_ps
    if not earliest_ps <= finish.end_ps <= latest_ps:
        raise RunError(
            f"the end of the run is wrong: {finish.end_ps} ps ({finish.reason}); allowed: {earliest_ps} ps to "
            f"{latest_ps} ps"
        )


def _refuse_early_end(finish: Finish, spec: RunSpec, meanwhile: str) -> NoReturn:
    network = spec.network
    where = f"configuration {network.config} of {network.ini}" if isinstance(network, InetNetwork) else "its ini file"
    raise RunError(
        f"the simulation ended by itself at {finish.end_ps / 1e12:g} s, when {meanwhile}; raise the limit "
        f"(sim-time-limit, most likely) in {where}, or give the study a shorter duration"
    )
