"""Environments for reinforcement learning: the libraries' own checks on every engine, and what each name promises."""

from __future__ import annotations

import gc
import os
import pickle
import signal
import time
import warnings

import numpy as np
import psutil
import pytest

import causeway as cw
from causeway.errors import RunError, UserError
from tests.helpers.learners import NODES, Asker, Insistent, Keeper, Talker, always, kept

pytest.importorskip("gymnasium")
pytest.importorskip("pettingzoo")

from gymnasium.utils.env_checker import check_env
from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, seed_test

from causeway import learn

ENGINES = ["inline", pytest.param("ns3", marks=pytest.mark.ns3), pytest.param("omnet", marks=pytest.mark.omnet)]
SIMULATORS = ENGINES[1:]
NETWORKS = {
    "inline": cw.AbstractNetwork(NODES, loss=0.1),
    "omnet": cw.AbstractNetwork(NODES, loss=0.1),
    "ns3": cw.MobileNetwork.hexagons(cells=1, spacing=cw.metres(200), hosts=NODES - 1),
}
SECOND = cw.seconds(1)


def parallel(engine="inline", agent=Talker, **more):
    return learn.parallel_env(agent, NETWORKS[engine], **{"episode": SECOND, "engine": engine, **more})


def turns(engine="inline", agent=Talker, **more):
    return learn.aec_env(agent, NETWORKS[engine], **{"episode": SECOND, "engine": engine, **more})


def played(env, seed, policy=always):
    """Return what an episode shows, step by step."""
    seen = [env.reset(seed=seed)]
    while env.agents:
        seen.append(env.step({name: policy(seen[-1][0][name]) for name in env.agents}))
    return seen


@pytest.mark.parametrize("engine", ENGINES)
def test_the_libraries_checks_pass(engine):
    parallel_api_test(parallel(engine), 40)
    parallel_seed_test(lambda: parallel(engine), 10)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the first observations are zeros
        api_test(turns(engine), 60)
        seed_test(lambda: turns(engine), 10)
        check_env(learn.gym_env(Talker, NETWORKS[engine], others=always, episode=SECOND, engine=engine))


@pytest.mark.parametrize("engine", ENGINES)
def test_equal_seeds_play_equal_episodes_and_other_seeds_play_others(engine):
    env = parallel(engine)
    one, other, again = played(env, 3), played(env, 4), played(env, 3)
    env.close()
    assert repr(one) == repr(again) != repr(other)
    assert one[-1][4]["node_1"]["digest"] == again[-1][4]["node_1"]["digest"]


def test_an_action_takes_effect_one_reaction_time_after_the_observation():
    network = cw.AbstractNetwork(2, delay=cw.constant_delay(7))
    env = learn.parallel_env(Talker, network, episode=SECOND, reaction=cw.ms(2))
    played(env, 1)
    node, other = env.result().nodes
    assert node.sent == [round(0.1 * n, 9) for n in range(1, len(node.sent) + 1)], "agents decide at whole periods"
    assert other.heard == pytest.approx([sent + 0.002 + 0.007 for sent in node.sent], abs=1e-12)
    env.close()


def test_rewards_add_up_to_what_was_earned_between_decisions():
    env = parallel()
    seen = played(env, 5)
    total = sum(sum(step[1].values()) for step in seen[1:])
    in_reset = sum(observation[0] for observation in seen[0][0].values())
    assert total + in_reset == sum(len(node.heard) for node in env.result().nodes) > 50
    env.close()


@pytest.mark.parametrize("engine", ["inline", pytest.param("omnet", marks=pytest.mark.omnet)])
def test_agents_leave_and_come_as_their_nodes_fail_and_recover(engine):
    env = learn.parallel_env(kept, cw.AbstractNetwork(NODES), episode=SECOND, engine=engine)
    assert env.possible_agents == ["node_1", "node_2", "node_3"], "the keeper is no agent"
    env.reset(seed=1)
    there, ended = [], {}
    while env.agents:
        there.append(list(env.agents))
        _, _, terminated, truncated, infos = env.step(dict.fromkeys(env.agents, 1))
        for name in terminated:
            if terminated[name] or truncated[name]:
                ended[name] = ("terminated" if terminated[name] else "truncated", infos[name]["time_s"])
    env.close()
    assert ended == {
        "node_1": ("terminated", 0.3), "node_1.2": ("truncated", 1.0), "node_2": ("truncated", 1.0),
        "node_3": ("truncated", 1.0),
    }  # fmt: skip
    assert [names[0] for names in there] == ["node_1"] * 2 + ["node_2"] * 3 + ["node_1.2"] * 4


def test_agents_that_ask_when_they_like_take_turns_in_the_order_of_time():
    env = turns(agent=Asker)
    env.reset(seed=2)
    asked = []
    for name in env.agent_iter():
        _, _, terminated, truncated, info = env.last()
        asked.append((info.get("time_s"), name))
        env.step(None if terminated or truncated else 1)
    times = [time for time, _ in asked]
    assert times == sorted(times) and len(set(times)) > 10
    assert asked[:4] == [(0.05 + 0.01 * n + 0.001, f"node_{n}") for n in range(4)] or len(asked) > 10
    env.close()


def test_an_agent_that_asks_in_its_decision_decides_at_the_next_instant_with_events():
    env = turns(agent=Insistent)
    env.reset(seed=2)
    times = []
    for _ in env.agent_iter():
        _, _, terminated, truncated, info = env.last()
        times.append(info.get("time_s"))
        env.step(None if terminated or truncated else 1)
    assert times == sorted(times) and all(len(node.sent) >= 20 for node in env.result().nodes)
    env.close()


@pytest.mark.parametrize("engine", ENGINES)
def test_a_step_without_traffic_is_one_exchange_with_the_engine(engine):
    idle = cw.MobileNetwork(hosts=NODES, area_mm=(0, 0, 100_000, 100_000)) if engine == "ns3" else NETWORKS[engine]
    steps, exchanges = [], []
    for episode in (SECOND, 3 * SECOND):
        env = learn.parallel_env(Talker, idle, episode=episode, engine=engine)
        steps.append(len(played(env, 1, lambda _: 0)) - 1)
        env.close()
        exchanges.append(env.episode._outcome.windows)
    assert steps == [9, 29], "the first decision is in the reset"
    assert exchanges[1] - exchanges[0] == steps[1] - steps[0]
    assert exchanges[0] <= steps[0] + 2, "the start and the end of a run are one exchange each"


@pytest.mark.parametrize("engine", ENGINES)
def test_members_of_a_vector_environment_have_the_digests_of_single_runs(engine):
    more = {"others": always, "episode": SECOND, "engine": engine}
    vector = learn.vector_env(2, Talker, NETWORKS[engine], seed=7, **more)
    seen, _ = vector.reset(seed=[7, 8])
    steps, truncated = [seen], np.array([False])
    while not truncated.any():
        seen, _, _, truncated, infos = vector.step(np.array([1, 0]))
        steps.append(seen)
    assert truncated.all()
    vector.close()
    for copy, action in enumerate((1, 0)):
        env = learn.gym_env(Talker, NETWORKS[engine], **more)
        single, over = [env.reset(seed=7 + copy)[0]], False
        while not over:
            seen, _, _, over, info = env.step(action)
            single.append(seen)
        assert np.array_equal(np.array(steps)[:, copy], single)
        assert infos["digest"][copy] == info["digest"]
        env.close()
    assert infos["digest"][0] != infos["digest"][1]


@pytest.mark.parametrize("engine", SIMULATORS)
def test_a_killed_simulator_ends_the_episode_with_the_reason_and_leaves_no_process(engine):
    before = {process.pid for process in psutil.Process().children(recursive=True)}
    env = parallel(engine)
    env.reset(seed=1)
    for process in psutil.Process().children(recursive=True):
        if process.pid not in before:
            os.kill(process.pid, signal.SIGKILL)
    with pytest.raises(RunError, match="killed by SIGKILL"):
        for _ in range(20):
            env.step(dict.fromkeys(env.agents, 1))
    env.close()
    assert {process.pid for process in psutil.Process().children(recursive=True)} <= before


@pytest.mark.parametrize("engine", SIMULATORS)
def test_closing_in_the_middle_leaves_no_process(engine):
    before = {process.pid for process in psutil.Process().children(recursive=True)}
    env = parallel(engine)
    env.reset(seed=1)
    env.step(dict.fromkeys(env.agents, 0))
    env.close()
    assert {process.pid for process in psutil.Process().children(recursive=True)} <= before


def children():
    return {process.pid for process in psutil.Process().children(recursive=True)}


def played_digest(env, seed):
    return played(env, seed)[-1][4]["node_0"]["digest"]


@pytest.mark.parametrize("engine", SIMULATORS)
def test_the_next_simulator_is_started_ahead_and_changes_no_digest(engine):
    before, fresh = children(), parallel(engine)
    wanted = [played_digest(fresh, seed) for seed in (8, 30, 10)]
    fresh.close()
    env = parallel(engine, seed=7)
    played(env, None)
    (ready,) = children() - before
    env.reset()
    assert ready in children(), "the second episode took it"
    assert played_digest(env, 8) == wanted[0]
    assert played_digest(env, 30) == wanted[1], "another seed than expected"
    played(env, 9)
    assert played_digest(env, None) == wanted[2]
    env.close()
    assert children() <= before


@pytest.mark.parametrize("engine", SIMULATORS)
def test_a_simulator_that_died_while_it_waited_for_its_episode_is_replaced(engine):
    before, env = children(), parallel(engine, seed=7)
    wanted = played_digest(env, 8)
    played(env, 7)
    played(env, None)
    (ready,) = children() - before
    os.kill(ready, signal.SIGKILL)
    assert played_digest(env, 8) == wanted
    env.close()
    assert children() <= before


@pytest.mark.parametrize("engine", SIMULATORS)
def test_an_environment_that_nobody_closes_leaves_no_process(engine):
    before, env = children(), parallel(engine)
    env.reset()
    assert len(children() - before) == 2
    del env
    gc.collect()
    assert children() <= before


def ended(pids):
    """Return True once these processes are gone; the kernel ends a simulator after the death of its member."""
    end = time.monotonic() + 20
    while time.monotonic() < end and any(psutil.pid_exists(pid) for pid in pids):
        time.sleep(0.05)
    return not any(psutil.pid_exists(pid) for pid in pids)


@pytest.mark.parametrize("engine", SIMULATORS)
def test_a_simulator_of_a_member_that_dies_is_reported_and_no_process_is_left(engine):
    vector = learn.vector_env(2, Talker, NETWORKS[engine], others=always, episode=SECOND, engine=engine)
    vector.reset()
    member = psutil.Process(vector.processes[1].pid)
    found = [process.pid for one in vector.processes for process in psutil.Process(one.pid).children(recursive=True)]
    for process in member.children(recursive=True):
        process.kill()
    with pytest.raises(RunError, match="killed by SIGKILL"):
        for _ in range(20):
            vector.step(np.array([1, 1]))
    vector.close()
    assert len(found) == 4 and ended([*found, *(one.pid for one in vector.processes)])


@pytest.mark.parametrize("engine", SIMULATORS)
def test_a_member_that_dies_takes_its_simulators_with_it(engine):
    vector = learn.vector_env(2, Talker, NETWORKS[engine], others=always, episode=SECOND, engine=engine)
    vector.reset()
    found = [process.pid for one in vector.processes for process in psutil.Process(one.pid).children(recursive=True)]
    vector.processes[1].kill()
    with pytest.raises((EOFError, ConnectionError)):
        for _ in range(20):
            vector.step(np.array([1, 1]))
    vector.close(terminate=True)
    assert len(found) == 4 and ended([*found, *(one.pid for one in vector.processes)])


def test_members_of_a_vector_environment_share_no_episode():
    vector = learn.vector_env(2, Talker, NETWORKS["inline"], seed=7, others=always, episode=SECOND)
    _, infos = vector.reset()
    seeds = set(enumerate(infos["seed"]))
    for _ in range(30):
        _, _, _, _, infos = vector.step(np.array([1, 1]))
        seeds |= {(copy, seed) for copy, seed in enumerate(infos["seed"])}
    vector.close()
    first, second = ({seed for copy, seed in seeds if copy == member} for member in (0, 1))
    assert {7, 9, 11} <= first and {8, 10, 12} <= second and not first & second


class Acting(Talker):
    def observe(self):
        self.send(cw.EVERYONE, "observed", 10)
        return super().observe()


class Blind(Talker):
    observation_space = None


class Hasty(Talker):
    decides_every = cw.us(5)


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: parallel(agent=Asker), "decide at different instants .* use causeway.learn.aec_env"),
        (lambda: parallel(agent=Keeper), "no node of this protocol is an agent; derive its class"),
        (lambda: parallel(agent=Acting).reset(), "acts in observe or reward"),
        (lambda: parallel(agent=Blind), "Blind has no observation_space; give it a space"),
        (lambda: parallel(agent=Hasty), "allowed: a time of at least the reaction time, 0.001 s"),
        (lambda: learn.gym_env(Talker, NETWORKS["inline"], episode=SECOND), "3 other nodes .* others=policy"),
        (lambda: learn.gym_env(kept, NETWORKS["inline"], episode=SECOND, others=always), "node 0 is no agent"),
        (lambda: parallel().step({}), "call reset"),
        (lambda: cw.run(Asker, NETWORKS["inline"], until=SECOND), "nobody learns or decides in this run; make it by"),
    ],
)  # fmt: skip
def test_mistakes_get_one_line_with_the_remedy(make, message):
    with pytest.raises((UserError, RunError), match=message):
        make()


def test_a_copy_of_an_environment_begins_with_the_first_episode_and_no_info_is_shared():
    env = parallel(seed=5)
    first = played(env, None)
    assert len({id(info) for info in first[-1][4].values()}) == NODES, "wrappers write into the info of one agent"
    copy = pickle.loads(pickle.dumps(env))
    assert repr(played(copy, None)) == repr(first)
    env.close(), copy.close()


def test_a_missing_action_is_named():
    env = parallel()
    env.reset(seed=1)
    with pytest.raises(UserError, match="the action of node_2 is missing"):
        env.step({"node_0": 1, "node_1": 1, "node_3": 0})
    env.close()


@pytest.mark.parametrize("engine", ENGINES)
def test_a_step_after_the_end_or_after_close_is_refused_and_earns_nothing(engine):
    alone = learn.gym_env(Talker, NETWORKS[engine], others=always, episode=SECOND, engine=engine)
    many, takers = parallel(engine), turns(engine)
    alone.reset(seed=1)
    while not alone.step(1)[3]:
        pass
    played(many, 1)
    takers.reset(seed=1)
    takers.close()
    for step in (lambda: alone.step(1), lambda: many.step({})):
        with pytest.raises(UserError, match=r"the episode is over; call reset\(\)"):
            step()
    with pytest.raises(UserError, match=r"the episode is over; call reset\(\)"):
        for _ in range(2 * NODES):
            takers.step(1)
    alone.reset(seed=1)
    alone.close()
    with pytest.raises(UserError, match=r"the episode is over; call reset\(\)"):
        alone.step(1)
    assert alone.reset(seed=1)[1]["seed"] == 1
    alone.close()
    many.close()
