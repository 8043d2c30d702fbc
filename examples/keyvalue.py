"""A key-value store with a leader and followers, which applications ask at any node.

    causeway check examples/keyvalue.py --every 1000000 --late
    causeway check examples/keyvalue.py --set version=stale
    causeway check examples/keyvalue.py --set version=forgetful --losses 1

Node 0 leads: it puts all that is asked for in one order, and tells the followers what was written. Who gets no answer
asks again.

Verdict: it is linearizable, also if copies are lost (`--losses 1`). The stale version answers a read from the
follower's own copy, which may be older than what another application has read or written before. The forgetful version
does what it is asked again once more: somebody else may have written in between.
"""

from collections.abc import Hashable
from typing import Any

import causeway as cw

LEADER = 0


class Store(cw.Node):
    def on_start(self) -> None:
        self.values: dict[str, Any] = {}
        self.calls = 0
        self.asked: tuple[Any, ...] = ()
        self.done: dict[int, tuple[int, Any]] = {}
        """Maps each node to its last call and the result of it."""

    # ---- the application --------------------------------------------------------------------------------------------
    def put(self) -> None:
        self.call("write", f"{self.id}.{self.calls}")

    def get(self) -> None:
        self.call("read", None)

    def swap(self) -> None:
        """Compare and swap: of what this node thinks is there, for something new."""
        self.call("cas", (self.values.get("x"), f"{self.id}.{self.calls}"))

    def call(self, what: str, value: Any) -> None:
        if not self.asked:
            self.calls += 1
            self.call_begins(what, "x", value)
            self.asked = (self.calls, what, "x", value)
            self.begin()

    def begin(self) -> None:
        if self.id == LEADER:
            self.answered(self.asked[0], self.carry_out(LEADER, *self.asked))
        else:
            self.send(LEADER, ("ask", *self.asked), 20)
            self.set_timer("again", cw.seconds(1))

    def on_timer(self, key: Hashable) -> None:
        self.begin()

    def answered(self, number: int, result: Any) -> None:
        if self.asked and self.asked[0] == number:
            self.asked = ()
            self.cancel_timer("again")
            self.call_returns(result)

    # ---- the store --------------------------------------------------------------------------------------------------
    def on_packet(self, content: tuple[Any, ...], sender: int, interface: int) -> None:
        what, *rest = content
        if what == "ask":
            self.send(sender, ("answer", rest[0], self.carry_out(sender, *rest)), 20)
        elif what == "answer":
            self.answered(*rest)
        else:
            self.values[rest[0]] = rest[1]

    def carry_out(self, node: int, number: int, what: str, key: str, value: Any) -> Any:
        if self.done.get(node, (0, None))[0] < number:
            self.done[node] = number, self.effect(what, key, value)
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
        self.send(cw.EVERYONE, ("copy", key, value), 20)
        return what == "cas"


class Stale(Store):
    """Wrong: a follower answers reads from its own copy."""

    def begin(self) -> None:
        if self.asked[1] == "read":
            self.answered(self.asked[0], self.values.get("x"))
        else:
            super().begin()


class Forgetful(Store):
    """Wrong: what is asked again is done again."""

    def carry_out(self, node: int, number: int, what: str, key: str, value: Any) -> Any:
        return self.effect(what, key, value)


class KeyValue(cw.ModelStudy):
    name, title = "keyvalue", "a key-value store with a leader"
    versions = {"right": Store, "stale": Stale, "forgetful": Forgetful}
    verdicts = {"stale": "linearizability", "forgetful": "linearizability"}
    model_checks = cw.Checks(
        properties=("linearizable",), calls={"put": Store.put, "get": Store.get, "swap": Store.swap},
        budget=cw.Budget(broadcasts=0, calls=3),
    )  # fmt: skip
