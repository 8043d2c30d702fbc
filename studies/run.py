"""`causeway.run`: one run of a protocol, or of a study, from Python."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, Unpack, overload

from causeway.analysis.reduce.quantity import unknown_names
from causeway.errors import RunError, UserError
from causeway.network.networks import Network
from causeway.pycontrol.debugging import debugging
from causeway.pycontrol.node import Node
from causeway.pycontrol.protocol import Protocol
from causeway.pycontrol.protocol_errors import shown
from causeway.signatures import checked_arguments
from causeway.studies.execution import execute, read_back, result_folder
from causeway.studies.protocol_study import MakeNetwork
from causeway.studies.run_request import AnyProtocol, AnyStudy, RunRequest, Setting, endless, point_from, takes_setting
from causeway.studies.run_result import Run, from_folder, of_result
from causeway.studies.run_warnings import print_warnings
from causeway.studies.runner import Job, RunResult, run_job
from causeway.studies.second_run import difference
from causeway.studies.study_objects import check_folder, check_processes
from causeway.studies.twice import twice as run_twice
from causeway.toolchain.first_compile import MOST_S, on_first_compile

N = TypeVar("N", bound=Node)


@overload
def run(
    protocol: type[N] | Callable[[int], N],
    network: Network | MakeNetwork,
    *,
    seed: int = 1,
    params: Mapping[str, Any] | None = None,
    out: str | Path | None = None,
    record: str | Path | None = None,
    pdb: bool = False,
    twice: bool = False,
    **setting: Unpack[Setting],
) -> Run[N]: ...
@overload
def run(
    protocol: AnyStudy | type[Protocol] | Callable[[], Protocol],
    network: Network | MakeNetwork | None = None,
    *,
    seed: int = 1,
    params: Mapping[str, Any] | None = None,
    out: str | Path | None = None,
    record: str | Path | None = None,
    pdb: bool = False,
    twice: bool = False,
    **setting: Unpack[Setting],
) -> Run[Node]: ...
@checked_arguments
@takes_setting
def run(
    protocol: AnyStudy | AnyProtocol,
    network: Network | MakeNetwork | None = None,
    *,
    seed: int = 1,
    params: Mapping[str, Any] | None = None,
    out: str | Path | None = None,
    record: str | Path | None = None,
    pdb: bool = False,
    twice: bool = False,
    **setting: Unpack[Setting],
) -> Run[Any]:
    """Run a protocol on a network, or a study, and return the results.

        run = causeway.run(Flooder, causeway.AbstractNetwork(20), broadcasts=causeway.poisson(50), until=seconds(10))

    Args:
        protocol: A class of nodes, a function that returns the node for an id, or a function that returns a new
            Protocol. Or a study: its class, an instance, the path of its file, or the name of a study that comes with
            Causeway.
        network: The network, or a function that returns one; a study has its own.
        seed: The seed of all random numbers.
        params: Parameters: of a study, or arguments of the class of nodes and of the function `network`.
        out: The result folder for the run. If it already contains the run, made by the same code, the run is not
            repeated.
        record: The file in which to record the run's frames, for `causeway replay`.
        pdb: Open the debugger where a handler fails; `breakpoint()` in a handler opens it in any case. No deadline
            applies, not even to a simulator.
        twice: First make the run twice in this process and twice in other processes, with other hash seeds, and require
            that all have the same results.
        setting: Arguments that `simulation`, `sweep` and `compare` also take.

            - `broadcasts`: The workload, such as `poisson(50)`; by default that of the network, which has none.
            - `until`: The time at which the run ends (`seconds(10)`); by default when no event is left.
            - `reaction`: The time that a node takes to react to an event, 1 ms by default.
            - `observers`: Returns the observers of a run for the number of nodes; by default the causality checker.
            - `engine`: "inline", "omnet" or "ns3"; by default the first one that builds the network and is installed.

    Raises:
        UserError: The run is not possible; the message contains the reason and a remedy.
        RunError: The run failed, or `twice` found a difference.
    """
    (job,) = RunRequest.of(protocol, network, setting).jobs([point_from(params)], [seed])
    if record is not None:
        job = job.but(record_to=str(record))
    if not isinstance(twice, bool):
        raise UserError(f"twice is {shown(twice)}; allowed: True, False")
    if twice:
        check_processes(job.source, "omit twice=True")
    with on_first_compile(_say_compiling), debugging() if pdb else contextlib.nullcontext():
        if twice:
            _check_twice(job)
        return _in_memory(job) if out is None else _in_folder(job, out)


def _check_twice(job: Job) -> None:
    """Raise RunError unless runs in this process and in two others are equal."""
    job = job.but(record_to="", options={})
    first = run_job(job, endless(job))
    if found := difference(job, first):
        raise RunError(found)
    again = run_twice(job)
    if not again.same:
        raise RunError(str(again))
    if again.digests[0] != first.outcome.digest:
        raise RunError(
            f"the run has digest {first.outcome.digest} in this process, and {again.digests[0]} in other processes; "
            f"look for variables of a module or class that an earlier run has changed"
        )


def _in_memory(job: Job) -> Run[Any]:
    result = run_job(job, endless(job))
    return _with_warnings(of_result(result, None), job, result.warnings)


def _with_warnings(run: Run[Any], job: Job, warnings: Sequence[str]) -> Run[Any]:
    """Return the run after printing the warnings about it."""
    known = {"scalars": run.scalars, "parameters": job.parameters}
    misspelled, absent = unknown_names(job.study.headlines, [known])
    print_warnings([[*warnings, *misspelled, *absent]])
    return run


def _in_folder(job: Job, folder: str | Path) -> Run[Any]:
    check_folder(job.source)
    out = result_folder(folder)
    results: list[RunResult] = []
    tally = execute([job], out, lambda tally: None, report=endless(job), each=results.append)
    if tally.failed:
        raise RunError(tally.failed[job.run_id])
    if not results and job.record_to:  # the folder already contained the run, so it was not recorded
        return _in_memory(job)
    run = of_result(results[0], out) if results else from_folder(out, job)
    return _with_warnings(run, job, read_back(out, [job.run_id])[job.run_id]["warnings"])


def _say_compiling() -> None:
    print(f"causeway: compiling kernels (once, up to {MOST_S} s)", file=sys.stderr)
