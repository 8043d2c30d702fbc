"""A time that was meant in seconds or milliseconds is refused or warned of, since it is a few picoseconds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import causeway as cw
from tests.studies.test_run import Echo

NETWORK = cw.AbstractNetwork(3, delay=cw.constant_delay(1))
LOAD = cw.poisson(50, messages=10)


class Sleeper(cw.Node):
    """Sets timers of one length, by each service that sets one."""

    delay_ps = 1

    def on_start(self) -> None:
        self.set_timer("nap", self.delay_ps)
        self.after(self.delay_ps, self.wake)
        self.request(1 - self.id % 2, "hi", self.delay_ps, self.answered, self.wake)

    def wake(self) -> None: ...

    def answered(self, content: object, sender: int) -> None: ...

    def on_timer(self, key: object) -> None: ...


def run(**setting: Any) -> cw.Run[Any]:
    return cw.run(Echo, NETWORK, **{"broadcasts": LOAD, **setting})


REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "a reaction of 1 ps": (lambda: run(reaction=1), "reaction is 1 ps"),
    "a reaction of 999 ps": (lambda: run(reaction=999), "reaction is 999 ps"),
    "an end at 10 ps": (lambda: run(until=10), "until is 10 ps"),
    "a series of joules": (lambda: cw.Battery(1.0, series_every_ps=1), "series_every_ps is 1"),
    "samples of a job": (lambda: cw.PerNode(Echo).every(5, lambda node: None), "the period_ps of every is 5 ps"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_few_picoseconds_are_refused(name: str) -> None:
    does, words = REFUSED[name]
    with pytest.raises(cw.UserError) as error:
        does()
    said = str(error.value)
    assert words in said and "seconds(" in said and "\n" not in said, said


def test_a_study_that_reacts_within_a_picosecond_is_refused() -> None:
    from tests.helpers.toy_study import ToyStudy

    class Hasty(ToyStudy):
        def reaction_ps(self, params: Any) -> int:
            return 1

    with pytest.raises(cw.UserError, match=r"the reaction time is 1 ps; allowed: 1 ns and up.*seconds\("):
        cw.run(Hasty)


def test_a_reaction_within_a_microsecond_is_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    run(reaction=cw.ns(5))
    assert "the reaction time is 5 ns, less than a microsecond; times are picoseconds" in capsys.readouterr().err
    run(reaction=cw.us(5))
    assert "reaction" not in capsys.readouterr().err


def test_an_end_within_a_microsecond_is_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    run(reaction=cw.ns(5), until=cw.ns(50))
    assert "the run ends at 50 ns, within the first microsecond; times are picoseconds" in capsys.readouterr().err


@pytest.mark.parametrize(("delay_ps", "warned"), [(1, True), (300, True), (0, False), (cw.ms(3), False)])
def test_timers_of_a_few_picoseconds_are_a_warning(
    delay_ps: int, warned: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    class Dozing(Sleeper):
        pass

    Dozing.delay_ps = delay_ps
    Dozing.__name__ = f"Dozing{delay_ps}"
    cw.run(Dozing, cw.AbstractNetwork(2, delay=cw.constant_delay(1)))
    said = capsys.readouterr().err
    text = f"nodes set timers of less than a microsecond (6 of 6; the first at node 0 for {delay_ps} ps"
    assert (text in said) is warned, said


def test_timers_may_be_short_where_reactions_are(capsys: pytest.CaptureFixture[str]) -> None:
    class Chip(Sleeper):
        delay_ps = cw.ns(2)

    cw.run(Chip, cw.AbstractNetwork(2, delay=cw.constant_delay(0.0001)), reaction=cw.ns(1))
    assert "timers" not in capsys.readouterr().err


def test_a_stay_of_a_picosecond_is_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    start = cw.seconds(5)
    stays = cw.Stays([2], [start], [start + 1])  # type: ignore[arg-type]
    cw.run(Echo, cw.AbstractNetwork(3, stays=stays), broadcasts=LOAD)
    assert "1 of 1 stays of nodes last less than a microsecond; times are picoseconds" in capsys.readouterr().err
