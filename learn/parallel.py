"""`parallel_env`: a PettingZoo environment in which all agents decide at the same instants."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Unpack

from pettingzoo import ParallelEnv

from causeway.errors import UserError
from causeway.learn.environment import Environment
from causeway.learn.episode import Episodes, episodes
from causeway.learn.lives import Lives
from causeway.network.networks import Network
from causeway.studies.protocol_study import MakeNetwork
from causeway.studies.run_request import AnyProtocol, AnyStudy, Setting, takes_setting


class Parallel(Environment, ParallelEnv[str, Any, Any]):
    """A PettingZoo ParallelEnv over a run. Make one with `parallel_env`.

    An action is ignored if its agent does not ask for a decision in that step.
    """

    def __init__(self, episodes: Episodes, render_to: str | Path | None) -> None:
        super().__init__(episodes, render_to)
        periods = {type(agent): agent.decides_every for agent in episodes.agents.values()}
        if None in periods.values() or len(set(periods.values())) > 1:
            self.close()
            kinds = ", ".join(f"{kind.__name__}: {period}" for kind, period in periods.items())
            raise UserError(
                f"these agents decide at different instants (decides_every of {kinds}); use causeway.learn.aec_env"
            )

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin an episode. Equal seeds give equal episodes. The default seed is the previous one plus 1."""
        episode = self._episodes.begin(seed)
        self._lives = Lives(episode.agents)
        self._lives.follow(episode.decisions.went, episode.decisions.asked)
        self.agents = list(self._lives.names.values())
        seen = {name: episode.decisions.views[node][0] for node, name in self._lives.names.items()}
        info = episode.info
        return seen, {name: dict(info) for name in self.agents}

    def step(
        self, actions: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """Carry out the actions of the agents, and continue to the next decision.

        Returns:
            Observations, rewards since the last decision, terminations (the node went down), truncations (the episode
            is over) and infos (`time_s`), by the names of the agents.
        """
        episode = self.episode
        asked, names = episode.decisions.asked, self._lives.names
        if missing := [names[node] for node in asked if names[node] not in actions]:
            raise UserError(f"the action of {missing[0]} is missing; each agent gives one")
        episode.go_on({node: actions[names[node]] for node in asked})
        decisions = episode.decisions
        left = self._lives.follow(decisions.went, decisions.asked)
        there = {**left, **{name: node for node, name in self._lives.names.items()}}
        views, info, over = decisions.views, episode.info, decisions.over
        self.agents = [] if over else list(self._lives.names.values())
        return (
            {name: views[node][0] for name, node in there.items()},
            {name: views[node][1] for name, node in there.items()},
            {name: name in left for name in there},
            {name: over and name not in left for name in there},
            {name: dict(info) for name in there},
        )


@takes_setting
def parallel_env(
    protocol: AnyStudy | AnyProtocol,
    network: Network | MakeNetwork | None = None,
    *,
    episode: int | None = None,
    seed: int = 1,
    params: Mapping[str, Any] | None = None,
    render_to: str | Path | None = None,
    **setting: Unpack[Setting],
) -> Parallel:
    """Return a PettingZoo ParallelEnv of a protocol's agents.

    Args:
        protocol: A class of agents, a function id -> node (some of which are agents), or a study.
        network: The network; a study has its own.
        episode: The length of an episode, as in `seconds(20)`. A study needs none: its runs end by themselves.
        seed: The seed of the first episode that is begun without one.
        params: The parameters of a study, or arguments of the class of agents and of the function `network`.
        render_to: The HTML file to which `render` writes the animation of an episode.
        setting: Further arguments, as in `run`: broadcasts, reaction, observers, engine. `reaction` is the time from
            an observation to the effect of the action that follows it; 1 ms by default.
    """
    return Parallel(episodes(protocol, network, episode, params, seed, setting), render_to)
