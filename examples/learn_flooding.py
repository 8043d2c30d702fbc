"""Hosts learn together which of them forward a message, beside forwarding with a fixed probability.

    pip install causeway-sim[learn] stable-baselines3   # brings torch, too
    python learn_flooding.py inline ns3 omnet           # train on the abstract network, evaluate there and on radios

It writes learn_flooding.zip (the policy, which it loads if it is there), .svg (the learning curve) and .csv (a row for
each run), and prints a table.
"""

import argparse
import math
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pandas as pd
from gymnasium.spaces import Box, Discrete
from matplotlib.figure import Figure
from scipy.stats import t

import causeway as cw

HOSTS, RANGE_MM, END, PACKET_COSTS, UNSEEN = 40, 120_000, cw.seconds(6), 0.25, range(1001, 1011)


class Host(cw.learn.Agent):
    """Decides once for each message, some time after its first copy, if it forwards it to its neighbours."""

    observation_space = Box(0.0, 10.0, (2,), np.float32)
    action_space = Discrete(2)

    def __init__(self) -> None:
        self.neighbours: set[int] = set()
        self.copies: dict[int, int] = {}
        self.started = self.covered = self.packets = self.undecided = 0

    def on_start(self) -> None:
        self.after(self.rng.randrange(cw.ms(900)), self.greet)

    def greet(self) -> None:
        self.send(cw.EVERYONE, None, 20)

    def on_broadcast(self, number: int, size_bytes: int) -> None:
        self.started += 1
        self.copies[number] = 0
        self.send(cw.EVERYONE, number, 500)

    def on_packet(self, number: int | None, sender: int, interface: int) -> None:
        self.neighbours.add(sender)
        if number is None:
            return
        if number not in self.copies:
            self.covered += 1
            self.copies[number] = 0
            self.after(self.rng.randrange(cw.ms(30)), self.decide, number)
        self.copies[number] += 1

    def decide(self, number: int) -> None:
        self.undecided = number
        self.ask()

    def observe(self) -> Any:
        seen = len(self.neighbours) / 4, self.copies.get(self.undecided, 0)
        return np.clip(np.array(seen, np.float32), 0, 10)

    def act(self, action: int) -> None:
        if action:
            self.packets += 1
            self.send(cw.EVERYONE, self.undecided, 500)


def places_mm(seed: int) -> list[tuple[int, int]]:
    """Return places in a square of 400 m, denser towards one corner."""
    shares = np.random.default_rng(seed).random((HOSTS, 2)) ** 1.5
    return [(round(x), round(y)) for x, y in 400_000 * shares]


def abstract(seed: int) -> cw.AbstractNetwork:
    """Return a network in which one copy in ten is lost, and all copies to hosts out of range."""
    places = places_mm(seed)
    cuts = []
    for host, place in enumerate(places):
        if far := tuple(other for other in range(host) if math.dist(place, places[other]) > RANGE_MM):
            cuts.append(cw.Partition((host,), far, 0, END))
    return cw.AbstractNetwork(HOSTS, delay=cw.uniform_delay(1, 4), loss=0.1, network_faults=tuple(cuts))


def radio(seed: int) -> cw.MobileNetwork:
    """Return the same hosts on a radio channel, on which packets collide."""
    return cw.MobileNetwork(hosts=HOSTS, host_xy_mm=tuple(places_mm(seed)), cell_radius_mm=RANGE_MM)


class Team(gymnasium.Env[Any, Any]):
    """One policy for all hosts: each step is the decision of one of them, and earns what happens until the next."""

    observation_space, action_space = Host.observation_space, Host.action_space

    def __init__(self, engine: str = "inline") -> None:
        load = cw.Workload(segments=(cw.Segment(cw.seconds(1), 3.0),))
        network = abstract if engine == "inline" else radio
        self.turns = cw.learn.aec_env(Host, network, broadcasts=load, episode=END, engine=engine)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        self.turns.reset(seed=seed)
        self.score = self.scored()
        return self.turns.observe(self.turns.agent_selection), {}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.turns.step(action)
        before, self.score = self.score, self.scored()
        name = self.turns.agent_selection
        return self.turns.observe(name), self.score - before, False, self.turns.truncations[name], {}

    def scored(self) -> float:
        """Return how many hosts heard of messages, less the price of the packets."""
        return sum(host.covered - PACKET_COSTS * host.packets for host in self.hosts())

    def hosts(self) -> list[Host]:
        return [host for host in self.turns.episode.nodes if isinstance(host, Host)]


def train(updates: int) -> Any:
    """Return the policy of all hosts, and draw what its decisions earned while it learned."""
    from stable_baselines3 import PPO
    from stable_baselines3.common.env_util import make_vec_env

    teams = make_vec_env(Team, 4, seed=1)
    model = PPO("MlpPolicy", teams, n_steps=256, batch_size=256, gamma=0.95, ent_coef=0.01, seed=1, device="cpu")
    rewards = {}
    for _ in range(updates):
        model.learn(1024, reset_num_timesteps=False)
        rewards[model.num_timesteps] = float(model.rollout_buffer.rewards.mean())
    figure = Figure((6, 3), layout="constrained")
    pd.Series(rewards).plot(ax=figure.subplots(), xlabel="decisions", ylabel="mean reward of a decision")
    figure.savefig("learn_flooding.svg")
    return model


def evaluate(engine: str, rule: str, choose: Any) -> list[dict[str, Any]]:
    """Return a row for each unseen seed: the hosts that a message reaches, the packets that forward it, the score."""
    team, rows = Team(engine), []
    for seed in UNSEEN:
        (seen, _), over = team.reset(seed=seed), False
        chances = np.random.default_rng(seed)
        while not over:
            seen, _, _, over, _ = team.step(int(choose(seen, chances)))
        totals = np.array([(host.covered, host.packets, host.started) for host in team.hosts()]).sum(0)
        covered, packets = totals[:2] / totals[2]
        found = {"covered": covered, "packets": packets, "score": covered - PACKET_COSTS * packets}
        rows.append({"network": engine, "rule": rule, "seed": seed, **found})
    team.turns.close()
    return rows


def compared(runs: pd.DataFrame) -> pd.DataFrame:
    """Return means, and by how much the learned policy scores more than each rule, seed by seed (95 % intervals)."""
    scores = runs.pivot(index=["network", "seed"], columns="rule", values="score")
    more = (-scores.sub(scores["learned"], axis=0)).melt(ignore_index=False).groupby(["network", "rule"])["value"]
    means = runs.groupby(["network", "rule"], sort=False)[["covered", "packets", "score"]].mean()
    half = t.ppf(0.975, len(UNSEEN) - 1) * more.std() / math.sqrt(len(UNSEEN))
    return means.assign(learned_more=more.mean(), interval=half).round(2)


if __name__ == "__main__":
    from stable_baselines3 import PPO

    options = argparse.ArgumentParser()
    options.add_argument("engines", nargs="*", default=["inline"])
    options.add_argument("--updates", type=int, default=32, help="of the policy, in its training")
    options.add_argument("--seeds", type=int, default=len(UNSEEN), help="of the evaluation")
    wanted = options.parse_args()
    UNSEEN = UNSEEN[: wanted.seeds]
    if not Path("learn_flooding.zip").exists():
        train(wanted.updates).save("learn_flooding")
    policy = PPO.load("learn_flooding", device="cpu")
    rules: dict[str, Any] = {"learned": lambda seen, chances: policy.predict(seen, deterministic=True)[0]}
    for p in (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1.0):
        rules[f"p = {p}"] = lambda seen, chances, p=p: chances.random() < p
    for most in (2, 3, 4):
        rules[f"fewer than {most} copies"] = lambda seen, chances, most=most: seen[1] < most
    found = [evaluate(engine, *rule) for engine in wanted.engines for rule in rules.items()]
    table = pd.DataFrame([row for rows in found for row in rows]).round(6)
    table.to_csv("learn_flooding.csv", index=False)
    print(compared(table).to_string())
