"""Steps of learning environments beside a bare ZeroMQ echo of a few bytes, the least that a step over a socket costs.

Rounds of steps and of the echo take turns, and the quickest round of each counts. The shares of processor time, of all
processes together, are also valid on a busy machine. One agent decides every 10 ms on a network without traffic: a step
is all that an environment costs besides the network. Seventy agents decide in one step.
"""

from __future__ import annotations

import time
from typing import Any

import psutil
from gymnasium.spaces import Discrete

from bench.bench_bridge import BareEcho, _seconds
from causeway import AbstractNetwork, MobileNetwork, learn, ms, seconds
from causeway.bridge import engines

ROUNDS, STEPS = 15, 100
COMPARED = {f"one agent on {name}, share of its processor time": "higher" for name in ("inline", "ns3")}


class Idle(learn.Agent):
    """Decides every 10 ms, and does nothing."""

    observation_space = action_space = Discrete(2)
    decides_every = ms(10)

    def observe(self) -> int:
        return 0

    def act(self, action: int) -> None:
        pass


def run() -> dict[str, object]:
    """The figures."""
    found: dict[str, object] = {}
    networks: dict[str, Any] = {
        "inline": AbstractNetwork,
        "ns3": lambda hosts: MobileNetwork(hosts=hosts, area_mm=AREA),
    }
    for name, network in networks.items():
        if engines.get(name).missing() is None:
            for agents in (1, 70):
                found |= _steps(name, agents, network(agents))
    return found


AREA = (0, 0, 100_000, 100_000)


def _steps(engine: str, agents: int, network: Any) -> dict[str, object]:
    env = learn.parallel_env(Idle, network, episode=seconds(60), engine=engine, observers=lambda _: [])
    steps_s, echo_s, steps_cpu_s, echo_cpu_s = [], [], 0.0, 0.0
    try:
        with BareEcho(b"x" * 30, 30) as echo:
            env.reset(seed=1)
            actions = dict.fromkeys(env.agents, 0)
            for _ in range(ROUNDS):
                began = _processor_s()
                steps_s.append(_seconds(lambda: [env.step(actions) for _ in range(STEPS)]) / STEPS)
                between = _processor_s()
                echo_s.append(_seconds(lambda: echo.bounce(10 * STEPS)) / (10 * STEPS))
                steps_cpu_s += (between - began) / STEPS
                echo_cpu_s += (_processor_s() - between) / (10 * STEPS)
    finally:
        env.close()
    who = "one agent" if agents == 1 else f"{agents} agents"
    return {
        f"{who} on {engine}, steps/s": 1 / min(steps_s),
        f"{who} on {engine}, share of bare echo": min(echo_s) / min(steps_s),
        f"{who} on {engine}, share of its processor time": echo_cpu_s / steps_cpu_s,
    }


def _processor_s() -> float:
    """Return the processor time of this process and its children: a simulator and the echo."""
    times = [process.cpu_times() for process in psutil.Process().children(recursive=True)]
    return time.process_time() + sum(one.user + one.system for one in times)
