"""`gym_env`: a Gymnasium environment of one agent. `vector_env`: many of them, each in a process of its own."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import gymnasium

from causeway.errors import UserError
from causeway.learn.lives import name_of
from causeway.learn.parallel import Parallel, parallel_env
from causeway.pycontrol.node import Node
from causeway.studies.run_result import Run

Policy = Callable[[Any], Any]
"""A function from an observation to an action."""


class Single(gymnasium.Env[Any, Any]):
    """A Gymnasium Env over one agent of a run. Make one with `gym_env`.

    The episode terminates when the agent's node goes down.
    """

    metadata = {"render_modes": ["html"]}  # noqa: RUF012

    def __init__(self, env: Parallel, agent: int, others: Policy | None) -> None:
        self._env, self._name = env, name_of(agent, 1)
        if self._name not in env.possible_agents:
            env.close()
            raise UserError(f"agent is {agent}, and node {agent} is no agent; agents: {', '.join(env.possible_agents)}")
        if others is None and len(env.possible_agents) > 1:
            env.close()
            raise UserError(
                f"{len(env.possible_agents) - 1} other nodes are agents too; say what they do: others=policy, a "
                "function from an observation to an action"
            )
        self._others = others
        self.render_mode = env.render_mode
        self.observation_space = env.observation_space(self._name)
        self.action_space = env.action_space(self._name)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode. Equal seeds give equal episodes. The default seed is the previous one plus 1."""
        super().reset(seed=seed)
        self._seen, infos = self._env.reset(seed)
        return self._seen[self._name], infos[self._name]

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Carry out the agent's action and those that `others` chooses, and continue to the next decision."""
        actions = {name: action if name == self._name else self._choose(name) for name in self._env.agents}
        self._seen, rewards, terminated, truncated, infos = self._env.step(actions)
        name = self._name
        return self._seen[name], rewards[name], terminated[name], truncated[name], infos[name]

    def render(self) -> Any:
        """Write an animation of the episode that has ended, and return the file's path."""
        return self._env.render()

    def result(self) -> Run[Node]:
        """Return the results of the episode that has ended."""
        return self._env.result()

    def close(self) -> None:
        """End the episode; no process of the simulator is left."""
        self._env.close()

    def _choose(self, name: str) -> Any:
        assert self._others is not None
        return self._others(self._seen[name])


def gym_env(protocol: Any, network: Any = None, *, agent: int = 0, others: Policy | None = None, **more: Any) -> Single:
    """Return a Gymnasium Env of one agent.

    Args:
        protocol: As in `parallel_env`.
        network: As in `parallel_env`.
        agent: The id of the agent's node.
        others: The policy of the other agents: a function from an observation to an action.
        more: Further arguments of `parallel_env`.
    """
    return Single(parallel_env(protocol, network, **more), agent, others)


def vector_env(copies: int, protocol: Any, network: Any = None, *, seed: int = 1, **more: Any) -> Any:
    """Return a Gymnasium VectorEnv of copies of `gym_env`, each in a process of its own.

    Args:
        copies: The number of environments. Their episodes have the seeds from `seed` on: no two have the same one.
        protocol: As in `parallel_env`.
        network: As in `parallel_env`.
        seed: The seed of the first copy's first episode.
        more: Further arguments of `gym_env`.
    """
    make = [partial(_member, copies, protocol, network, seed=seed + copy, **more) for copy in range(copies)]
    return gymnasium.vector.AsyncVectorEnv(make, context="spawn")


def _member(copies: int, protocol: Any, network: Any, **more: Any) -> Single:
    """Return one of the copies. Its next seeds leave out those of the others."""
    env = gym_env(protocol, network, **more)
    env._env._episodes.seed_step = copies
    return env
