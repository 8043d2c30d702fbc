"""Hosts of a user's own INET project as agents."""

from __future__ import annotations

import psutil
import pytest

import causeway as cw
from tests.helpers.inet_projects import PROJECTS
from tests.helpers.learners import Talker, always

pytest.importorskip("gymnasium")
pytest.importorskip("pettingzoo")

from pettingzoo.test import parallel_api_test

from causeway import learn

pytestmark = pytest.mark.omnet
SECOND = cw.seconds(1)


@pytest.fixture
def network(tmp_path):
    """A network whose nodes INET counts."""
    ini = PROJECTS["access_point"].write(tmp_path)
    return cw.InetNetwork(ini=str(ini), config="Python")


def total(env, seed, action):
    env.reset(seed=seed)
    earned = 0.0
    while env.agents:
        *_, infos = step = env.step(dict.fromkeys(env.agents, action))
        earned += sum(step[1].values())
    return earned, infos["node_0"]["digest"]


def test_hosts_of_the_project_decide_and_equal_seeds_play_equal_episodes(network):
    before = {process.pid for process in psutil.Process().children(recursive=True)}
    env = learn.parallel_env(Talker, network, episode=SECOND)
    assert len(env.possible_agents) == PROJECTS["access_point"].nodes
    talking, silent, again = total(env, 3, 1), total(env, 3, 0), total(env, 3, 1)
    assert talking[0] > 0 == silent[0] and talking == again
    assert len(env.result().frame("nodes")) == PROJECTS["access_point"].nodes
    parallel_api_test(env, 20)
    env.close()
    assert {process.pid for process in psutil.Process().children(recursive=True)} <= before


def test_one_host_of_the_project_is_the_agent_of_a_gymnasium_environment(network):
    env = learn.gym_env(Talker, network, agent=2, others=always, episode=SECOND)
    seen, _ = env.reset(seed=1)
    truncated, earned = False, 0.0
    while not truncated:
        seen, reward, _, truncated, _ = env.step(1)
        earned += reward
    assert earned > 0 and seen[1] > 0
    env.close()


def test_a_host_that_the_project_stops_is_terminated_and_comes_back_as_a_new_agent(tmp_path):
    ini = PROJECTS["aodv"].write(tmp_path)
    (tmp_path / "stop.xml").write_text(
        '<script><at t="0.35"><initiate module="host[1]" operation="shutdown"/></at>'
        '<at t="0.65"><initiate module="host[1]" operation="startup"/></at></script>'
    )
    with ini.open("a") as file:
        file.write('**.hasStatus = true\n*.scenarioManager.script = xmldoc("stop.xml")\n')
    env = learn.parallel_env(Talker, cw.InetNetwork(ini=str(ini), config="Python"), episode=SECOND)
    env.reset(seed=1)
    ended, there = [], []
    while env.agents:
        _, _, terminated, _, infos = env.step(dict.fromkeys(env.agents, 1))
        ended += [(name, infos[name]["time_s"]) for name in terminated if terminated[name]]
        there += [infos[name]["time_s"] for name in env.agents if name == "node_1.2"]
    env.close()
    assert ended == [("node_1", pytest.approx(0.4, abs=0.11))]
    assert there and there[0] >= 0.65
