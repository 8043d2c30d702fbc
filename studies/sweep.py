"""`causeway.sweep` and `causeway.compare`: many runs from Python, as tables with means and 95 % intervals."""

from __future__ import annotations

import contextlib
import itertools
import multiprocessing
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Unpack

import pandas as pd
from rich.console import Console
from rich.progress import Progress

from causeway.analysis.reduce.arithmetic import interval
from causeway.errors import RunError, UserError
from causeway.network.networks import Network
from causeway.pycontrol.hash_seed import fixed_for_children
from causeway.signatures import checked_arguments
from causeway.studies.campaign import Tally, Watch
from causeway.studies.execution import execute, read_back, result_folder
from causeway.studies.processes import processes_for
from causeway.studies.protocol_study import MakeNetwork
from causeway.studies.run_request import (
    AnyProtocol,
    AnyStudy,
    RunRequest,
    Setting,
    chosen_seeds,
    point_from,
    takes_setting,
)
from causeway.studies.run_warnings import print_warnings
from causeway.studies.runner import Job
from causeway.studies.study_objects import check_folder, check_processes

Points = Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Any]]
"""The values of each parameter, of which every combination is run; or a list of combinations."""


@dataclass(frozen=True, repr=False)
class Sweep:
    """The runs of a sweep. After an interrupt (Ctrl-C), it contains the finished runs, and so does the folder `out`."""

    parameters: tuple[str, ...]
    """The names of the parameters that vary."""
    failed: Mapping[str, str]
    """Error messages of the runs that failed, by the runs' ids."""
    interrupted: bool
    """True if Ctrl-C ended the sweep."""
    _rows: Sequence[Mapping[str, Any]] = field(repr=False)

    def frame(self) -> pd.DataFrame:
        """Return one row for each run: the parameters, the seed, the digest, and all scalars."""
        return pd.DataFrame(list(self._rows))

    def summary(self, *scalars: str) -> pd.DataFrame:
        """Return one row for each point: the number of runs, and for each scalar its mean and 95 % interval.

        Args:
            scalars: The scalars, by default all. A scalar `x` gives the columns `x`, `x_low` and `x_high`.
        """
        frame = self.frame()
        fixed = {*self.parameters, "seed", "engine", "digest", "run_id", "wall_s"}
        chosen = list(scalars) or [name for name in frame.columns if name not in fixed]
        if unknown := [name for name in chosen if name not in frame.columns]:
            raise UserError(
                f"no run has a scalar {unknown[0]!r}; known scalars: {', '.join(set(frame.columns) - fixed)}"
            )
        keys = [_hashable(row, self.parameters) for row in self._rows]
        rows = []
        for key in dict.fromkeys(keys):
            part = frame[[one == key for one in keys]]
            point = {name: part[name].iloc[0] for name in self.parameters}
            rows.append({**point, "runs": len(part), **_intervals(part, chosen)})
        return pd.DataFrame(rows)

    def __repr__(self) -> str:
        head = f"{len(self._rows)} runs, {len(self.failed)} failed{', interrupted' if self.interrupted else ''}"
        return f"{head}\n{self.summary().to_string(index=False)}" if self._rows else head

    def _repr_html_(self) -> str:
        return str(self.summary().to_html(index=False)) if self._rows else f"<p>{self!r}</p>"


class SweepError(RunError):
    """Raised if runs of a sweep failed. `sweep` has the finished runs, and the error messages of all that failed."""

    def __init__(self, message: str, sweep: Sweep) -> None:
        super().__init__(message)
        self.sweep = sweep


@checked_arguments
@takes_setting
def sweep(
    protocol: AnyStudy | AnyProtocol,
    points: Points,
    network: Network | MakeNetwork | None = None,
    *,
    seeds: Iterable[int] = range(1, 6),
    out: str | Path | None = None,
    jobs: int | None = None,
    may_fail: bool = False,
    **setting: Unpack[Setting],
) -> Sweep:
    """Run every point with every seed, in several processes, and return the results.

        table = causeway.sweep(MyStudy, {"loss": [0, 0.1, 0.3], "causal": [False, True]}, seeds=range(10))
        table.frame()
        table.summary("violations")

    Without a study, a parameter is an argument of the class of nodes, an argument of the function `network`, or a field
    of the network:

        causeway.sweep(Flooder, {"loss": [0, 0.3]}, AbstractNetwork(20), broadcasts=poisson(50), until=seconds(10))

    Args:
        protocol: A study or a protocol, as for `run`.
        points: The values of each parameter, of which every combination is run; or a list of points.
        network: See `run`.
        seeds: The seeds of each point.
        out: The result folder; None: a temporary one. Runs in it that were made by the same code are not repeated.
        jobs: The number of processes, by default the number of cores.
        may_fail: Return the finished runs even if others failed. The failed runs are in `failed`.
        setting: See `run`.

    Raises:
        UserError: The runs are not possible.
        SweepError: Runs failed without `may_fail`, or all of them failed. Its `sweep` has the finished ones.
    """
    listed = _points(points)
    planned = RunRequest.of(protocol, network, setting).jobs(listed, seeds)
    names = tuple(dict.fromkeys(name for point in listed for name in point))
    return _swept(planned, names, out, jobs, may_fail)


@checked_arguments
@takes_setting
def compare(
    one: AnyStudy | AnyProtocol,
    other: AnyStudy | AnyProtocol,
    network: Network | MakeNetwork | None = None,
    *,
    seeds: Iterable[int] = range(1, 11),
    params: Mapping[str, Any] | None = None,
    out: str | Path | None = None,
    jobs: int | None = None,
    **setting: Unpack[Setting],
) -> pd.DataFrame:
    """Run two protocols on one network with the same seeds, and return a row for each scalar that both have.

    The columns are the two means, their difference (the second minus the first), and the 95 % interval of the
    difference, computed from the differences of runs with the same seed. If the interval does not contain 0, the two
    protocols differ.

    Args:
        one: A study or a protocol, as for `run`.
        other: Another one.
        network: See `run`.
        seeds: The seeds, at least two.
        params: Parameters of both, see `run`.
        out: See `sweep`.
        jobs: See `sweep`.
        setting: See `run`.

    Raises:
        UserError: The runs are not possible.
        RunError: A run failed.
    """
    chosen, point = chosen_seeds(seeds), [point_from(params)]
    if len(set(chosen)) < 2:
        raise UserError(
            "compare needs at least two seeds, as in seeds=range(10), since one pair of runs has no interval"
        )
    sides = [RunRequest.of(each, network, setting).jobs(point, chosen) for each in (one, other)]
    swept = [_swept(side, (), out, jobs) for side in sides]
    if any(side.interrupted for side in swept):
        raise RunError("interrupted; use out=... to keep finished runs")
    frames = [side.frame().set_index("seed") for side in swept]
    names = [_label(side[0]) for side in sides]
    if names[0] == names[1]:
        names = [f"{names[0]} (first)", f"{names[1]} (second)"]
    return _paired(frames, names)


def _points(points: Any) -> list[dict[str, Any]]:
    """Return the list of points: every combination, or the given list."""
    if not isinstance(points, Mapping):
        if not isinstance(points, Iterable) or isinstance(points, str):
            points = [points]
        for point in (points := list(points)):
            if not isinstance(point, Mapping):
                allowed = "a dict of lists, as in {'loss': [0, 0.1]}, or a list of dicts"
                raise UserError(f"a point of the sweep is {point!r}; allowed: {allowed}")
        listed = [dict(point) for point in points]
    else:
        for name, values in points.items():
            if isinstance(values, str) or not isinstance(values, Iterable):
                raise UserError(f"parameter {name} of the sweep is {values!r}; allowed: a list of values, [{values!r}]")
        columns = {name: list(values) for name, values in points.items()}
        listed = [dict(zip(columns, one, strict=True)) for one in itertools.product(*columns.values())]
    if not listed:
        raise UserError("the sweep has no point; a parameter needs at least one value")
    return listed


def _swept(
    planned: list[Job], names: tuple[str, ...], out: str | Path | None, jobs: int | None, may_fail: bool = False
) -> Sweep:
    _refuse_in_worker()
    processes = processes_for(planned, jobs)
    if out is not None:
        check_folder(planned[0].source)
    if processes > 1:
        check_processes(planned[0].source)
    with contextlib.ExitStack() as stack:
        temporary = stack.enter_context(tempfile.TemporaryDirectory(prefix="causeway-")) if out is None else ""
        folder = result_folder(temporary if out is None else out)
        tally, interrupted = Tally(len(planned)), False
        try:
            with _progress(planned[0].study.name, len(planned)) as watch, fixed_for_children():

                def keep(now: Tally) -> None:
                    nonlocal tally
                    tally = now
                    watch(now)

                execute(planned, folder, keep, processes=processes)
        except KeyboardInterrupt:
            interrupted = True
        found = read_back(folder, [job.run_id for job in planned])
    rows = [_row(job, found[job.run_id], names) for job in planned if job.run_id in found]
    print_warnings([found[run_id]["warnings"] for run_id in found])
    done = Sweep(names, dict(tally.failed), interrupted, rows)
    if interrupted:
        print(f"causeway: interrupted: {len(rows)} of {len(planned)} runs are finished", file=sys.stderr)
    if tally.failed and not (may_fail and rows):
        raise SweepError(_failures(done, len(planned)), done)
    return done


def _failures(sweep: Sweep, planned: int) -> str:
    run_id, message = next(iter(sweep.failed.items()))
    remedy = "; may_fail=True returns the finished ones" if len(sweep.failed) < planned else ""
    return f"{len(sweep.failed)} of {planned} runs failed{remedy}; the first, {run_id}: {message}"


def _refuse_in_worker() -> None:
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise UserError(
            "a worker process imports this file and would start the sweep again; move the call below "
            'if __name__ == "__main__":'
        )


def _row(job: Job, run: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    known = {"seed": job.seed, "engine": job.engine, "digest": run["digest"], "wall_s": run["wall_s"]}
    return {**{name: job.parameters[name] for name in names}, **known, "run_id": job.run_id, **run["scalars"]}


@contextlib.contextmanager
def _progress(name: str, total: int) -> Iterator[Watch]:
    """Show the progress of a sweep, only in a terminal, or in a notebook that has ipywidgets."""
    console = Console(stderr=True)
    shows = find_spec("ipywidgets") is not None if console.is_jupyter else console.is_terminal
    with Progress(console=console, transient=True, disable=not shows) as bar:
        task = bar.add_task(name, total=total)
        yield lambda tally: bar.update(task, completed=tally.done + tally.skipped + len(tally.failed))


def _hashable(row: Mapping[str, Any], names: Iterable[str]) -> tuple[str, ...]:
    return tuple(repr(row[name]) for name in names)


def _intervals(part: pd.DataFrame, scalars: Iterable[str]) -> dict[str, float]:
    found: dict[str, float] = {}
    for name in scalars:
        _, mean, _, low, high = interval(part[name].tolist())
        found |= {name: mean, f"{name}_low": low, f"{name}_high": high}
    return found


def _label(job: Job) -> str:
    return str(job.study.name)


def _paired(frames: Sequence[pd.DataFrame], names: Sequence[str]) -> pd.DataFrame:
    """Return the table of `compare`; a row for each scalar."""
    fixed = {"engine", "digest", "wall_s", "run_id"}
    rows = {}
    for scalar in [name for name in frames[0].columns if name in frames[1].columns and name not in fixed]:
        one, other = frames[0][scalar], frames[1][scalar].reindex(frames[0].index)
        _, difference, _, low, high = interval((other - one).tolist())
        rows[scalar] = {
            names[0]: one.mean(), names[1]: other.mean(), "difference": difference, "low": low, "high": high,
        }  # fmt: skip
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("scalar")
