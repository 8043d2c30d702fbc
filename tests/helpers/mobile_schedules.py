"""Adversarial schedules for the mobile protocol: events, their times, and the losses of the channel."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from hypothesis import strategies as st

from causeway.pycontrol.protocols.mobile import Host, Station, Timing
from tests.helpers.mobile_model import MS_PS, S_PS, BadChannel, Model

WIRES = {2: [(0, 1)], 3: [(0, 1), (1, 2)], 4: [(0, 1), (0, 2), (0, 3)], 5: [(0, 1), (1, 2), (1, 3), (3, 4)]}
"""Trees: an edge, a path, a star, and something of both."""

GAPS_MS = (0, 1, 5, 11, 25, 60, 150, 600, 1500)
"""Between two steps: less than the air, less than a wire, a handoff, a retransmission."""


@dataclass(frozen=True)
class Step:
    """One event, after a gap."""

    gap_ms: int
    what: str
    host: int
    reach: tuple[int, ...] = ()


@dataclass(frozen=True)
class Schedule:
    """The events of a run."""

    stations: int
    hosts: int
    loss: float
    spread_ms: int
    wire_spread_ms: int
    seed: int
    outstanding: int
    steps: tuple[Step, ...]

    def play(
        self, make_station: type[Station] = Station, make_host: type[Host] = Host, ack_intervals: bool = False
    ) -> Model:
        """Execute a schedule, then heal the model for a while; return it."""
        air = BadChannel(Random(self.seed), self.loss, self.spread_ms * MS_PS, self.wire_spread_ms * MS_PS)
        timing = Timing(outstanding=self.outstanding, ack_intervals=ack_intervals)
        model = Model(WIRES[self.stations], self.hosts, air, timing, make_station, make_host)
        for host in model.host_ids:
            model.move(host, host % self.stations)
            model.join(host)
        for step in self.steps:
            model.run(step.gap_ms * MS_PS)
            self._do(model, step)
        model.heal(30 * S_PS)
        return model

    def _do(self, model: Model, step: Step) -> None:
        host = self.stations + step.host % self.hosts
        if step.what == "move":
            model.move(host, *dict.fromkeys(s % self.stations for s in step.reach))
        else:
            getattr(model, step.what)(host)


def steps() -> st.SearchStrategy[Step]:
    """Draw events, mostly broadcasts and moves; a move may end in two cells at once or in none."""
    what = st.sampled_from(["broadcast"] * 5 + ["move"] * 6 + ["fail", "recover", "fail", "recover", "leave", "join"])
    reach = st.lists(st.integers(0, 4), min_size=0, max_size=2).map(tuple)
    return st.builds(Step, st.sampled_from(GAPS_MS), what, st.integers(0, 4), reach)


def schedules() -> st.SearchStrategy[Schedule]:
    """Draw schedules with all kinds of faults."""
    return st.builds(
        Schedule,
        stations=st.integers(2, 5),
        hosts=st.integers(2, 4),
        loss=st.sampled_from([0.0, 0.1, 0.3, 0.6]),
        spread_ms=st.sampled_from([0, 30, 1000, 4000]),
        wire_spread_ms=st.sampled_from([0, 50, 400]),
        seed=st.integers(0, 2**16),
        outstanding=st.sampled_from([2, 150]),
        steps=st.lists(steps(), min_size=10, max_size=60).map(tuple),
    )


def random_schedule(random: Random) -> Schedule:
    """One for a generator: denser in moves than hypothesis makes them, with a pace that holds for a whole run."""
    what = ["broadcast"] * 6 + ["move"] * 6 + ["fail", "recover"] * 2 + ["leave", "join"] * random.randrange(2)
    gaps = random.choice([GAPS_MS, (0, 1, 5, 11, 25), (11, 25, 60), (0, 25, 600)])

    def step() -> Step:
        reach = tuple(random.randrange(5) for _ in range(random.choice([0, 1, 1, 1, 2, 2])))
        return Step(random.choice(gaps), random.choice(what), random.randrange(5), reach)

    return Schedule(
        stations=random.randrange(2, 6),
        hosts=random.randrange(2, 5),
        loss=random.choice([0.0, 0.0, 0.1, 0.3, 0.6]),
        spread_ms=random.choice([0, 0, 30, 1000, 4000]),
        wire_spread_ms=random.choice([0, 0, 50, 400]),
        seed=random.randrange(2**16),
        outstanding=random.choice([2, 150, 150]),
        steps=tuple(step() for _ in range(random.randrange(10, 120))),
    )


def crossing_schedule(random: Random) -> Schedule:
    """Two cells that overlap wholly. Both stations put two messages in different orders just before a host changes."""
    steps = []
    for _ in range(12):
        mover, nearest = random.randrange(4), random.randrange(2)
        steps += [Step(1500, "broadcast", 0), Step(0, "broadcast", 1)]
        steps += [Step(random.choice([1, 3, 5, 8]), "move", mover, (nearest, 1 - nearest))]
    return Schedule(2, 4, 0.0, random.choice([20, 60, 200]), 0, random.randrange(2**16), 150, tuple(steps))


def joining_schedule(random: Random) -> Schedule:
    """Hosts that leave, join and move on at once, over slow wires: joins at several stations race their Deletes."""
    steps = []
    for _ in range(20):
        host, places = random.randrange(4), [random.randrange(5) for _ in range(4)]
        steps += [Step(600, "leave", host), Step(600, "broadcast", host + 1), Step(0, "join", host)]
        steps += [Step(random.choice([1, 2, 3, 5, 25]), "move", host, (place,)) for place in places]
        steps += [Step(5, "broadcast", host)]
    return Schedule(5, 4, random.choice([0.0, 0.2]), 5, 400, random.randrange(2**16), 150, tuple(steps))
