"""Random programs of tasks, sleeps, timeouts and cancellations behave as on asyncio's own loop.

What happens within one instant happens in an order that asyncio determines: callbacks run in the order in which they
became ready. One thing it leaves open is the order of timers that are due at the same instant; there both loops of the
comparison take the order in which the timers were set.
"""

from __future__ import annotations

import asyncio

from hypothesis import example, given, settings
from hypothesis import strategies as st

from causeway.aio import SoloLoop
from tests.helpers.aio_programs import results
from tests.helpers.drawn import examples

TICK_S = 0.004
STEPS = st.one_of(
    st.tuples(st.just("sleep"), st.integers(0, 4)),
    st.tuples(st.just("put"), st.integers(0, 9)),
    st.tuples(st.just("get"), st.integers(1, 4)),
    st.tuples(st.just("cancel"), st.integers(0, 4)),
    st.tuples(st.just("await"), st.integers(0, 4)),
    st.tuples(st.just("lock"), st.integers(0, 3)),
    st.tuples(st.just("fail"), st.just(0)),
)
PROGRAMS = st.lists(st.lists(STEPS, max_size=5), min_size=1, max_size=5)


async def perform(program: list[list[tuple[str, int]]]) -> list[tuple]:
    """Return the events in order, each with the number of its tick."""
    loop = asyncio.get_running_loop()
    began, reported = loop.time(), []
    queue, lock = asyncio.Queue(), asyncio.Lock()
    tasks: list[asyncio.Task] = []

    def tell(*what):
        reported.append((round((loop.time() - began) / TICK_S), *what))

    async def step(me: int, what: str, number: int) -> None:
        if what == "sleep":
            await asyncio.sleep(number * TICK_S)
        elif what == "put":
            queue.put_nowait(number)
        elif what == "get":
            tell(me, "got", await asyncio.wait_for(queue.get(), number * TICK_S))
        elif what == "cancel" and number < len(tasks) and number != me:
            tell(me, "cancels", number, tasks[number].cancel())
        elif what == "await" and me < number < len(tasks):  # only later ones, so that nobody waits in a circle
            tell(me, "saw", await asyncio.gather(tasks[number], return_exceptions=True) is not None)
        elif what == "lock":
            async with lock:
                await asyncio.sleep(number * TICK_S)
        elif what == "fail":
            raise ValueError(me)

    async def run(me: int, steps: list[tuple[str, int]]) -> None:
        try:
            for what, number in steps:
                tell(me, what, number)
                await step(me, what, number)
        except BaseException as error:
            tell(me, type(error).__name__)
            raise
        tell(me, "ends")

    tasks += [asyncio.create_task(run(me, steps)) for me, steps in enumerate(program)]
    ends = await asyncio.gather(*tasks, return_exceptions=True)
    return [*reported, [type(end).__name__ for end in ends]]


def on(loop_factory, program):
    with asyncio.Runner(loop_factory=loop_factory) as runner:
        return runner.run(perform(program))


class SteadyLoop(asyncio.SelectorEventLoop):
    """asyncio's own loop on a clock that stands still while callbacks run, and jumps to the next timer."""

    def __init__(self):
        super().__init__()
        self._now_s, self._timers = 1000.0, 0
        self._clock_resolution = 1e-6
        select = self._selector.select

        def jump(timeout):
            if timeout:
                self._now_s = to_microseconds(self._now_s + timeout)
            return select(0)

        self._selector.select = jump

    def time(self):
        return self._now_s

    def call_at(self, when, callback, *args, context=None):
        self._timers += 1  # a nanosecond apart, within the clock's resolution: due together, in this order
        when = to_microseconds(when) + self._timers * 1e-9
        return super().call_at(when, callback, *args, context=context)


def to_microseconds(seconds: float) -> float:
    """Round to the clock's resolution: the nanoseconds that order timers must not add up to another instant."""
    return round(seconds, 6)


@settings(max_examples=examples(300))
@given(PROGRAMS)
@example([[("sleep", 3), ("sleep", 2)], [("sleep", 1), ("sleep", 1), ("sleep", 3)]])
def test_a_program_does_the_same_on_the_solo_loop_and_on_asyncios_scheduler(program):
    assert on(SoloLoop, program) == on(SteadyLoop, program)


@settings(max_examples=examples(25))
@given(PROGRAMS)
def test_a_program_does_the_same_on_a_node(program):
    async def main(node):
        return await perform(program)

    assert results(main, 1)[0] == on(SoloLoop, program)
