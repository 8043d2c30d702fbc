"""A protocol and its study over TCP: a token ring, in which all nodes deliver all messages in the same order.

    causeway run examples/ring.py
    causeway run examples/ring.py --set nodes=4 --ini omnetpp.ini --config C --hosts '**.cli[*]'

The token contains the number of the next message. The node that holds it numbers its messages, sends each to all nodes
over a separate TCP connection to each, and passes the token on. Messages are delivered in the order of their numbers.
"""

from collections import deque
from typing import NamedTuple

from pydantic import Field

import causeway as cw

TOKEN_BYTES = 16
REST_PS = cw.ms(20)
"""The time for which each node keeps the token if no message is waiting."""
Token = NamedTuple("Token", [("number", int)])  # the number of the next message
Message = NamedTuple("Message", [("number", int), ("message", int)])


class Speaker(cw.Node):
    def __init__(self) -> None:
        self.to_say: deque[tuple[int, int]] = deque()
        self.held: dict[int, int] = {}
        self.next_number = 0

    def on_start(self) -> None:
        if self.id == 0:
            self.after(cw.seconds(1), self.pass_on, 0)

    def on_broadcast(self, number: int, size_bytes: int) -> None:
        self.to_say.append((self.new_message(), size_bytes))

    @cw.handles(Message)
    def on_message(self, message: Message, sender: int) -> None:
        self.held[message.number] = message.message
        self.deliver_in_order()

    @cw.handles(Token)
    def on_token(self, token: Token, sender: int) -> None:
        number, spoke = token.number, bool(self.to_say)
        while self.to_say:
            message, size_bytes = self.to_say.popleft()
            self.held[number] = message
            for other in self.peers:
                self.send(other, Message(number, message), size_bytes, cw.WIRE)
            number += 1
        self.deliver_in_order()
        self.after(0 if spoke else REST_PS, self.pass_on, number)

    def pass_on(self, number: int) -> None:
        self.send((self.id + 1) % self.node_count, Token(number), TOKEN_BYTES, cw.WIRE)

    def deliver_in_order(self) -> None:
        while self.next_number in self.held:
            self.deliver(self.held.pop(self.next_number))
            self.next_number += 1


class RingParams(cw.Params):
    nodes: int = Field(9, ge=2, description="speakers")
    rate: float = Field(2.0, gt=0, description="messages per second, of all nodes together")
    duration_s: int = Field(20, ge=2)


class Ring(cw.Study):
    name, title, Params = "ring", "a token over TCP", RingParams
    headlines = (
        cw.Headline("heard", "heard", "", "mean share of messages that are delivered by all nodes"),
        cw.Headline("messages", "messages", "", "said"),
        cw.Headline("violations", "violations", "deliveries", "out of causal order"),
    )

    def network(self, params: RingParams, seed: int) -> cw.AbstractNetwork:
        end_s = params.duration_s - 5 if params.duration_s > 6 else 2
        segments = (cw.Segment(cw.seconds(1), params.rate), cw.Segment(cw.seconds(end_s), 0.0))
        workload = cw.Workload(size_bytes=200, segments=segments)
        return cw.AbstractNetwork(params.nodes, delay=cw.normal_delay(5, 1), workload=workload)

    def protocol(self, params: RingParams) -> cw.PerNode:
        return cw.PerNode(Speaker)

    def duration_ps(self, params: RingParams) -> int:
        return cw.seconds(params.duration_s)

    def scalars(self, params: RingParams, scalars: dict[str, float]) -> dict[str, float]:
        owed = scalars["messages"] * params.nodes
        return {**scalars, "heard": scalars["deliveries"] / owed if owed else 0.0}
