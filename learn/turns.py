"""`aec_env`: a PettingZoo environment in which each agent decides at instants of its own, one after the other."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Unpack

from pettingzoo import AECEnv

from causeway.learn.environment import Environment
from causeway.learn.episode import Episode, episodes
from causeway.learn.lives import Lives, node_of
from causeway.network.networks import Network
from causeway.studies.protocol_study import MakeNetwork
from causeway.studies.run_request import AnyProtocol, AnyStudy, Setting, takes_setting


class Turns(Environment, AECEnv[str, Any, Any]):
    """A PettingZoo AECEnv over a run. Make one with `aec_env`.

    Agents that decide at one instant take turns in the order of their ids; all of them see the state before any of
    these decisions.
    """

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin an episode. Equal seeds give equal episodes. The default seed is the previous one plus 1."""
        episode = self._episodes.begin(seed)
        self._lives = Lives(episode.agents)
        self.agents = list(self._lives.names.values())
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {name: {} for name in self.agents}
        self._seen: dict[str, Any] = {}
        self._chosen: dict[int, Any] = {}
        self._take(episode)

    def observe(self, agent: str) -> Any:
        """Return an agent's observation at the last instant at which it asked for a decision."""
        if agent not in self._seen:  # it has not asked yet
            self._seen[agent] = self._episodes.agents[node_of(agent)].observe()
        return self._seen[agent]

    def step(self, action: Any) -> None:
        """Take the action of the selected agent (`agent_selection`)."""
        name = self.agent_selection
        if self.terminations[name] or self.truncations[name]:
            self._was_dead_step(action)
            if self.agents and self.agent_selection not in self._gone():
                self._select()
            return
        self._cumulative_rewards[name] = 0.0
        self._clear_rewards()
        self._chosen[node_of(name)] = action
        self._turns.pop(0)
        if not self._turns:
            self.episode.go_on(self._chosen)
            self._chosen = {}
            self._take(self.episode)
            self._accumulate_rewards()
        self._select()

    def _take(self, episode: Episode) -> None:
        """Store the observations and rewards of a pause."""
        decisions = episode.decisions
        left = self._lives.follow(decisions.went, decisions.asked)
        for name in self._lives.names.values():
            if name not in self.agents:
                self.agents.append(name)
                self.rewards[name] = self._cumulative_rewards[name] = 0.0
                self.terminations[name] = self.truncations[name] = False
                self.infos[name] = {}
        for name, node in [*left.items(), *((name, node) for node, name in self._lives.names.items())]:
            if node in decisions.views:
                self._seen[name], self.rewards[name] = decisions.views[node]
            self.terminations[name] = name in left
            self.truncations[name] = decisions.over and name not in left
            self.infos[name] = dict(episode.info)
        self._turns = [self._lives.names[node] for node in decisions.asked]
        self._select()

    def _gone(self) -> list[str]:
        return [name for name in self.agents if self.terminations[name] or self.truncations[name]]

    def _select(self) -> None:
        """Select the next agent: first those that have left, then those that ask for a decision."""
        order = [*self._gone(), *self._turns]
        if order:
            self.agent_selection = order[0]


@takes_setting
def aec_env(
    protocol: AnyStudy | AnyProtocol,
    network: Network | MakeNetwork | None = None,
    *,
    episode: int | None = None,
    seed: int = 1,
    params: Mapping[str, Any] | None = None,
    render_to: str | Path | None = None,
    **setting: Unpack[Setting],
) -> Turns:
    """Return a PettingZoo AECEnv of a protocol's agents, which may decide at different instants.

    The arguments are those of `parallel_env`.
    """
    return Turns(episodes(protocol, network, episode, params, seed, setting), render_to)
