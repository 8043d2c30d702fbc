"""`Agent`, a node that lets a policy decide."""

from __future__ import annotations

from typing import Any, ClassVar

from causeway.errors import UserError
from causeway.pycontrol.handlers import Node
from causeway.pycontrol.protocol_errors import Misuse


class Agent(Node):
    """A node whose decisions come from outside. Subclass it; it is a `Node` in all other respects.

    An agent asks for a decision once per `decides_every`, or when it calls `ask`. The run pauses when all events of
    this instant t have been handled. Then `observe` and `reward` are called, the policy chooses an action, and `act` is
    called with it, all at t. Packets and timers of `act` take effect one reaction time later, as in every handler.
    """

    not_state = frozenset({"observation_space", "action_space"})  # sampling a space changes its generator
    observation_space: Any = None
    """The gymnasium space of the observations that `observe` returns."""
    action_space: Any = None
    """The gymnasium space of the actions that `act` takes."""
    decides_every: ClassVar[int | None] = None
    """The period of decisions, as in `ms(100)`: the agent decides at its multiples. None: only when it calls `ask`."""

    def observe(self) -> Any:
        """Return the observation for the policy, a member of `observation_space`."""
        raise Misuse(f"{type(self).__name__} has no observe(self); write one that returns what its policy sees")

    def act(self, action: Any) -> None:
        """Carry out the action that the policy chose, a member of `action_space`."""
        raise Misuse(f"{type(self).__name__} has no act(self, action); write one that does what its policy chose")

    def reward(self) -> float:
        """Return the reward since the last decision: by default, the sum of the amounts passed to `earn`."""
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
        UserError: A space is missing, or `decides_every` is shorter than the reaction time or not a time.
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
