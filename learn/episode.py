"""`Episode`, a run that continues from one decision of its agents to the next; `Episodes` makes one for each seed."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import replace
from typing import Any

from causeway.bridge import engines
from causeway.bridge.ahead import Ahead
from causeway.errors import UserError
from causeway.learn.agent import Agent, check_agent
from causeway.learn.decisions import Decisions, agents_of
from causeway.network.networks import Network
from causeway.pycontrol.node import Node, PerNode
from causeway.studies.protocol_study import MakeNetwork
from causeway.studies.run_request import AnyProtocol, AnyStudy, RunRequest
from causeway.studies.run_result import Run
from causeway.studies.runner import Job
from causeway.studies.stepped_run import SteppedRun


class Episode(SteppedRun[Node]):
    """A run that pauses at each decision of its agents. A new one has started, but has handled no event yet."""

    def __init__(self, job: Job, ahead: Ahead) -> None:
        super().__init__(job)
        self.decisions = Decisions(self._prepare().reaction_ps)
        self._started.spec = replace(self._started.spec, ahead=ahead)
        protocol = self._started.protocol
        if not isinstance(protocol, PerNode):
            raise UserError(f"{type(protocol).__name__} has no nodes, so that none of them can be an agent")
        self._begin(self.decisions)
        self._advance()
        self.agents: Mapping[int, Agent] = agents_of(protocol)
        """The agents, by the ids of their nodes."""
        for agent in self.agents.values():
            check_agent(agent, self._started.spec.reaction_ps)
        if not self.agents:
            self.close()
            raise UserError("no node of this protocol is an agent; derive its class from causeway.learn.Agent")

    @property
    def info(self) -> dict[str, Any]:
        """The time and the seed, and at the end the digest of the run."""
        found = {"time_s": self.decisions.now_ps / 10**12, "seed": self.seed}
        return found if self._outcome is None else {**found, "digest": self._outcome.digest}

    @property
    def seed(self) -> int:
        """The seed of the run."""
        return self._job.seed

    def go_on(self, actions: Mapping[int, Any]) -> None:
        """Carry out the actions of the agents that asked, and continue to the next decision or the end of the run.

        Raises:
            UserError: The episode is over.
        """
        if self.is_over:
            raise UserError("the episode is over; call reset() to begin another one")
        self.decisions.chosen = dict(actions)
        self._advance()
        if self.decisions.over:
            self._advance()

    def start_next(self, seed: int) -> None:
        """Start the simulator of the next episode, which will probably have this seed."""
        spec = self._started.spec
        spec.ahead.start(engines.get(self._job.engine), replace(spec, seed=seed))

    def result(self) -> Run[Node]:
        """Return the results of the run.

        Raises:
            UserError: The run has not ended.
        """
        if not self.decisions.over:
            raise UserError("the episode has not come to its end, and has no results yet")
        return self._result()


class Episodes:
    """The episodes of an environment: runs that differ only in their seeds."""

    def __init__(self, request: RunRequest, params: Mapping[str, Any] | None, seed: int) -> None:
        self._made_of = request, params, seed
        self._job = request.jobs([dict(params or {})], [seed])[0]
        self._next_seed = seed
        self.seed_step = 1
        """The difference of the seeds of two episodes, if nobody gives a seed."""
        self._simulator = Ahead()
        self._ahead: Episode | None = None
        self.now: Episode | None = None
        """The current episode, or the last one after its end."""
        self.agents = self._begin_ahead().agents
        """The agents of the first episode, by the ids of their nodes."""
        self.spaces = {
            node: (deepcopy(agent.observation_space), deepcopy(agent.action_space))
            for node, agent in self.agents.items()
        }
        """The spaces of observations and actions. They are copies, so that each agent has its own random generators."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the class and its arguments, for pickle. Episodes in progress are not copied."""
        return type(self), self._made_of

    def begin(self, seed: int | None) -> Episode:
        """Begin an episode and return it at its first decision. The default seed is the previous one plus 1."""
        if self.now is not None:
            self.now.close()
        in_turn = seed is None or int(seed) == self._next_seed
        if seed is not None:
            self._next_seed = int(seed)
        ahead, self._ahead = self._begin_ahead(), None
        if ahead.seed != self._next_seed:
            ahead.close()
            ahead = Episode(self._job.but(seed=self._next_seed), self._simulator)
        self._next_seed += self.seed_step
        self.now = ahead
        ahead.go_on({})
        if in_turn:
            ahead.start_next(self._next_seed)
        return ahead

    def close(self) -> None:
        """End the current episode, and the next one if it has been prepared."""
        self._simulator.close()
        for episode in (self.now, self._ahead):
            if episode is not None:
                episode.close()

    def _begin_ahead(self) -> Episode:
        if self._ahead is None:
            self._ahead = Episode(self._job.but(seed=self._next_seed), self._simulator)
        return self._ahead


def episodes(
    protocol: AnyStudy | AnyProtocol,
    network: Network | MakeNetwork | None,
    episode: int | None,
    params: Mapping[str, Any] | None,
    seed: int,
    setting: Mapping[str, Any],
) -> Episodes:
    """Return the episodes of an environment; the arguments are those of `parallel_env`."""
    if "until" in setting:
        raise UserError("an environment takes the length of an episode: episode=..., not until=...")
    return Episodes(RunRequest.of(protocol, network, {**setting, "until": episode}), params, seed)
