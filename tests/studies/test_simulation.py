"""A stepped run (`causeway.simulation`) equals a run in one piece, and stops exactly where the caller says."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import causeway as cw
from tests.helpers.drawn import examples

S, MS = 10**12, 10**9
END = 2 * S
NETWORKS = {
    "inline": cw.AbstractNetwork(6, loss=0.1),
    "ns3": cw.MobileNetwork.hexagons(cells=1, hosts=5),
    "omnet": cw.AbstractNetwork(6, loss=0.1),
    "inet": cw.MobileNetwork.hexagons(cells=1, hosts=5),
}
ENGINE_OF = {"inet": "omnet"}
ENGINES = [
    "inline", pytest.param("ns3", marks=pytest.mark.ns3), pytest.param("omnet", marks=pytest.mark.omnet),
    pytest.param("inet", marks=pytest.mark.omnet),
]  # fmt: skip


class Noting(cw.Node):
    """Floods, and notes the times of its events."""

    def on_start(self) -> None:
        self.seen: set[int] = set()
        self.times: list[int] = []
        self.set_timer("beat", 7 * MS)

    def on_timer(self, key: object) -> None:
        self.times.append(self.now_ps)
        self.set_timer("beat", 7 * MS)

    def on_broadcast(self, number: int, size_bytes: int) -> None:
        self.times.append(self.now_ps)
        self.take(self.new_message())

    def on_packet(self, content: int, sender: int, interface: int) -> None:
        self.times.append(self.now_ps)
        if content not in self.seen:
            self.take(content)

    def take(self, message: int) -> None:
        self.seen.add(message)
        self.deliver(message)
        self.send(cw.EVERYONE, message, 50)


def started(engine: str = "inline", seed: int = 1, until: int = END) -> cw.Simulation[Noting]:
    on = ENGINE_OF.get(engine, engine)
    return cw.simulation(Noting, NETWORKS[engine], broadcasts=cw.poisson(20, 50), until=until, engine=on, seed=seed)


def whole(engine: str = "inline", seed: int = 1, until: int = END) -> cw.Run[Noting]:
    on = ENGINE_OF.get(engine, engine)
    return cw.run(Noting, NETWORKS[engine], broadcasts=cw.poisson(20, 50), until=until, engine=on, seed=seed)


@pytest.fixture(scope="module")
def in_one_piece() -> cw.Run[Noting]:
    return whole()


@given(st.lists(st.one_of(st.none(), st.integers(0, END + S)), max_size=30))
@settings(max_examples=examples(25))
def test_a_stepped_run_has_the_digest_of_one_in_one_piece(stops: list[int | None]) -> None:
    """None stands for a step, a number for an instant; instants that have passed are omitted."""
    expected = whole()
    with started() as sim:
        for stop in stops:
            if stop is None:
                sim.step()
            elif stop >= sim.now_ps:
                sim.run_until(stop)
        assert sim.result() == expected


@given(st.integers(0, END), st.integers(0, END))
@settings(max_examples=examples(25))
def test_a_stop_is_exact(one: int, other: int) -> None:
    """The stop may be at the instant of an event (one every 8 ms), which then has happened."""
    all_times = sorted(time for node in whole().nodes for time in node.times)
    with started() as sim:
        for stop in sorted((one, other, (one // (8 * MS)) * 8 * MS)):
            assert sim.run_until(stop) or stop >= END
            assert sim.now_ps == stop or sim.is_over
            so_far = sorted(time for node in sim.nodes for time in node.times)
            assert so_far == [time for time in all_times if time <= stop]


@pytest.mark.parametrize("engine", ENGINES)
def test_stepped_stopped_and_whole_runs_agree_on_every_engine(engine: str) -> None:
    expected = whole(engine)
    with started(engine) as sim:
        assert sim.now_ps == 0 and len(sim.nodes) == 6
        for stop in range(0, END, S // 7):
            assert sim.run_until(stop)
            assert sim.now_ps == stop
        while sim.step():
            assert time.time() > 1.6e9, "the caller sees the real clock"
        assert sim.is_over and not sim.step() and not sim.run_until(9 * S)
        assert sim.result() == expected
    all_times = [node.times for node in expected.nodes]
    with started(engine) as sim:
        sim.run_until(S)
        assert [node.times for node in sim.nodes] == [[t for t in times if t <= S] for times in all_times]


@pytest.mark.parametrize("engine", ENGINES)
def test_an_injected_broadcast_happens_at_once_and_takes_effect_a_reaction_time_later(engine: str) -> None:
    with started(engine) as sim:
        sim.run_until(S)
        before = len(sim.nodes[3].seen)
        sim.inject(3)
        sim.inject(2, lambda node: node.times.append(-node.now_ps))
        sim.step()
        assert len(sim.nodes[3].seen) > before
        (at_ps,) = [-t for t in sim.nodes[2].times if t < 0]
        assert S <= at_ps <= sim.now_ps
        first = sim.result()
    with started(engine) as sim:
        sim.run_until(S)
        sim.inject(3)
        sim.inject(2, lambda node: node.times.append(-node.now_ps))
        assert sim.result().digest == first.digest != whole(engine).digest


def test_an_action_injected_into_an_open_window_takes_effect_exactly_one_reaction_time_later() -> None:
    """Timers fire at every node each 8 ms, so that a window is open at 8 ms exactly."""
    with started() as sim:
        sim.run_until(8 * MS)
        sim.inject(1, lambda node: node.set_timer("mine", 0))
        fired: list[int] = []
        sim.nodes[1].on_timer = lambda key: fired.append(sim.nodes[1].now_ps)  # type: ignore[method-assign]
        sim.run_until(10 * MS)
    assert fired == [9 * MS]


@pytest.mark.parametrize("engine", ENGINES)
def test_timers_and_packets_can_be_looked_at_between_steps(engine: str) -> None:
    with started(engine) as sim:
        sim.run_until(S)
        assert isinstance(sim.protocol, cw.PerNode)
        assert {node for node, key in sim.protocol.timers if key == "beat"} == set(range(6))
        assert all(packet >= 0 for packet in sim.protocol.kept_packets)


def test_an_injection_before_the_first_event_is_at_time_0() -> None:
    with cw.simulation(Noting, cw.AbstractNetwork(3), until=50 * MS) as sim:
        sim.inject(0, lambda node: node.times.append(node.now_ps))
        sim.step()
        assert sim.nodes[0].times[0] == 0


def children() -> list[str]:
    tasks = Path(f"/proc/{os.getpid()}/task")
    return [child for task in tasks.iterdir() for child in (task / "children").read_text().split()]


@pytest.mark.parametrize("engine", ENGINES)
def test_closing_early_leaves_no_process(engine: str) -> None:
    before = children()
    with started(engine) as sim:
        sim.step()
    assert children() == before and not sim.step()
    with pytest.raises(KeyError), started(engine) as sim:
        sim.step()
        raise KeyError
    assert children() == before


def test_an_error_in_a_handler_ends_the_simulation_and_leaves_the_real_clock() -> None:
    class Broken(Noting):
        def on_timer(self, key: object) -> None:
            raise ValueError("no")

    with cw.simulation(Broken, NETWORKS["inline"], until=S) as sim:
        with pytest.raises(cw.RunError, match="ValueError: no"):
            sim.run_until(S)
        assert time.time() > 1.6e9
        assert not sim.step()


def test_mistakes_are_errors_of_one_line() -> None:
    with started() as sim:
        sim.run_until(S)
        for call, words in (
            (lambda: sim.run_until(S // 2), "the simulated time is 1 s, which is later than 0.5 s"),
            (lambda: sim.run_until(1.5), r"run_until takes a time in ps, as seconds\(2\) gives it, not a float"),
            (lambda: sim.inject(9), "inject was given node=9; allowed: a whole number, 0 to 5"),
        ):
            with pytest.raises(cw.UserError, match=words):
                call()
        sim.result()
        with pytest.raises(cw.UserError, match="no event is left in the run"):
            sim.inject(1)
    with pytest.raises(cw.UserError, match=r"has not begun; write `with causeway.simulation"):
        started().step()


def test_the_time_between_the_last_event_and_the_end_goes_on_and_on_finish_is_at_the_end() -> None:
    class Silent(cw.Node):
        finished = False

        def on_start(self) -> None:
            self.after(2 * S, self.on_finish)  # otherwise the run is over when nothing is left to happen

        def on_finish(self) -> None:
            self.finished = True

    with cw.simulation(Silent, cw.AbstractNetwork(2), until=S) as sim:
        assert sim.run_until(S - 1) and sim.now_ps == S - 1
        assert not any(node.finished for node in sim.nodes)
        assert not sim.run_until(S) and sim.is_over and sim.now_ps == S
        assert all(node.finished for node in sim.nodes)


def test_a_closed_simulation_has_no_results() -> None:
    with started() as sim:
        sim.step()
    with pytest.raises(cw.UserError, match="it has no results"):
        sim.result()
