"""The names of agents. A node that recovers is a new agent, because an agent of PettingZoo terminates only once."""

from __future__ import annotations

from collections.abc import Iterable


class Lives:
    """The agents that are present, by the ids of their nodes."""

    def __init__(self, nodes: Iterable[int]) -> None:
        self._lives = dict.fromkeys(nodes, 1)
        self.names = {node: name_of(node, 1) for node in self._lives}
        """The name of each agent that is present."""

    def follow(self, went: Iterable[tuple[int, bool]], asked: Iterable[int]) -> dict[str, int]:
        """Update the names after nodes went down or asked for a decision; return the agents that left.

        A node that recovered is present again from its first decision on.
        """
        left = {self.names.pop(node): node for node, up in went if not up and node in self.names}
        for node in asked:
            if node not in self.names:
                self._lives[node] += 1
                self.names[node] = name_of(node, self._lives[node])
        self.names = dict(sorted(self.names.items()))
        return left


def name_of(node: int, life: int) -> str:
    """Return the name of an agent: `node_3`, and `node_3.2` after its first recovery."""
    return f"node_{node}" if life == 1 else f"node_{node}.{life}"


def node_of(name: str) -> int:
    """Return the id of the node of an agent."""
    return int(name.removeprefix("node_").partition(".")[0])
