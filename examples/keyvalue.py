"""A key-value store with a leader and followers. Applications can use it at any node.

    causeway check examples/keyvalue.py --every 1000000 --late
    causeway check examples/keyvalue.py --set version=stale
    causeway check examples/keyvalue.py --set version=forgetful --losses 1

Node 0 is the leader: it executes all requests in one order, and sends each write to the followers. A node without an
answer repeats its request.

Verdict: it is linearizable, also if copies are lost (`--losses 1`). In the stale version, a follower answers reads from
its own copy, which may be older than a value that another application has read or written before. The forgetful version
executes a repeated request a second time, though another application may have written in between.
"""

from collections.abc import Hashable
from typing import Any, NamedTuple

import causeway as cw

LEADER = 0
Ask = NamedTuple("Ask", [("number", int), ("what", str), ("key", str), ("value", Any)])
Answer = NamedTuple("Answer", [("number", int), ("result", Any)])
Copy = NamedTuple("Copy", [("key", str), ("value", Any)])


class Store(cw.Node):
    def on_start(self) -> None:
        self.values: dict[str, Any] = {}
        self.calls = 0
        self.asked: Ask | None = None
        self.done: dict[int, tuple[int, Any]] = {}
        """Maps each node to its last call and the result of it."""

    # ---- the application --------------------------------------------------------------------------------------------
    def put(self) -> None:
        self.call("write", f"{self.id}.{self.calls}")

    def get(self) -> None:
        self.call("read", None)

    def swap(self) -> None:
        """Compare and swap: replace the value that this node expects by a new one."""
        self.call("cas", (self.values.get("x"), f"{self.id}.{self.calls}"))

    def call(self, what: str, value: Any) -> None:
        if self.asked is None:
            self.calls += 1
            self.call_begins(what, "x", value)
            self.asked = Ask(self.calls, what, "x", value)
            self.begin(self.asked)

    def begin(self, ask: Ask) -> None:
        if self.id == LEADER:
            self.on_answer(Answer(ask.number, self.carry_out(LEADER, ask)), LEADER)
        else:
            self.send(LEADER, ask, 20)
            self.set_timer("again", cw.seconds(1))

    def on_timer(self, key: Hashable) -> None:
        if self.asked is not None:
            self.begin(self.asked)

    @cw.handles(Answer)
    def on_answer(self, answer: Answer, sender: int) -> None:
        if self.asked is not None and self.asked.number == answer.number:
            self.asked = None
            self.cancel_timer("again")
            self.call_returns(answer.result)

    # ---- the store --------------------------------------------------------------------------------------------------
    @cw.handles(Ask)
    def on_ask(self, ask: Ask, sender: int) -> None:
        self.send(sender, Answer(ask.number, self.carry_out(sender, ask)), 20)

    @cw.handles(Copy)
    def on_copy(self, copy: Copy, sender: int) -> None:
        self.values[copy.key] = copy.value

    def carry_out(self, node: int, ask: Ask) -> Any:
        if self.done.get(node, (0, None))[0] < ask.number:
            self.done[node] = ask.number, self.effect(ask.what, ask.key, ask.value)
        return self.done[node][1]

    def effect(self, what: str, key: str, value: Any) -> Any:
        before = self.values.get(key)
        if what == "read":
            return before
        if what == "cas":
            expected, value = value
            if before != expected:
                return False
        self.values[key] = value
        self.send(cw.EVERYONE, Copy(key, value), 20)
        return what == "cas"


class Stale(Store):
    """Wrong: a follower answers reads from its own copy."""

    def begin(self, ask: Ask) -> None:
        if ask.what == "read":
            self.on_answer(Answer(ask.number, self.values.get("x")), self.id)
        else:
            super().begin(ask)


class Forgetful(Store):
    """Wrong: a repeated request is executed again."""

    def carry_out(self, node: int, ask: Ask) -> Any:
        return self.effect(ask.what, ask.key, ask.value)


class KeyValue(cw.ModelStudy):
    name, title = "keyvalue", "a key-value store with a leader"
    versions = {"right": Store, "stale": Stale, "forgetful": Forgetful}
    verdicts = {"stale": "linearizability", "forgetful": "linearizability"}
    model_checks = cw.Checks(
        properties=("linearizable",), calls={"put": Store.put, "get": Store.get, "swap": Store.swap},
        budget=cw.Budget(broadcasts=0, calls=3),
    )  # fmt: skip
