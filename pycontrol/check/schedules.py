"""Made-up orders of events, by the thousand; one that breaks a property is shrunk until nothing can be left out.

An order is a plan: a list of whole numbers. Each says which of the things that can happen next happens, 0 the first;
when the plan is used up, packets arrive and timers go off in their order, and nothing goes wrong any more. So a shorter
plan, and a plan of smaller numbers, is a simpler order.

Orders differ in temper: how many events, how eager the application is, how much goes wrong, how far packets overtake.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from random import Random

from causeway.pycontrol.check.chance import who_draws
from causeway.pycontrol.check.properties import Rules
from causeway.pycontrol.check.shrink import Label, shrunk
from causeway.pycontrol.check.world import Choice, Event, Log, World
from causeway.pycontrol.shared import watching_contents

LENGTHS = (6, 12, 25, 50, 100, 200)
"""How many events of an order are made up, short ones first."""
REST_STEPS = 2000
"""Nodes with periodic timers never come to rest: after so many events without mischief what is owed must be there."""
PATIENT_STEPS = 50
"""So many events pass before the first look whether everything is there."""
MANY_CALLS = 3
WATCHED, ONE_IN = 20, 16
"""In so many of the first schedules, and then in one of so many, nodes must not change contents that they sent or
received. A schedule in which that is looked for takes up to 1.8 times as long."""
SCORED = 0.5
"""So many orders are made up by scores."""
APPLICATION, MISCHIEF = ("broadcast", "call", "move"), ("loss", "twice", "crash", "recover")

MakeWorld = Callable[[], World]


@dataclass(frozen=True)
class Verdict:
    """What a search came to."""

    tried: int
    seconds: float
    broken: str | None = None
    plan: tuple[int, ...] = ()
    steps: int = 0
    """Events of the shrunk counterexample."""
    log: Log = field(default_factory=Log)
    """They, and what nodes did."""
    chance: str = ""
    """Which node draws random numbers, if nothing is broken: all orders have one sequence of draws."""
    repeats: bool = True
    """Whether the same order of events breaks something each time; else the nodes are not deterministic, and the log is
    of the one time."""
    contents: bool = False
    """Whether it breaks only where contents are watched."""


@dataclass
class Taken:
    """The choices of a plan, as numbers and by what they are."""

    numbers: list[int] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)

    def take(self, number: int, choice: Choice) -> None:
        self.numbers.append(number)
        self.labels.append(label_of(choice))


def label_of(choice: Choice) -> Label:
    """What it is, in words that still mean something when other events are left out."""
    packet = choice.packet
    if packet is None:
        return (choice.what, choice.node, choice.key)
    return (choice.what, choice.node, packet.sender, type(packet.content).__name__)


def follow(world: World, plan: Sequence[int], rules: Rules, taken: Taken | None = None) -> str | None:
    """Lets a world go by a plan, then to rest; what is broken, if anything. `taken` is told the choices."""
    for number in plan:
        choices = world.choices()
        if not choices:
            break
        number %= len(choices)
        if taken is not None:
            taken.take(number, choices[number])
        if (broken := _step(world, choices[number], rules)) is not None:
            return broken
    return _to_rest(world, rules)


def follow_labels(world: World, labels: Sequence[Label], rules: Rules) -> Taken | None:
    """The same by what the choices are; those that cannot be taken are left out. None if nothing breaks."""
    taken = Taken()
    for label in labels:
        choices = world.choices()
        number = next((i for i, choice in enumerate(choices) if label_of(choice) == label), None)
        if number is None:
            continue
        taken.take(number, choices[number])
        if _step(world, choices[number], rules) is not None:
            return taken
    return taken if _to_rest(world, rules) is not None else None


def _step(world: World, choice: Choice, rules: Rules) -> str | None:
    world.do(choice)
    if world.broken is not None:
        return world.broken
    return rules.at_once(world)


def _to_rest(world: World, rules: Rules) -> str | None:
    """The oldest packet, else the first timer, until nothing is left or everything owed has been there for a while."""
    world.calm_down()
    for step in range(REST_STEPS):
        waiting = world.next_without_mischief()
        if waiting is None:
            break
        if (broken := _step(world, waiting, rules)) is not None:
            return broken
        if is_settled(world, rules, step):
            return None
    return rules.at_end(world)


def is_settled(world: World, rules: Rules, step: int) -> bool:
    """Return whether everything owed has been there for a while, now that `step` events have passed in calm."""
    return step >= PATIENT_STEPS and step % 10 == 9 and not world.flying and rules.at_end(world) is None


@dataclass
class Slow:
    """Which copies take long, or all between which nodes. It is decided once for each."""

    share: float
    random: Random
    known: dict[tuple[int, int], bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.by_link = self.random.random() < 0.5

    def others(self, group: list[int], choices: Sequence[Choice]) -> list[int]:
        """Those of the group that do not; all if there are no others, and now and then."""
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
class Muted:
    """Where the application can do many things, an order leaves some of them away, and some nodes that could do them:
    else those that go together hardly ever meet."""

    random: Random
    kinds: int
    """How many things there are."""
    known: dict[object, bool] = field(default_factory=dict)

    def left(self, choices: Sequence[Choice], group: list[int]) -> list[int]:
        """What is left of a group; all of it if nothing would be."""
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
    """Everything that can happen has a score, and the highest comes next (partial order sampling). What can happen at
    the same node then draws again: so orders that differ in what a node sees are about equally likely, and something
    may stay away for as long as it likes."""

    random: Random
    weights: dict[str, float]
    known: dict[tuple[object, ...], float] = field(default_factory=dict)

    def pick(self, choices: Sequence[Choice]) -> int:
        """Which comes next."""
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
class Temper:
    """What kind of order is made up."""

    length: int
    weights: tuple[float, float, float, float]
    """Of packets, timers, the application, mischief."""
    orderly: float
    """How often the oldest packet comes first."""
    calls: float
    """How often the application does what is not a broadcast or a move."""
    slow: float
    """So many copies take long: they arrive when nothing else does."""
    scored: bool = False
    """What comes next has the highest score (`Scores`); slow and orderly do not matter then."""

    def weight_of(self) -> dict[str, float]:
        """Of every kind of choice."""
        packets, timers, application, mischief = self.weights
        weights = {"packet": packets, "timer": timers, "call": application * self.calls}
        return weights | dict.fromkeys(("broadcast", "move"), application) | dict.fromkeys(MISCHIEF, mischief)


def temper(random: Random, tried: int) -> Temper:
    """Short orders first, then all lengths."""
    longest = min(len(LENGTHS), 2 + tried // 50)
    weights = (
        random.choice((2.0, 4.0, 8.0)), random.choice((0.3, 1.0, 3.0)), random.choice((0.5, 1.0, 3.0)),
        random.choice((0.2, 1.0)),
    )  # fmt: skip
    return Temper(
        LENGTHS[random.randrange(longest)], weights, random.choice((0.0, 0.5, 0.9)), random.choice((0.05, 1.0)),
        random.choice((0.0, 0.3, 0.6)), random.random() < SCORED,
    )  # fmt: skip


def _one_kind(group: list[int], choices: Sequence[Choice], kind: Temper, random: Random) -> list[int]:
    """Those of the group that are of one kind: there are many cells to move to and few who can broadcast."""
    kinds: dict[str, list[int]] = {}
    for number in group:
        kinds.setdefault(choices[number].what, []).append(number)
    weights = [kind.calls if what == "call" else 1.0 for what in kinds]
    return random.choices(list(kinds.values()), weights)[0]


def _drawn(choices: Sequence[Choice], kind: Temper, random: Random, slow: Slow, muted: Muted) -> int:
    """Which comes next: first of what kind, then which."""
    groups: list[list[int]] = [[], [], [], []]
    for number, choice in enumerate(choices):
        what = choice.what
        groups[0 if what == "packet" else 1 if what == "timer" else 2 if what in APPLICATION else 3].append(number)
    there = [(group, weight) for group, weight in zip(groups, kind.weights, strict=True) if group]
    (group,) = random.choices([g for g, _ in there], [w for _, w in there])
    if group is groups[2]:
        group = muted.left(choices, group)
        groups[2] = group
    if group is groups[0]:
        group = slow.others(group, choices)
    if choices[group[0]].what == "packet" and random.random() < kind.orderly:
        return group[0]
    return random.choice(_one_kind(group, choices, kind, random) if group in groups[2:] else group)


def wander(world: World, random: Random, kind: Temper, rules: Rules) -> tuple[str | None, Taken]:
    """Makes an order up as it goes."""
    taken, slow = Taken(), Slow(kind.slow, random)
    muted, scores = Muted(random, len(world.calls)), Scores(random, kind.weight_of())
    for _ in range(kind.length):
        choices = world.choices()
        if not choices:
            break
        number = scores.pick(choices) if kind.scored else _drawn(choices, kind, random, slow, muted)
        taken.take(number, choices[number])
        if (broken := _step(world, choices[number], rules)) is not None:
            return broken, taken
    return _to_rest(world, rules), taken


def with_contents(make: MakeWorld) -> MakeWorld:
    """Return a function that makes the same models, whose nodes must not change contents."""

    def watched() -> World:
        with watching_contents():
            return make()

    return watched


def search(
    make: MakeWorld,
    rules: Rules,
    tries: int,
    seconds: float,
    seed: int,
    tell: Callable[[int], None] = lambda tried: None,
    *,
    shrink: bool = True,
) -> Verdict:
    """Explore so many random schedules or for so long; return a shrunk one that breaks something, if one was found."""
    began, random, watched = time.monotonic(), Random(seed), with_contents(make)
    for tried in range(1, tries + 1):
        made = watched if tried <= WATCHED or tried % ONE_IN == 0 else make
        with closing(made()) as world:
            broken, taken = wander(world, random, temper(random, tried), rules)
            log, chance = world.whole_log, who_draws(world.nodes)
        if broken is not None:
            break
        if tried % 16 == 0:
            tell(tried)
            if time.monotonic() - began > seconds:
                return Verdict(tried, time.monotonic() - began, chance=chance)
    else:
        return Verdict(tries, time.monotonic() - began, chance=chance)
    found = Verdict(
        tried, time.monotonic() - began, broken, tuple(taken.numbers), len(taken.numbers), log,
        contents=made is watched,
    )  # fmt: skip
    return in_short(found, make, rules) if shrink else found


def in_short(found: Verdict, make: MakeWorld, rules: Rules) -> Verdict:
    """Return a verdict with its schedule shrunk, or as one that does not come again."""
    began, taken = time.monotonic() - found.seconds, Taken()
    if found.contents and comes_again(make, rules, found):
        found = replace(found, contents=False)
    if found.contents:
        make = with_contents(make)
    if comes_again(make, rules, found, taken):
        plan = simplest(make, rules, taken)
        with closing(make()) as world:
            broken = follow(world, plan, rules)
        if broken is not None:
            found = replace(found, broken=broken, plan=plan, steps=len(world.log), log=world.whole_log)
            return replace(found, seconds=time.monotonic() - began)
    return replace(found, seconds=time.monotonic() - began, steps=len(found.log.events), repeats=False)


def comes_again(make: MakeWorld, rules: Rules, found: Verdict, taken: Taken | None = None) -> bool:
    """Follow a plan in a fresh model; return whether it breaks something again, by the same events."""
    with closing(make()) as world:
        return follow(world, found.plan, rules, taken) is not None and _bare(world.log) == _bare(found.log.events)


def _bare(log: Sequence[Event]) -> list[tuple[str, int, int, int]]:
    """Leave out the texts, in which there may be addresses of objects."""
    return [(event.what, event.node, event.number, event.peer) for event in log]


def simplest(make: MakeWorld, rules: Rules, taken: Taken) -> tuple[int, ...]:
    """The shrunk plan."""

    def by_number(plan: Sequence[int]) -> Taken | None:
        told = Taken()
        with closing(make()) as world:
            return told if follow(world, plan, rules, told) is not None else None

    def by_labels(labels: Sequence[Label]) -> Taken | None:
        with closing(make()) as world:
            return follow_labels(world, labels, rules)

    return tuple(shrunk(taken, by_number, by_labels).numbers)
