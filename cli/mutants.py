"""`causeway check --mutants` and `--seeded`: plant mistakes in the protocol, which the properties should detect."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from rich.console import Console
from rich.text import Text

from causeway.cli.console import printable
from causeway.errors import UserError
from causeway.explore import exhaustive as orders
from causeway.explore import mutants, schedules
from causeway.pycontrol.confined import confined
from causeway.pycontrol.watchdog import CHECK_S, watchdog
from causeway.studies.trial import Trial
from causeway.toolchain.user_file import module_from

STATES_EACH = 20_000
TRIES_FIRST = 60


@confined()
def check_mutants(trial: Trial, tries: int, seconds: float, seed: int, console: Console) -> bool:
    """Mutate the protocol line by line. Return whether a mutant survives."""
    _check_passes(trial, tries, seconds, seed)
    ran: set[Any] = set()
    with mutants.reached(ran):
        for number in range(TRIES_FIRST):
            random = Random(number)
            with closing(trial.make()) as model:
                schedules.follow_random_schedule(
                    model, random, schedules.draw_profile(random, 10 * number), trial.rules()
                )
    survived, done, began = 0, 0, time.monotonic()
    with closing(trial.make()) as model:
        candidates = mutants.mutants(model, ran, _excluded(trial))
    for mutant in candidates:
        done += 1
        try:
            with mutants.put_in(mutant, seconds):
                broken = _detect(trial, tries, seconds, seed, shrink=False)[0]
        except mutants.MutantHangs:
            broken = "it hangs"
        if broken is None:
            survived += 1
            line = mutant.file.read_text().splitlines()[mutant.line - 1].strip()
            place = f"{mutant.file.name}:{mutant.line}"
            console.print(
                Text.assemble(("survives", "red"), f" {place}  {mutant.what}:  {printable(line)}"), soft_wrap=True
            )
    console.print(f"{done} mutants, {done - survived} detected, {survived} survive, {time.monotonic() - began:.0f} s")
    return survived > 0


@confined()
def check_seeded(
    trial: Trial, file: Path, tries: int, seconds: float, seed: int, console: Console, states: int = 0
) -> bool:  # fmt: skip
    """Try each mistake in a file of patches. Return whether one is not detected.

    Args:
        trial: The model.
        file: The file with the patches.
        tries: The number of random schedules.
        seconds: The time limit for each mistake.
        seed: The seed of the schedules.
        console: The console to print to.
        states: If not 0, search exhaustively, up to this many states, instead of by random schedules.
    """
    _check_passes(trial, tries, seconds, seed, states)
    missed = 0
    for name, plant in patches_of(file):
        patch = mutants.Patch([])
        try:
            plant(patch)
            began = time.monotonic()
            broken, events = _detect(trial, tries, seconds, seed, True, states)
            took_s = time.monotonic() - began
        finally:
            patch.undo()
        missed += broken is None
        reported = Text.assemble(("missed", "red")) if broken is None else Text(f"{took_s:.1f} s, {events} events")
        console.print(Text.assemble(f"{name:45} ", reported, f"  {printable(broken or '')}"), soft_wrap=True)
    console.print(f"{missed} missed")
    return missed > 0


def _check_passes(trial: Trial, tries: int, seconds: float, seed: int, states: int = 0) -> None:
    """Refuse a protocol that violates a property without any mistake, since every mistake would seem to be detected."""
    if (broken := _detect(trial, tries, seconds, seed, False, states)[0]) is not None:
        raise UserError(f"the protocol violates a property without mutants ({broken}); correct it first")


def patches_of(file: Path) -> Iterator[tuple[str, Callable[[Any], None]]]:
    """Yield the functions of a file that take a MonkeyPatch, each of which plants a mistake."""
    module = module_from(file)
    for name, value in vars(module).items():
        if not inspect.isfunction(value) or value.__module__ != module.__name__ or name.startswith(("_", "test_")):
            continue
        parameters = list(inspect.signature(value).parameters.values())
        if len(parameters) == 1 and "MonkeyPatch" in str(parameters[0].annotation):
            yield name, value


@watchdog(CHECK_S)
def _detect(
    trial: Trial, tries: int, seconds: float, seed: int, shrink: bool, states: int = 0
) -> tuple[str | None, int]:  # fmt: skip
    """Return the violated property and the number of events, found by random schedules or then by exhaustive search.

    With `states`, only the exhaustive search is done.
    """
    rules = trial.rules()
    if not states:
        found = schedules.search(trial.make, rules, tries, seconds, seed, shrink=shrink)
        if found.broken is not None or trial.checks.model is not None:
            return found.broken, found.steps
    reduce = orders.can_reduce(trial.make, rules)
    try:
        most_s = seconds if states else seconds / 2
        covered = orders.search_exhaustively(trial.make, rules, states or STATES_EACH, most_s, reduce=reduce)
    except UserError:
        if states:
            raise
        return None, 0
    if covered.broken is None or not shrink:
        return covered.broken, len(covered.plan)
    trial = replace(trial, clocks=covered.clocks)
    plan = orders.simplest(trial.make, rules, covered) if reduce and covered.repeats else covered.plan
    with closing(trial.make()) as model:
        return schedules.follow(model, plan, rules) or covered.broken, len(model.log)


def _excluded(trial: Trial) -> set[Any]:
    """Return the code of the properties and of the study itself, which is not mutated."""
    checks = trial.checks
    rules = [*checks.always.values(), *checks.at_end.values()]
    own = [value for value in vars(type(trial.study)).values() if inspect.isfunction(value)]
    return {one.__code__ for one in [*rules, *own] if inspect.isfunction(one)}
