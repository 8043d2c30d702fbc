"""A register that all nodes share by messages: reads and writes contact more than half of the nodes.

    causeway check examples/register.py
    causeway check examples/register.py --set version=hurried --calls 3 --every 2000000

After H. Attiya, A. Bar-Noy and D. Dolev, *Sharing memory robustly in message-passing systems* (1995), with many
writers.

Verdict: it is linearizable. The hurried version returns a value without storing it at other nodes, so a later read may
return an older value.
"""

from typing import Any, NamedTuple

import causeway as cw

Stamp = tuple[int, int]
Ask = NamedTuple("Ask", [("round", int)])
Store = NamedTuple("Store", [("round", int), ("stamp", Stamp), ("value", Any)])
Answer = NamedTuple("Answer", [("round", int), ("stamp", Stamp), ("value", Any)])


class Register(cw.Node):
    """Reads the newest value, then stores it, each at more than half of the nodes."""

    def on_start(self) -> None:
        self.stamp: Stamp = (0, 0)
        self.value: Any = None
        self.round = self.writes = 0
        self.doing = ""
        self.heard: dict[int, tuple[Stamp, Any]] = {}

    def write(self) -> None:
        """Write a new value, as a call of the application."""
        if not self.doing:
            self.writes += 1
            self.new = f"{self.id}.{self.writes}"
            self.call_begins("write", "x", self.new)
            self.ask("write")

    def read(self) -> None:
        """Read the value, as a call of the application."""
        if not self.doing:
            self.call_begins("read", "x")
            self.ask("read")

    def ask(self, doing: str) -> None:
        self.doing, self.round, self.heard = doing, self.round + 1, {self.id: (self.stamp, self.value)}
        self.send(cw.EVERYONE, Ask(self.round), 10)

    def store(self, stamp: Stamp, value: Any) -> None:
        self.found, self.round = value, self.round + 1
        self.doing += " stored"
        self.keep(stamp, value)
        self.heard = {self.id: (stamp, value)}
        self.send(cw.EVERYONE, Store(self.round, stamp, value), 10)

    def keep(self, stamp: Stamp, value: Any) -> None:
        if stamp > self.stamp:
            self.stamp, self.value = stamp, value

    @cw.handles(Ask)
    def on_ask(self, ask: Ask, sender: int) -> None:
        self.send(sender, Answer(ask.round, self.stamp, self.value), 10)

    @cw.handles(Store)
    def on_store(self, store: Store, sender: int) -> None:
        self.keep(store.stamp, store.value)
        self.send(sender, Answer(store.round, self.stamp, self.value), 10)

    @cw.handles(Answer)
    def on_answer(self, answer: Answer, sender: int) -> None:
        if self.doing and answer.round == self.round:
            self.heard[sender] = (answer.stamp, answer.value)
            if 2 * len(self.heard) > self.node_count:
                self.go_on()

    def go_on(self) -> None:
        stamp, value = max(self.heard.values(), key=lambda one: one[0])
        if self.doing == "write":
            self.store((stamp[0] + 1, self.id), self.new)
        elif self.doing == "read":
            self.after_reading(stamp, value)
        else:
            self.finish(self.found)

    def after_reading(self, stamp: Stamp, value: Any) -> None:
        self.store(stamp, value)

    def finish(self, value: Any) -> None:
        self.doing = ""
        self.call_returns(value)


class Hurried(Register):
    """Wrong: the value that was read is not stored."""

    def after_reading(self, stamp: Stamp, value: Any) -> None:
        self.finish(value)


class SharedRegister(cw.ModelStudy):
    name, title = "register", "a shared register (Attiya, Bar-Noy, Dolev)"
    versions = {"right": Register, "hurried": Hurried}
    verdicts = {"hurried": "linearizability"}
    model_checks = cw.Checks(
        properties=("linearizable",), calls={"write": Register.write, "read": Register.read},
        budget=cw.Budget(broadcasts=0, calls=6),
    )  # fmt: skip
