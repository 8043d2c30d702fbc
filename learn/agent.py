"""`Agent`, a node that asks a policy what to do."""

from __future__ import annotations

from typing import Any, ClassVar

from causeway.errors import UserError
from causeway.pycontrol.handlers import Node
from causeway.pycontrol.protocol_errors import Misuse


class Agent(Node):
    """A node whose decisions come from outside. Subclass it; it is a `Node` in all other respects.

    At an instant t the agent asks: every `decides_every`, or when it calls `ask`. The run pauses when all events of t
    have been handled. `observe` and `reward` are called, the policy chooses, and `act` is called, still at t: what it
    sends or sets takes effect one reaction time later, as everything that a node does.
    """

    not_state = frozenset({"observation_space", "action_space"})  # sampling a space changes its generator
    observation_space: Any = None
    """The gymnasium space of what `observe` returns."""
    action_space: Any = None
    """The gymnasium space of what `act` takes."""
    decides_every: ClassVar[int | None] = None
    """The time between two decisions, as in `ms(100)`; the first is after one such time. None: at each `ask`."""

    def observe(self) -> Any:
        """Return what the policy sees: a member of `observation_space`."""
        raise Misuse(f"{type(self).__name__} has no observe(self); write one that returns what its policy sees")

    def act(self, action: Any) -> None:
        """Do what the policy chose: a member of `action_space`."""
        raise Misuse(f"{type(self).__name__} has no act(self, action); write one that does what its policy chose")

    def reward(self) -> float:
        """Return what was earned since the last decision; by default the sum of what `earn` was given."""
        earned = vars(self).get("_earned", 0.0)
        self._earned = 0.0
        return earned

    def earn(self, amount: float) -> None:
        """Add to the reward of the next decision."""
        self._earned = vars(self).get("_earned", 0.0) + float(amount)

    def ask(self) -> None:
        """Ask for a decision at this instant. Handlers that run at the same instant come first."""
        asked = vars(self).get("_asked_for")
        if asked is None:
            raise Misuse(
                f"node {self.id} asks for a decision, and nobody learns or decides in this run; make it by "
                "causeway.learn.parallel_env, aec_env or gym_env"
            )
        asked[self.id] = None


def check_agent(agent: Agent, reaction_ps: int) -> None:
    """Refuse an agent that could not decide.

    Raises:
        UserError: A space is missing, or `decides_every` is no time above the reaction time.
    """
    name, every_ps = type(agent).__name__, agent.decides_every
    for space in ("observation_space", "action_space"):
        if getattr(agent, space) is None:
            raise UserError(f"{name} has no {space}; give it a space of gymnasium, as in {space} = Discrete(4)")
    if every_ps is not None and (type(every_ps) is not int or every_ps < reaction_ps):
        raise UserError(
            f"{name}.decides_every is {every_ps!r}; allowed: a time of at least the reaction time, "
            f"{reaction_ps / 10**12:g} s, as in decides_every = causeway.ms(100)"
        )
