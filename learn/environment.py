"""The base class of the two PettingZoo environments: spaces, results, rendering and the end of an episode."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from causeway.errors import UserError
from causeway.learn.episode import Episode, Episodes
from causeway.learn.lives import Lives, node_of
from causeway.pycontrol.node import Node
from causeway.studies.run_result import Run


class Environment:
    """The part of an environment that is independent of the order in which agents decide."""

    metadata = {"render_modes": ["html"], "name": "causeway"}  # noqa: RUF012

    def __init__(self, episodes: Episodes, render_to: str | Path | None) -> None:
        self._episodes = episodes
        self._render_to = render_to
        self.render_mode = None if render_to is None else "html"
        self.possible_agents = list(Lives(episodes.agents).names.values())
        self.agents: list[str] = []

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the class and its arguments, for pickle. A copy begins with the first episode."""
        return type(self), (self._episodes, self._render_to)

    def observation_space(self, agent: str) -> Any:
        """Return the space of an agent's observations."""
        return self._episodes.spaces[node_of(agent)][0]

    def action_space(self, agent: str) -> Any:
        """Return the space of an agent's actions."""
        return self._episodes.spaces[node_of(agent)][1]

    def render(self) -> Any:
        """Write an animation of the episode that has ended to the file `render_to`, and return its path."""
        if self._render_to is None:
            raise UserError("render needs a file; make the environment with render_to='episode.html'")
        self.result().animate(self._render_to)
        return str(self._render_to)

    def result(self) -> Run[Node]:
        """Return the results of the episode that has ended: scalars, tables, nodes, explanations."""
        return self.episode.result()

    def close(self) -> None:
        """End the episode; no process of the simulator is left."""
        self._episodes.close()

    @property
    def episode(self) -> Episode:
        """The current episode, or the last one after its end."""
        if self._episodes.now is None:
            raise UserError("no episode has begun; call reset() first")
        return self._episodes.now
