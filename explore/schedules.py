"""Explore thousands of random schedules of a model, and shrink one that violates a property.

A schedule is a plan: a list of indices into the choices of the next event. After the plan, packets arrive and timers
fire in their order, without faults. So a shorter plan, or one with smaller indices, is a simpler schedule.

Random schedules differ in their profile (`ScheduleProfile`): their length, the activity of the application, the number
of faults, and the reordering of packets. Start here: `search`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from random import Random

from causeway.explore.model import Choice, Event, Log, Model
from causeway.explore.properties import Rules
from causeway.explore.randomness import message_about_draws
from causeway.explore.shrink import Label, shrunk
from causeway.pycontrol.shared import watching_contents

LENGTHS = (6, 12, 25, 50, 100, 200)
"""Lengths of random schedules. Short ones come first."""
REST_STEPS = 2000
"""The maximum number of events after faults have ended. Nodes with periodic timers are never quiescent, so all owed
messages must be delivered by then."""
PATIENT_STEPS = 50
"""The number of events after which all owed messages are checked for the first time."""
MANY_CALLS = 3
"""The minimum number of actions of the application with which a schedule omits some of them (`CallFilter`)."""
WATCHED, ONE_IN = 20, 16
"""Contents are watched for changes in the first WATCHED schedules, and then in one of ONE_IN. Watching makes a schedule
up to 1.8 times slower."""
SCORED = 0.5
"""The share of schedules that are drawn by scores (`Scores`)."""
APPLICATION, FAULTS = ("broadcast", "call", "move"), ("loss", "twice", "crash", "recover")

MakeModel = Callable[[], Model]


@dataclass(frozen=True)
class Verdict:
    """The result of a search."""

    tried: int
    seconds: float
    broken: str | None = None
    plan: tuple[int, ...] = ()
    steps: int = 0
    """The number of events of the shrunk counterexample."""
    log: Log = field(default_factory=Log)
    """The log of the counterexample."""
    randomness: str = ""
    """A message if nodes draw random numbers and no violation was found, since all schedules have the same random
    numbers."""
    repeats: bool = True
    """True if the schedule violates a property each time it is followed. If it is False, nodes are not deterministic,
    and the log is that of the execution with the violation."""
    contents: bool = False
    """True if the violation is a content that was changed."""


@dataclass
class RecordedSchedule:
    """A schedule: the indices of its choices, and their labels."""

    numbers: list[int] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)

    def take(self, number: int, choice: Choice) -> None:
        """Append a choice."""
        self.numbers.append(number)
        self.labels.append(label_of(choice))


def label_of(choice: Choice) -> Label:
    """Return a description of a choice that stays the same if other events are left out."""
    packet = choice.packet
    if packet is None:
        return (choice.what, choice.node, choice.key)
    return (choice.what, choice.node, packet.sender, type(packet.content).__name__)


def follow(model: Model, plan: Sequence[int], rules: Rules, taken: RecordedSchedule | None = None) -> str | None:
    """Follow a plan, then continue until the model is quiescent.

    Args:
        model: A fresh model.
        plan: Indices of choices, modulo their number.
        rules: The properties.
        taken: Receives the choices.

    Returns:
        The violation, or None.
    """
    for number in plan:
        choices = model.choices()
        if not choices:
            break
        number %= len(choices)
        if taken is not None:
            taken.take(number, choices[number])
        if (broken := _step(model, choices[number], rules)) is not None:
            return broken
    return _until_quiescent(model, rules)


def follow_labels(model: Model, labels: Sequence[Label], rules: Rules) -> RecordedSchedule | None:
    """Follow choices by their labels, without those that are not possible.

    Returns:
        The choices up to the violation, or None if there is none.
    """
    taken = RecordedSchedule()
    for label in labels:
        choices = model.choices()
        number = next((i for i, choice in enumerate(choices) if label_of(choice) == label), None)
        if number is None:
            continue
        taken.take(number, choices[number])
        if _step(model, choices[number], rules) is not None:
            return taken
    return taken if _until_quiescent(model, rules) is not None else None


def _step(model: Model, choice: Choice, rules: Rules) -> str | None:
    model.do(choice)
    if model.broken is not None:
        return model.broken
    return rules.at_once(model)


def _until_quiescent(model: Model, rules: Rules) -> str | None:
    """Execute spontaneous events until no event is left or all properties hold."""
    model.calm_down()
    for step in range(REST_STEPS):
        waiting = model.next_without_faults()
        if waiting is None:
            break
        if (broken := _step(model, waiting, rules)) is not None:
            return broken
        if is_settled(model, rules, step):
            return None
    return rules.at_end(model)


def is_settled(model: Model, rules: Rules, step: int) -> bool:
    """Return whether all properties hold after `step` events without faults.

    Only some of the steps are checked.
    """
    return step >= PATIENT_STEPS and step % 10 == 9 and not model.flying and rules.at_end(model) is None


@dataclass
class Slow:
    """A random choice of slow copies or slow links, made once for each copy or link."""

    share: float
    random: Random
    known: dict[tuple[int, int], bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.by_link = self.random.random() < 0.5

    def others(self, group: list[int], choices: Sequence[Choice]) -> list[int]:
        """Return the copies of the group that are not slow.

        If there are none, and rarely otherwise, return all copies.
        """
        if not self.share or self.random.random() < 0.05:
            return group
        return [number for number in group if not self._is(choices[number])] or group

    def _is(self, choice: Choice) -> bool:
        assert choice.packet is not None
        packet = choice.packet
        link = (min(packet.sender, packet.receiver), max(packet.sender, packet.receiver))
        copy = (-1 - link[0], link[1]) if self.by_link else (packet.number, packet.receiver)
        if copy not in self.known:
            self.known[copy] = self.random.random() < self.share
        return self.known[copy]


@dataclass
class CallFilter:
    """A random choice of actions of the application, and of nodes, that a schedule omits.

    If there are many actions, those that interact would otherwise rarely occur together.
    """

    random: Random
    kinds: int
    """The number of actions."""
    known: dict[object, bool] = field(default_factory=dict)

    def left(self, choices: Sequence[Choice], group: list[int]) -> list[int]:
        """Return the choices of the group that are not omitted, or all of them if none is left."""
        if self.kinds < MANY_CALLS:
            return group
        return [number for number in group if not self._is(choices[number])] or group

    def _is(self, choice: Choice) -> bool:
        if choice.what != "call":
            return False
        for thing in (choice.key, choice.node):
            if thing not in self.known:
                self.known[thing] = self.random.random() < 0.5
        return self.known[choice.key] or self.known[choice.node]


@dataclass
class Scores:
    """Random scores of choices; the highest is next (partial order sampling).

    After an event, the other choices at its node get new scores. Schedules that differ in the order of events at a node
    are then about equally likely, and an event may be delayed for any time.
    """

    random: Random
    weights: dict[str, float]
    known: dict[tuple[object, ...], float] = field(default_factory=dict)

    def pick(self, choices: Sequence[Choice]) -> int:
        """Return the index of the next event."""
        number = max(range(len(choices)), key=lambda i: self._of(choices[i]))
        node = choices[number].node
        self.known = {which: score for which, score in self.known.items() if which[1] != node}
        return number

    def _of(self, choice: Choice) -> float:
        which = (choice.what, choice.node, choice.packet.number if choice.packet else choice.key)
        if which not in self.known:
            self.known[which] = self.random.random() ** (1 / self.weights[choice.what])
        return self.known[which]


@dataclass(frozen=True)
class ScheduleProfile:
    """The profile of a random schedule."""

    length: int
    weights: tuple[float, float, float, float]
    """The weights of packets, timers, the application and faults."""
    orderly: float
    """The probability with which the oldest packet arrives first."""
    calls: float
    """The weight of the application's actions other than broadcasts and moves."""
    slow: float
    """The share of slow copies, which arrive only if no other copy can."""
    scored: bool = False
    """True if the next event is the one with the highest score (`Scores`); then `slow` and `orderly` have no effect."""

    def weight_of(self) -> dict[str, float]:
        """Return the weight of every kind of choice."""
        packets, timers, application, faults = self.weights
        weights = {"packet": packets, "timer": timers, "call": application * self.calls}
        return weights | dict.fromkeys(("broadcast", "move"), application) | dict.fromkeys(FAULTS, faults)


def draw_profile(random: Random, tried: int) -> ScheduleProfile:
    """Draw a profile. The first profiles are short, and later ones have any length."""
    longest = min(len(LENGTHS), 2 + tried // 50)
    weights = (
        random.choice((2.0, 4.0, 8.0)), random.choice((0.3, 1.0, 3.0)), random.choice((0.5, 1.0, 3.0)),
        random.choice((0.2, 1.0)),
    )  # fmt: skip
    return ScheduleProfile(
        LENGTHS[random.randrange(longest)], weights, random.choice((0.0, 0.5, 0.9)), random.choice((0.05, 1.0)),
        random.choice((0.0, 0.3, 0.6)), random.random() < SCORED,
    )  # fmt: skip


def _one_kind(group: list[int], choices: Sequence[Choice], kind: ScheduleProfile, random: Random) -> list[int]:
    """Return the choices of one random kind in a group, since some kinds have many more choices than others."""
    kinds: dict[str, list[int]] = {}
    for number in group:
        kinds.setdefault(choices[number].what, []).append(number)
    weights = [kind.calls if what == "call" else 1.0 for what in kinds]
    return random.choices(list(kinds.values()), weights)[0]


def _drawn(
    choices: Sequence[Choice], kind: ScheduleProfile, random: Random, slow: Slow, call_filter: CallFilter
) -> int:
    """Return the index of the next event: draw its kind first, then an event of this kind."""
    groups: list[list[int]] = [[], [], [], []]
    for number, choice in enumerate(choices):
        what = choice.what
        groups[0 if what == "packet" else 1 if what == "timer" else 2 if what in APPLICATION else 3].append(number)
    there = [(group, weight) for group, weight in zip(groups, kind.weights, strict=True) if group]
    (group,) = random.choices([g for g, _ in there], [w for _, w in there])
    if group is groups[2]:
        group = call_filter.left(choices, group)
        groups[2] = group
    if group is groups[0]:
        group = slow.others(group, choices)
    if choices[group[0]].what == "packet" and random.random() < kind.orderly:
        return group[0]
    return random.choice(_one_kind(group, choices, kind, random) if group in groups[2:] else group)


def follow_random_schedule(
    model: Model, random: Random, kind: ScheduleProfile, rules: Rules
) -> tuple[str | None, RecordedSchedule]:
    """Follow a random schedule of this profile; return the violation and the choices."""
    taken, slow = RecordedSchedule(), Slow(kind.slow, random)
    call_filter, scores = CallFilter(random, len(model.calls)), Scores(random, kind.weight_of())
    for _ in range(kind.length):
        choices = model.choices()
        if not choices:
            break
        number = scores.pick(choices) if kind.scored else _drawn(choices, kind, random, slow, call_filter)
        taken.take(number, choices[number])
        if (broken := _step(model, choices[number], rules)) is not None:
            return broken, taken
    return _until_quiescent(model, rules), taken


def with_contents(make: MakeModel) -> MakeModel:
    """Return a function that makes the same models with nodes that must not change contents."""

    def watched() -> Model:
        with watching_contents():
            return make()

    return watched


def search(
    make: MakeModel,
    rules: Rules,
    tries: int,
    seconds: float,
    seed: int,
    report: Callable[[int], None] = lambda tried: None,
    *,
    shrink: bool = True,
) -> Verdict:
    """Explore random schedules until one violates a property, and shrink it.

    Args:
        make: Makes a fresh model.
        rules: The properties.
        tries: The maximum number of schedules.
        seconds: The time limit.
        seed: The seed of the schedules.
        report: Called from time to time with the number of schedules.
        shrink: Shrink the schedule; otherwise it is returned unchanged.
    """
    began, random, watched = time.monotonic(), Random(seed), with_contents(make)
    for tried in range(1, tries + 1):
        made = watched if tried <= WATCHED or tried % ONE_IN == 0 else make
        with closing(made()) as model:
            broken, taken = follow_random_schedule(model, random, draw_profile(random, tried), rules)
            log, randomness = model.whole_log, message_about_draws(model.nodes)
        if broken is not None:
            break
        if tried % 16 == 0:
            report(tried)
            if time.monotonic() - began > seconds:
                return Verdict(tried, time.monotonic() - began, randomness=randomness)
    else:
        return Verdict(tries, time.monotonic() - began, randomness=randomness)
    found = Verdict(
        tried, time.monotonic() - began, broken, tuple(taken.numbers), len(taken.numbers), log,
        contents=made is watched,
    )  # fmt: skip
    return shrink_verdict(found, make, rules) if shrink else found


def shrink_verdict(found: Verdict, make: MakeModel, rules: Rules) -> Verdict:
    """Shrink the schedule of a verdict. Mark a violation that does not repeat."""
    began, taken = time.monotonic() - found.seconds, RecordedSchedule()
    if found.contents and is_reproducible(make, rules, found):
        found = replace(found, contents=False)
    if found.contents:
        make = with_contents(make)
    if is_reproducible(make, rules, found, taken):
        plan = simplest(make, rules, taken)
        with closing(make()) as model:
            broken = follow(model, plan, rules)
        if broken is not None:
            found = replace(found, broken=broken, plan=plan, steps=len(model.log), log=model.whole_log)
            return replace(found, seconds=time.monotonic() - began)
    return replace(found, seconds=time.monotonic() - began, steps=len(found.log.events), repeats=False)


def is_reproducible(make: MakeModel, rules: Rules, found: Verdict, taken: RecordedSchedule | None = None) -> bool:
    """Follow a plan in a fresh model. Return whether the same events lead to a violation again."""
    with closing(make()) as model:
        return follow(model, found.plan, rules, taken) is not None and _without_texts(model.log) == _without_texts(
            found.log.events
        )


def _without_texts(log: Sequence[Event]) -> list[tuple[str, int, int, int]]:
    """Return the log without texts, which may contain addresses of objects."""
    return [(event.what, event.node, event.number, event.peer) for event in log]


def simplest(make: MakeModel, rules: Rules, taken: RecordedSchedule) -> tuple[int, ...]:
    """Return the shrunk plan."""

    def by_number(plan: Sequence[int]) -> RecordedSchedule | None:
        choices = RecordedSchedule()
        with closing(make()) as model:
            return choices if follow(model, plan, rules, choices) is not None else None

    def by_labels(labels: Sequence[Label]) -> RecordedSchedule | None:
        with closing(make()) as model:
            return follow_labels(model, labels, rules)

    return tuple(shrunk(taken, by_number, by_labels).numbers)
