"""Environments for reinforcement learning over every engine: Gymnasium, and PettingZoo for many agents. Start here.

    class Retry(cw.learn.Agent):
        observation_space, action_space = Box(0, 1, (2,)), Discrete(4)
        decides_every = cw.ms(100)
        ...
    env = cw.learn.parallel_env(Retry, cw.AbstractNetwork(10), episode=cw.seconds(20), engine="ns3")

An agent is a node of a protocol (`agent.py`). A run pauses at each instant at which agents decide (`decisions.py`), and
continues when their actions are known (`episode.py`). The environments of the libraries use these runs: `parallel.py`
(all agents decide together), `turns.py` (each at its own instants), `single.py` (one agent, or many copies of it).
The libraries come with `pip install causeway-sim[learn]`; nothing else of Causeway imports them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from causeway.learn.agent import Agent

if TYPE_CHECKING:
    from causeway.learn.parallel import parallel_env
    from causeway.learn.single import gym_env, vector_env
    from causeway.learn.turns import aec_env

_PLACES = {"parallel_env": "parallel", "aec_env": "turns", "gym_env": "single", "vector_env": "single"}
__all__ = ["Agent", "aec_env", "gym_env", "parallel_env", "vector_env"]


def __getattr__(name: str) -> Any:
    """Import a function that needs gymnasium or pettingzoo when it is first used."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    from causeway.errors import UserError

    try:
        return getattr(import_module(f"causeway.learn.{_PLACES[name]}"), name)
    except ModuleNotFoundError as error:
        if error.name not in ("gymnasium", "pettingzoo"):
            raise
        raise UserError(f"causeway.learn needs {error.name}: pip install gymnasium pettingzoo") from None
