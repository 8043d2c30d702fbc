"""Hosts learn when to send again what a station has not acknowledged, beside the rule of mobile20 and fixed times.

    pip install causeway-sim[learn] stable-baselines3 supersuit   # brings torch, too
    python learn_retry.py inline ns3 omnet    # train on the abstract network, evaluate there and on the radios

It writes learn_retry.zip (the policy, which it loads if it is there), .svg (the learning curve) and .csv (a row for
each run), and prints a table.
"""

import argparse
import math
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from gymnasium.spaces import Box, Discrete
from matplotlib.figure import Figure
from scipy.stats import t

import causeway as cw

HOSTS, PACKET_COSTS_S, UNSEEN = 10, 0.1, range(1001, 1011)
WAITS_S = (0.03, 0.06, 0.12, 0.25, 0.5, 1.0)


class Station(cw.Node):
    """Acknowledges what it gets."""

    def on_packet(self, content: tuple[int, float], sender: int, interface: int) -> None:
        self.send(sender, content, 20)


class Host(cw.learn.Agent):
    """Sends each message to station 0 until it is acknowledged, and decides how long to wait in between."""

    observation_space = Box(-8.0, 8.0, (4,), np.float32)
    action_space = Discrete(len(WAITS_S))
    decides_every = cw.ms(200)

    def __init__(self, rule: str = "learned") -> None:
        self.rule, self.wait_s = rule, 1.0
        self.pending: dict[int, tuple[float, float]] = {}  # when it came, and up to when its waiting is accounted for
        self.waited_s, self.messages, self.packets = 0.0, 0, 0
        self.round_trip_s, self.deviation_s, self.unanswered = 0.5, 0.25, 0.0

    def on_broadcast(self, number: int, size_bytes: int) -> None:
        self.messages += 1
        self.pending[number] = (self.now, self.now)
        self.transmit(number)

    def transmit(self, number: int) -> None:
        if self.rule == "mobile20":  # 1 s if nothing is pending, 0.2 s for 150 messages
            self.wait_s = 1 - 0.8 * min(len(self.pending) / 150, 1)
        self.packets += 1
        self.earn(-PACKET_COSTS_S)
        self.send(0, (number, self.now), 1400)
        self.set_timer(number, cw.us(round(1e6 * self.wait_s * self.rng.uniform(0.75, 1.25))))

    def on_timer(self, number: Any) -> None:
        self.unanswered += 0.1 * (1 - self.unanswered)
        self.transmit(number)

    def on_packet(self, content: tuple[int, float], sender: int, interface: int) -> None:
        number, sent_s = content  # an acknowledgement says which copy it is for
        error_s = self.now - sent_s - self.round_trip_s
        self.round_trip_s += error_s / 8
        self.deviation_s += (abs(error_s) - self.deviation_s) / 4
        if number in self.pending:
            self.account(number)
            del self.pending[number]
            self.cancel_timer(number)
            self.unanswered *= 0.9

    def account(self, number: int) -> None:
        came_s, until_s = self.pending[number]
        self.pending[number] = (came_s, self.now)
        self.waited_s += self.now - until_s
        self.earn(until_s - self.now)

    def observe(self) -> Any:
        seen = (math.log(self.round_trip_s), math.log(self.deviation_s + 1e-3), self.unanswered, len(self.pending) / 4)
        return np.clip(np.array(seen, np.float32), -8, 8)

    def act(self, action: int) -> None:
        if self.rule != "mobile20":
            self.wait_s = WAITS_S[action]

    def reward(self) -> float:
        """Return minus the seconds that messages waited since the last decision, and minus the price of packets."""
        for number in self.pending:
            self.account(number)
        return super().reward()


def node(id_: int, rule: str = "learned") -> cw.Node:
    return Host(rule) if id_ else Station()


def abstract(seed: int) -> cw.AbstractNetwork:
    """Delays of 5 to 150 ms, and 0 to 40 % of all copies are lost; the station takes 6 ms for a packet."""
    rng = np.random.default_rng(seed)
    mean_ms = 5 * 30 ** rng.random()
    delay = cw.uniform_delay(0.7 * mean_ms, 1.3 * mean_ms)
    return cw.AbstractNetwork(1 + HOSTS, delay=delay, loss=rng.uniform(0, 0.4), recv_ps=cw.ms(6))


def environment(engine: str, rule: str = "learned") -> Any:
    """Return ten hosts that get four messages a second each, for five seconds."""
    network = abstract if engine == "inline" else cw.MobileNetwork.hexagons(cells=1, hosts=HOSTS)
    load = cw.Workload(first_node=1, rate=40.0)
    make = partial(node, rule=rule)
    return cw.learn.parallel_env(make, network, broadcasts=load, episode=cw.seconds(5), engine=engine)


def train(updates: int) -> Any:
    """Return the policy that all hosts share, and draw what its decisions earned while it learned."""
    import supersuit
    from stable_baselines3 import PPO
    from stable_baselines3.common.utils import set_random_seed

    set_random_seed(1)
    agents = supersuit.pettingzoo_env_to_vec_env_v1(environment("inline"))
    agents = supersuit.concat_vec_envs_v1(agents, 1, base_class="stable_baselines3")
    model = PPO("MlpPolicy", agents, n_steps=250, batch_size=500, gamma=0.9, ent_coef=0.01, device="cpu")
    rewards = {}
    for _ in range(updates):
        model.learn(250 * HOSTS, reset_num_timesteps=False)
        rewards[model.num_timesteps] = float(model.rollout_buffer.rewards.mean())
    figure = Figure((6, 3), layout="constrained")
    pd.Series(rewards).plot(ax=figure.subplots(), xlabel="decisions", ylabel="mean reward of a decision")
    figure.savefig("learn_retry.svg")
    return model


def evaluate(engine: str, rule: str, choose: Any) -> list[dict[str, Any]]:
    """Return a row for each unseen seed: the seconds that a message waits, the packets that it takes, and the cost."""
    env, rows = environment(engine, rule), []
    for seed in UNSEEN:
        seen, _ = env.reset(seed=seed)
        while env.agents:
            actions = choose(np.stack([seen[name] for name in env.agents]))
            seen, *_ = env.step(dict(zip(env.agents, actions, strict=True)))
        hosts = [one for one in env.result().nodes if isinstance(one, Host)]
        totals = np.array([(one.waited_s, one.packets, one.messages) for one in hosts]).sum(0)
        waited_s, packets = totals[:2] / totals[2]
        found = {"waited_s": waited_s, "packets": packets, "cost": waited_s + PACKET_COSTS_S * packets}
        rows.append({"network": engine, "rule": rule, "seed": seed, **found})
    env.close()
    return rows


def compared(runs: pd.DataFrame) -> pd.DataFrame:
    """Return means, and by how much the learned policy costs more than each rule, seed by seed (95 % intervals)."""
    costs = runs.pivot(index=["network", "seed"], columns="rule", values="cost")
    more = (-costs.sub(costs["learned"], axis=0)).melt(ignore_index=False).groupby(["network", "rule"])["value"]
    means = runs.groupby(["network", "rule"], sort=False)[["waited_s", "packets", "cost"]].mean()
    half = t.ppf(0.975, len(UNSEEN) - 1) * more.std() / math.sqrt(len(UNSEEN))
    return means.assign(learned_more=more.mean(), interval=half).round(3)


if __name__ == "__main__":
    from stable_baselines3 import PPO

    options = argparse.ArgumentParser()
    options.add_argument("engines", nargs="*", default=["inline"])
    options.add_argument("--updates", type=int, default=30, help="of the policy, in its training")
    options.add_argument("--seeds", type=int, default=len(UNSEEN), help="of the evaluation")
    wanted = options.parse_args()
    UNSEEN = UNSEEN[: wanted.seeds]
    if not Path("learn_retry.zip").exists():
        train(wanted.updates).save("learn_retry")
    policy = PPO.load("learn_retry", device="cpu")
    rules: dict[str, Any] = {"learned": lambda seen: policy.predict(seen, deterministic=True)[0]}
    rules["mobile20"] = lambda seen: [0] * HOSTS
    for number, wait_s in enumerate(WAITS_S):
        rules[f"{wait_s} s"] = lambda seen, number=number: [number] * HOSTS
    found = [evaluate(engine, *rule) for engine in wanted.engines for rule in rules.items()]
    table = pd.DataFrame([row for rows in found for row in rows]).round(6)
    table.to_csv("learn_retry.csv", index=False)
    print(compared(table).to_string())
