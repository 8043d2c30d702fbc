"""Pause a run at each instant at which agents decide, and carry out their actions before simulated time advances.

The events of a window are handled up to the end of the first instant at which an agent asks for a decision. All events
of that instant come before the observations, so that all agents see the same state. Agents act in the order of their
ids.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from functools import partial
from typing import Any

from causeway.bridge.events import Actions, Kind, Window, joined
from causeway.errors import RunError
from causeway.learn.agent import Agent
from causeway.pycontrol.node import PerNode
from causeway.pycontrol.protocol import Protocol
from causeway.pycontrol.protocol_calls import answer_to
from causeway.pycontrol.stepping import call_as_handler, part_of

NODE = int(Kind.NODE)
Row = tuple[int, int, int, int, int]


class Decisions:
    """The state of a run that pauses for decisions; the controller's loop calls `answer` and `end`."""

    def __init__(self, reaction_ps: int) -> None:
        self.now_ps = 0
        self.asked: dict[int, None] = {}
        """The agents that ask at `now_ps`, in the order of their ids once the run pauses."""
        self.views: dict[int, tuple[Any, float]] = {}
        """The observation and reward, at `now_ps`, of each agent that asks or has just gone down; at the end of the
        run, of every agent."""
        self.chosen: dict[int, Any] = {}
        """The action that was chosen for each agent that asks."""
        self.went: list[tuple[int, bool]] = []
        """The agents that went down (False) or came up (True) since the last pause."""
        self.over = False
        self._reaction_ps = reaction_ps
        self._begun = False
        self._late: list[int] = []
        self._handled = 0
        self._moves: list[tuple[int, bool]] = []
        self._protocol: PerNode

    def answer(self, window: Window, protocol: Protocol) -> Generator[None, None, Actions]:
        """Return the protocol's actions for a window; yield at each decision."""
        assert isinstance(protocol, PerNode)
        parts: list[Actions] = []
        if not self._begun:
            self._begun = True
            self._protocol, self._late = protocol, list(agents_of(protocol))
            protocol._rows = partial(self._up_to_pause, protocol)  # type: ignore[method-assign]
            yield
        done = 0
        while done < len(window):
            parts.append(answer_to(part_of(window, done, len(window), window.reply), protocol))
            done += self._handled
            self._note_moves(protocol)
            if parts[-1].stop:
                done = len(window)
                break
            if window.reply:
                parts += self._begin_late(protocol, self.now_ps)
            if self.asked:
                if not window.reply:
                    raise RunError(
                        "an agent asks for a decision at an event of a kind that its protocol declares passive, on "
                        "which nobody can act"
                    )
                yield from self._decide(protocol)
                parts += [self._act(protocol, node, action) for node, action in self.chosen.items()]
                self.chosen = {}
        parts.append(protocol._take_actions(window.reply))
        if window.reply:  # window 0, which has no events
            parts += self._begin_late(protocol, max(self.now_ps, window.end_ps - self._reaction_ps))
        return joined(parts)

    def end(self, end_ps: int) -> Generator[None, None, None]:
        """Pause once more at the end of the run, where all agents observe and none acts."""
        self.now_ps, self.over = end_ps, True
        self.asked.clear()
        self._look(list(agents_of(self._protocol)))
        yield

    def _up_to_pause(self, protocol: PerNode) -> Iterator[Row]:
        """Yield rows until the end of the first instant at which an agent asks, or a node goes down or up."""
        self._handled, last_ps = 0, -1
        for row in zip(*protocol._columns, strict=True):
            if row[1] != last_ps >= 0 and (self._moves or self.asked):
                break
            last_ps = row[1]
            if row[0] == NODE:
                self._moves.append((row[2], bool(row[4])))
            self._handled += 1
            yield row
        self.now_ps = max(last_ps, self.now_ps)

    def _note_moves(self, protocol: PerNode) -> None:
        """Record the agents that went down or came up."""
        for node, up in self._moves:
            if isinstance(protocol.nodes[node], Agent):
                self.went.append((node, up))
                self.asked.pop(node, None)
                if up:
                    self._late.append(node)
        self._moves.clear()

    def _begin_late(self, protocol: PerNode, at_ps: int) -> list[Actions]:
        """Start the periodic decisions of agents that are new or have recovered."""

        def begin(agent: Any) -> None:
            every_ps = agent.decides_every
            delay_ps = every_ps - at_ps % every_ps - self._reaction_ps  # all decide at multiples of the period
            agent._plan(delay_ps if delay_ps >= 0 else delay_ps + every_ps, every_ps, agent.ask)

        found = []
        for node in self._late:
            agent: Any = protocol.nodes[node]
            agent._asked_for = self.asked
            if agent.decides_every is not None:
                found.append(call_as_handler(protocol, node, begin, at_ps))
        self._late.clear()
        return found

    def _decide(self, protocol: PerNode) -> Generator[None, None, None]:
        ordered = sorted(self.asked)
        self.asked.clear()
        self.asked.update(dict.fromkeys(ordered))
        self._look([*ordered, *(node for node, up in self.went if not up)])
        yield
        self.went.clear()
        if missing := [node for node in self.asked if node not in self.chosen]:
            raise RunError(f"no action was given for node {missing[0]}, which asked for one")
        self.asked.clear()

    def _look(self, nodes: list[int]) -> None:
        """Call `observe` and `reward` of agents."""
        self.views = {}
        for node in dict.fromkeys(nodes):

            def look(agent: Any, node: int = node) -> None:
                self.views[node] = agent.observe(), float(agent.reward())

            if len(call_as_handler(self._protocol, node, look, self.now_ps)):
                raise RunError(f"node {node} acts in observe or reward; agents act in act(self, action)")

    def _act(self, protocol: PerNode, node: int, action: Any) -> Actions:
        def act(agent: Any) -> None:
            agent.act(action)

        return call_as_handler(protocol, node, act, self.now_ps)


def agents_of(protocol: PerNode) -> dict[int, Agent]:
    """Return the agents among the nodes, by id."""
    return {node.id: node for node in protocol.nodes if isinstance(node, Agent)}
