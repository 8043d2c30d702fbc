"""`causeway check`: explore models of a study's protocol before it runs in large networks."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

from rich.console import Console
from rich.text import Text

from causeway.analysis.files import refuse_links
from causeway.cli.console import printable
from causeway.explore import exhaustive, schedule_page, schedules
from causeway.explore.model import Budget, Log
from causeway.pycontrol.confined import confined
from causeway.pycontrol.watchdog import CHECK_S, watchdog
from causeway.studies.trial import Trial


@dataclass(frozen=True)
class Search:
    """The settings of a search."""

    tries: int
    seconds: float
    most_states: int
    """The maximum number of states of an exhaustive search; 0 for random schedules instead."""
    whole: bool
    """True for an exhaustive search without partial-order reduction."""
    seed: int
    symmetry: bool = True
    """True if an exhaustive search explores only one of several states that differ only in the names of symmetric
    nodes."""


MISSED = "a random order has a violation that they do not have; a node may compare message ids with other numbers"
"""The reason why an exhaustive search that found nothing is not a proof."""


@dataclass(frozen=True)
class Found:
    """The result of a search."""

    summary: str
    seconds: float
    broken: str | None
    plan: tuple[int, ...]
    clocks: str = ""
    tried: int = 0
    log: Log = field(default_factory=Log)
    """The events of the schedule that broke a property."""
    repeats: bool = True
    """True if every execution of the plan violates the property."""
    randomness: str = ""
    """A message with the nodes that draw random numbers, in a search by random schedules."""
    contents: bool = False
    """True if the property is violated only while contents are watched."""


SMALLER_TRIES, SMALLER_SECONDS = 300, 5.0
"""The limits of the search for a counterexample with fewer nodes."""


@confined()
def check_study(trial: Trial, search: Search, out_dir: Path, console: Console) -> bool:
    """Search, print, and write the counterexample if there is one. Return whether a property was violated."""
    trials = trial.sizes()
    if search.most_states:
        trials = trials[-2:][:1]  # three nodes: two are often too few for a violation
    counts = " to ".join(dict.fromkeys(str(_nodes_of(one)) for one in (trials[0], trials[-1])))
    console.print(
        f"{trial.study.name}: {counts} nodes, {words_of(trial.full_budget())}; {trial.words()}", markup=False,
        highlight=False, soft_wrap=True,
    )  # fmt: skip
    with console.status("") as status:
        trial, found = search_models(trials, search, status.update)
    console.print(f"{found.summary}, {found.seconds:.1f} s", markup=False, highlight=False, soft_wrap=True)
    if found.broken is None:
        console.print("no violation found", markup=False)
        return False
    trial = replace(trial, clocks=found.clocks or trial.clocks, contents=found.contents)
    found = replay_plan(trial, found)
    _report(found, console)
    _write(trial, found, out_dir, console)
    return True


def _nodes_of(trial: Trial) -> int:
    with closing(trial.make()) as model:
        return model.count


def replay_plan(trial: Trial, found: Found) -> Found:
    """Execute the plan once more. Add its events, or mark the violation as not repeatable."""
    if not found.repeats:
        return found
    with closing(trial.make()) as model:
        broken = schedules.follow(model, found.plan, trial.rules())
        if broken is None:
            return replace(found, repeats=False)
        return replace(found, broken=broken, log=model.whole_log)


def search_models(trials: Sequence[Trial], search: Search, report: Callable[[str], None]) -> tuple[Trial, Found]:
    """Search models in order of size; return the first violation, and the smallest model in which it was found."""
    tried, seconds = 0, 0.0
    for number, trial in enumerate(trials):
        left = len(trials) - number
        part = replace(search, tries=max(1, search.tries // len(trials)), seconds=(search.seconds - seconds) / left)
        found = look(trial, part, report)
        tried, seconds = tried + found.tried, seconds + found.seconds
        if found.broken is not None:
            break
    if found.broken is not None and not search.most_states and number == 0:
        few = replace(search, tries=SMALLER_TRIES, seconds=min(search.seconds, SMALLER_SECONDS))
        for fewer in trial.smaller():
            better = look(fewer, few, report)
            if better.broken is not None:
                trial, found = fewer, better
                break
    summary = found.summary if search.most_states else f"{tried:,} orders of events"
    if found.randomness:
        summary += f" ({found.randomness})"
    return trial, replace(found, summary=summary, seconds=seconds)


@watchdog(CHECK_S)
def look(trial: Trial, search: Search, report: object = None) -> Found:
    """Search for a violation in one model."""

    def reported(what: str) -> None:
        if callable(report):
            report(what)

    rules = trial.rules()
    if not search.most_states:
        return _of_random(
            schedules.search(
                trial.make,
                rules,
                search.tries,
                search.seconds,
                search.seed,
                lambda tried: reported(f"{tried:,} orders"),
            )
        )
    sampled, reproducible = sample(trial, search)
    if sampled.broken is not None and not reproducible:
        return _of_random(schedules.shrink_verdict(sampled, trial.make, rules))
    reduce = not search.whole and exhaustive.can_reduce(trial.make, rules)
    covered = exhaustive.search_exhaustively(
        trial.make, rules, search.most_states, search.seconds, lambda states: reported(f"{states:,} states"),
        reduce=reduce, symmetric=trial.checks.symmetric, symmetry=trial.checks.symmetry if search.symmetry else None,
    )  # fmt: skip
    seen = _states_of(covered, reduce)
    if covered.broken is None and not covered.finished and reduce:
        # a timer that is set again and again leads a depth-first search away from short schedules
        covered = exhaustive.search_exhaustively(
            trial.make,
            rules,
            search.most_states,
            search.seconds / 2,
            lambda states: reported(f"{states:,} short orders"),
        )
        reduce, seen = False, f"{seen}; the shortest first: {_states_of(covered, False)}"
    if sampled.broken is not None and (covered.broken is None or not covered.repeats):
        found = _of_random(schedules.shrink_verdict(sampled, trial.make, rules))
        return replace(found, summary=f"{covered.states:,} states, not all of them: {MISSED}")
    plan = covered.plan
    # most events come after the last fault, so a shorter schedule may suffice
    late_end = len(plan) > exhaustive.CALM_EVENTS
    if covered.broken is not None and covered.repeats and (reduce or late_end):
        plan = exhaustive.simplest(trial.make, rules, covered)
    return Found(seen, covered.seconds, covered.broken, plan, covered.clocks, log=covered.log, repeats=covered.repeats)


def sample(trial: Trial, search: Search) -> tuple[schedules.Verdict, bool]:
    """Explore a few random schedules in which contents are watched; return if a violation occurs without watching, too.

    An exhaustive search misses changes of contents, since it copies them. It finds the shortest schedule for any other
    violation, unless nodes use the values of message ids: the search gives a message another id than a run does.
    """
    rules = trial.rules()
    found = schedules.search(trial.make, rules, schedules.WATCHED, search.seconds, search.seed, shrink=False)
    return found, found.broken is not None and schedules.is_reproducible(trial.make, rules, found)


def _of_random(verdict: schedules.Verdict) -> Found:
    return Found(
        f"{verdict.tried:,} orders of events", verdict.seconds, verdict.broken, verdict.plan, tried=verdict.tried,
        log=verdict.log, repeats=verdict.repeats, randomness=verdict.randomness, contents=verdict.contents,
    )  # fmt: skip


def _states_of(covered: exhaustive.Covered, reduced: bool) -> str:
    how = ", reduced" if reduced else ", up to symmetry" if covered.symmetry is not None else ""
    seen = (
        "all of them"
        if covered.complete
        else f"not all of them: {covered.randomness}"
        if covered.randomness
        else "not all"
    )
    return f"{covered.states:,} states ({covered.locals:,} of single nodes{how}), {covered.depth} events deep, {seen}"


def words_of(budget: Budget) -> str:
    """Describe the events that a budget allows."""
    counts = {
        "broadcast": budget.broadcasts, "call": budget.calls, "move": budget.moves, "loss": budget.losses,
        "duplicate": budget.duplicates, "crash": budget.crashes,
    }  # fmt: skip
    plural = {"loss": "losses", "crash": "crashes"}
    words = [f"{n} {word if n == 1 else plural.get(word, word + 's')}" for word, n in counts.items() if n]
    if budget.forever:
        words.append("every copy may arrive again")
    return ", ".join(words) or "no broadcasts or faults"


NOT_DETERMINISTIC = (
    "the same schedule does not always violate it: a node depends on something other than its attributes and its "
    "events, such as a variable of its class or module, the time of day, or the order of a set"
)


def _report(found: Found, console: Console) -> None:
    broken = found.broken or ""
    for line in schedule_page.lines_of(found.log):
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    word = "broken" if found.repeats else "violated, but not deterministic:"
    console.print(Text.assemble((word, "red"), " ", printable(broken)), highlight=False, soft_wrap=True)
    if not found.repeats:
        console.print(NOT_DETERMINISTIC, markup=False, highlight=False, soft_wrap=True)


def _write(trial: Trial, found: Found, out_dir: Path, console: Console) -> None:
    study, broken = trial.study, found.broken or ""
    page, example = out_dir / f"{study.name}.html", out_dir / f"{study.name}.json"
    refuse_links(out_dir, page.name, example.name)
    out_dir.mkdir(parents=True, exist_ok=True)
    page.write_text(schedule_page.page(found.log, _nodes_of(trial), broken, f"{study.name}: {study.title}"))
    what = {
        "counterexample": 1, "trial": trial.as_json(), "plan": list(found.plan), "broken": broken,
        "deterministic": found.repeats,
    }  # fmt: skip
    example.write_text(json.dumps(what, indent=1) + "\n")
    console.print(f"diagram: {page}; counterexample: {example}", markup=False, highlight=False, soft_wrap=True)
