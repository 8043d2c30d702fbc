"""Causal broadcast with vector clocks.

    causeway check examples/textbook/causal_broadcast.py --every 1000000
    causeway check examples/textbook/causal_broadcast.py --every 1000000 --set version=careless

After K. Birman, A. Schiper and P. Stephenson, *Lightweight causal and atomic group multicast* (1991).

Verdict: a message is delivered after all messages that its sender had delivered before. The careless version only
compares the sender's own entry of the clock.
"""

import causeway as cw

Stamped = tuple[int, tuple[int, ...]]


class Causal(cw.Node):
    """Keeps the vector clock VT, and the messages that must wait."""

    def on_start(self) -> None:
        self.VT = [0] * self.node_count
        self.waiting: frozenset[tuple[int, Stamped]] = frozenset()

    def on_broadcast(self, number: int, size_bytes: int) -> None:
        self.VT[self.id] += 1
        message = self.new_message()
        self.deliver(message)
        self.send(cw.EVERYONE, (message, tuple(self.VT)), 100)

    def on_packet(self, content: Stamped, sender: int, interface: int) -> None:
        self.waiting |= {(sender, content)}
        while ready := next((one for one in sorted(self.waiting) if self.deliverable(*one)), None):
            self.waiting -= {ready}
            self.VT[ready[0]] += 1
            self.deliver(ready[1][0])

    def deliverable(self, sender: int, stamped: Stamped) -> bool:
        VT = stamped[1]
        return VT[sender] == self.VT[sender] + 1 and self.has_the_rest(sender, VT)

    def has_the_rest(self, sender: int, VT: tuple[int, ...]) -> bool:
        return all(VT[k] <= self.VT[k] for k in range(len(VT)) if k != sender)


class Careless(Causal):
    """Wrong: ignores the messages of others that the sender had delivered."""

    def has_the_rest(self, sender: int, VT: tuple[int, ...]) -> bool:
        return True


class CausalBroadcast(cw.ModelStudy):
    name, title = "causal_broadcast", "causal broadcast (Birman, Schiper, Stephenson)"
    versions = {"right": Causal, "careless": Careless}
    verdicts = {"careless": "causal order"}
    model_checks = cw.Checks(properties=("once", "causal", "arrives"), budget=cw.Budget(broadcasts=3), symmetric=True)
