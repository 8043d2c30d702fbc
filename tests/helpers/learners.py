"""Agents for the tests of learning environments, importable by other processes."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.spaces import Box, Discrete

import causeway as cw
from causeway.learn import Agent

NODES = 4


class Talker(Agent):
    """Sends to everyone or not, and earns 1 for each packet that it hears."""

    observation_space = Box(0, 100_000, (2,), np.float64)
    action_space = Discrete(2)
    decides_every = cw.ms(100)

    def __init__(self) -> None:
        self.heard: list[float] = []
        self.sent: list[float] = []

    def observe(self) -> Any:
        return np.array([len(self.heard), len(self.sent)], float)

    def act(self, action: int) -> None:
        if action:
            self.sent.append(self.now)
            self.send(cw.EVERYONE, "hello", 100)

    def on_packet(self, content: str, sender: int, interface: int) -> None:
        self.heard.append(self.now)
        self.earn(1)


class Asker(Talker):
    """Asks when it hears something, in addition to node 0, which begins."""

    decides_every = None

    def on_start(self) -> None:
        self.after(cw.ms(50 + 10 * self.id), self.ask)

    def on_packet(self, content: str, sender: int, interface: int) -> None:
        super().on_packet(content, sender, interface)
        if sender == (self.id + 1) % self.node_count and len(self.heard) < 40:
            self.ask()


class Insistent(Asker):
    """Asks again in its decisions, so that the next one is at the next instant with events."""

    def act(self, action: int) -> None:
        super().act(action)
        if len(self.sent) < 20:
            self.ask()


class Keeper(cw.Node):
    """Lets node 1 fail after 250 ms and recover after 520 ms."""

    def on_start(self) -> None:
        self.after(cw.ms(250), self.crash, 1)
        self.after(cw.ms(520), self.recover, 1)


def kept(id_: int) -> cw.Node:
    return Keeper() if id_ == 0 else Talker()


def always(observation: Any) -> int:
    return 1
