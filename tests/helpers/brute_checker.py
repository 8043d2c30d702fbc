"""A plain causality checker with whole sets of messages, without recycling."""

from __future__ import annotations

from dataclasses import dataclass, field

from causeway.pycontrol.protocol import BROADCAST, DELIVER, FLAGGED, JOINED, LEFT

Row = tuple[int, int, int]
"""(op, node, message)"""


@dataclass
class BruteChecker:
    """The interface of CausalityChecker, computed from full dependency sets."""

    nodes: int
    known: list[set[int]] = field(default_factory=list)
    owed: list[set[int]] = field(default_factory=list)
    ever_owed: list[set[int]] = field(default_factory=list)
    seen: set[tuple[int, int]] = field(default_factory=set)
    past: dict[int, set[int]] = field(default_factory=dict)
    sender: dict[int, int] = field(default_factory=dict)
    violated: set[int] = field(default_factory=set)
    violating: list[bool] = field(default_factory=list)
    count: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.known, self.owed, self.ever_owed = ([set() for _ in range(self.nodes)] for _ in range(3))
        self.members = set(range(self.nodes))
        names = ("deliveries", "violations", "violations_own", "duplicates", "unowed", "arrivals_out_of_order")
        flags = ("flagged", "flagged_and_violated", "violations_undetected")
        self.count = dict.fromkeys([*names, *flags], 0)
        self.violated_undetected: set[int] = set()
        self.last_flag = (-1, -1)

    def add(self, op: int, node: int, message: int) -> None:
        wrong = False
        if op == BROADCAST:
            self.past[message], self.sender[message] = set(self.known[node]), node
            self.known[node].add(message)
            for p in self.members:
                self.owed[p].add(message)
                self.ever_owed[p].add(message)
        elif op in (LEFT, JOINED):
            if op == LEFT or node in self.members:  # a new process
                self.known[node] = set()
                self.seen = {(p, m) for p, m in self.seen if p != node}
                self.last_flag = (-1, -1) if self.last_flag[0] == node else self.last_flag
            self.owed[node], self.ever_owed[node] = set(), set()
            self.members = self.members - {node} if op == LEFT else self.members | {node}
        elif op == DELIVER:
            wrong = self._deliver(node, message)
        elif self._somebody_waits_for(message):
            wrong = self._would_violate(node, message)
            self._arrived(node, message, wrong)
        if op == FLAGGED:
            self.count["flagged"] += 1
            self.count["flagged_and_violated"] += wrong
            self.last_flag = (node, message)
        self.violating.append(wrong)

    def scalars(self) -> dict[str, float]:
        missing = sum(len(s) for s in self.owed)
        sets = {"messages_violated": self.violated, "messages_violated_undetected": self.violated_undetected}
        sizes = {name: len(messages) for name, messages in sets.items()}
        return {"messages": len(self.past), **sizes, "missing": missing, **self.count}

    def _somebody_waits_for(self, message: int) -> bool:
        return any(message in s for s in self.owed)

    def _would_violate(self, node: int, message: int) -> bool:
        return bool(self.past[message] & self.owed[node])

    def _arrived(self, node: int, message: int, wrong: bool) -> None:
        if wrong and (node, message) not in self.seen and self.sender[message] != node:
            self.count["arrivals_out_of_order"] += 1
        self.seen.add((node, message))

    def _deliver(self, node: int, message: int) -> bool:
        owed = message in self.ever_owed[node]
        if owed and message not in self.owed[node]:
            self.count["duplicates"] += 1
            return False
        self.count["deliveries"] += 1
        self.count["unowed"] += not owed
        if not self._somebody_waits_for(message):
            return False  # nobody is owed it any more: it brings no past
        wrong = self._would_violate(node, message)
        if wrong:
            self.count["violations"] += 1
            self.count["violations_own"] += self.sender[message] == node
            self.violated.add(message)
            if self.last_flag != (node, message):
                self.count["violations_undetected"] += 1
                self.violated_undetected.add(message)
            if (node, message) not in self.seen and self.sender[message] != node:
                self.count["arrivals_out_of_order"] += 1
        self.known[node] |= self.past[message] | {message}
        self.owed[node].discard(message)
        return wrong
