"""A protocol and its study over TCP: a token goes round, and who has it may speak. Everybody hears all in one order.

    causeway run examples/ring.py
    causeway run examples/ring.py --set nodes=4 --ini omnetpp.ini --config C --hosts '**.cli[*]'

The token carries the number of the next message. A node that holds it numbers what it has to say, sends it to all, each
over a TCP connection of its own, and passes the token on. Messages are delivered in the order of their numbers.
"""

from collections import deque

from pydantic import Field

from causeway import (
    MS_PS,
    S_PS,
    WIRE,
    AbstractNetwork,
    Headline,
    Node,
    Params,
    PerNode,
    Segment,
    Study,
    Workload,
    normal_delay,
)

TOKEN_BYTES = 16
REST_PS = 20 * MS_PS
"""A token that nobody needs stays so long with everyone."""


class Speaker(Node):
    def __init__(self) -> None:
        self.to_say: deque[tuple[int, int]] = deque()
        self.held: dict[int, int] = {}
        self.next_number = 0

    def on_start(self) -> None:
        if self.id == 0:
            self.set_timer(("pass", 0), S_PS)

    def on_broadcast(self, number: int, size_bytes: int) -> None:
        self.to_say.append((self.new_message(), size_bytes))

    def on_packet(self, content: tuple[str, int, int], sender: int, interface: int) -> None:
        what, number, message = content
        if what == "token":
            self.take_token(number)
        else:
            self.held[number] = message
            self.deliver_in_order()

    def take_token(self, number: int) -> None:
        spoke = bool(self.to_say)
        while self.to_say:
            message, size_bytes = self.to_say.popleft()
            self.held[number] = message
            for other in range(self.node_count):
                if other != self.id:
                    self.send(other, ("message", number, message), size_bytes, WIRE)
            number += 1
        self.deliver_in_order()
        self.set_timer(("pass", number), 0 if spoke else REST_PS)

    def on_timer(self, key: tuple[str, int]) -> None:
        self.send((self.id + 1) % self.node_count, ("token", key[1], -1), TOKEN_BYTES, WIRE)

    def deliver_in_order(self) -> None:
        while self.next_number in self.held:
            self.deliver(self.held.pop(self.next_number))
            self.next_number += 1


class RingParams(Params):
    nodes: int = Field(9, ge=2, description="speakers")
    rate: float = Field(2.0, gt=0, description="messages a second, of all together")
    duration_s: int = Field(20, ge=2)


class Ring(Study):
    name, title, Params = "ring", "a token over TCP", RingParams
    headlines = (
        Headline("heard", "heard", "", "share of what was said that everybody delivers, mean"),
        Headline("messages", "messages", "", "said"),
        Headline("violations", "violations", "deliveries", "out of causal order"),
    )

    def network(self, params: RingParams, seed: int) -> AbstractNetwork:
        end_ps = (params.duration_s - 5) * S_PS if params.duration_s > 6 else S_PS * 2
        segments = (Segment(0, 0.0), Segment(S_PS, params.rate), Segment(end_ps, 0.0))
        return AbstractNetwork(
            params.nodes, delay=normal_delay(5, 1), workload=Workload(params.nodes, size_bytes=200, segments=segments)
        )

    def protocol(self, params: RingParams) -> PerNode:
        return PerNode(Speaker)

    def duration_ps(self, params: RingParams) -> int:
        return params.duration_s * S_PS

    def scalars(self, params: RingParams, scalars: dict[str, float]) -> dict[str, float]:
        owed = scalars["messages"] * params.nodes
        return {**scalars, "heard": scalars["deliveries"] / owed if owed else 0.0}
