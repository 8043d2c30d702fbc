"""A first program: flooding over a network that loses packets, in fifteen lines."""

import causeway as cw


class Flooder(cw.Node):
    def on_start(self) -> None:
        self.heard: set[int] = set()

    def on_broadcast(self, number: int, size_bytes: int) -> None:
        self.take(self.new_message())

    def on_packet(self, message: int, sender: int, interface: int) -> None:
        if message not in self.heard:
            self.take(message)

    def take(self, message: int) -> None:
        self.heard.add(message)
        self.deliver(message)
        self.send(cw.EVERYONE, message)


if __name__ == "__main__":
    print(cw.run(Flooder, cw.AbstractNetwork(20, loss=0.3), broadcasts=cw.poisson(50, messages=200), seed=1))
