"""Each wrong use of the interface is answered in one line, which names what was given and the remedy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import causeway as cw
from causeway.errors import RunError
from tests.helpers.small_runs import mistake, small_run

Does = Callable[[Any], object]
NO_NODES = cw.AbstractNetwork(3)


class Silent(cw.Node):
    pass


class Box:
    pass


IN_HANDLERS: dict[str, tuple[Does, str, str]] = {
    "a negative delay": (lambda n: n.set_timer("t", -1), "set_timer was given delay_ps=-1", "0 to"),
    "a negative delay of after": (lambda n: n.after(-5, n.on_start), "after was given delay_ps=-5", "0 to"),
    "seconds as a float": (lambda n: n.set_timer("t", 0.5), "set_timer was given delay_ps=0.5", "seconds(0.3)"),
    "after a float": (lambda n: n.after(1.5, n.on_start), "after was given delay_ps=1.5", "seconds(0.3)"),
    "every float": (lambda n: n.every(1e9, n.on_start), "every was given period_ps=1000000000.0", "ms(300)"),
    "every 0": (lambda n: n.every(0, n.on_start), "every was given period_ps=0", "at least the reaction time"),
    "a method that is called": (lambda n: n.after(5, n.on_start()), "handler=None", "without parentheses"),
    "a function of nobody": (lambda n: n.after(5, print), "handler=<built-in function print>", "self.on_late"),
    "a unit below 0": (lambda n: n.after(cw.seconds(-1), n.on_start), "seconds(-1) is negative", "allowed: 0 to"),
    "a time-out as a float": (
        lambda n: n.request(0, "hi", 0.3, n.on_packet, n.on_start), "request was given timeout_ps=0.3", "ms(300)",
    ),
    "a request to everyone": (
        lambda n: n.request(-1, "hi", 9, n.on_packet, n.on_start), "request was given peer=-1", "self.send",
    ),
    "a reply to nobody": (lambda n: n.reply("hi"), "reply is called outside the handler", "self.current_request"),
    "an unknown peer": (lambda n: n.send(7, "hi"), "send was given peer=7", "0 to 2, or EVERYONE"),
    "a peer as text": (lambda n: n.send("all", "hi"), "send was given peer='all'", "or EVERYONE"),
    "a content without a size": (lambda n: n.send(0, Box()), "size_of does not support Box", "pass size_bytes"),
    "a size as a float": (lambda n: n.send(0, "hi", 0.5), "send was given size_bytes=0.5", "a whole number"),
    "a message never announced": (lambda n: n.deliver(3), "deliver was given message=3", "new_message()"),
    "a content in place of a message": (lambda n: n.deliver("hi"), "deliver was given message='hi'", "new_message()"),
    "an unknown node": (lambda n: n.crash(9), "crash was given node=9", "0 to 2"),
    "a sample as text": (lambda n: n.record("load", "high"), "record was given value='high'", "a number"),
}  # fmt: skip


@pytest.mark.parametrize(("does", "given", "remedy"), IN_HANDLERS.values(), ids=IN_HANDLERS)
def test_a_mistake_in_a_handler_has_one_line_with_the_remedy(does: Does, given: str, remedy: str) -> None:
    said = mistake(does)
    assert given in said and remedy in said, said


IN_INIT: dict[str, tuple[Does, str]] = {
    "a timer": (lambda n: n.set_timer("t", 5), "set_timer"),
    "after": (lambda n: n.after(5, n.on_start), "after"),
    "every": (lambda n: n.every(5, n.on_start), "every"),
    "a packet": (lambda n: n.send(1, "hi"), "send"),
    "a message": (lambda n: n.new_message(), "new_message"),
}


@pytest.mark.parametrize(("does", "service"), IN_INIT.values(), ids=IN_INIT)
def test_a_service_in_init_is_answered_with_where_it_belongs(does: Does, service: str) -> None:
    class Early(cw.Node):
        def __init__(self) -> None:
            does(self)

    with pytest.raises(RunError, match=rf"{service} is used in __init__, .*; use it in on_start\(self\)"):
        small_run(Early)


OUTSIDE: dict[str, tuple[Callable[[], object], str, str]] = {
    "rng": (lambda: Silent().rng.random(), "rng is used outside a handler", "your own random.Random"),
    "a service": (lambda: Silent().send(1, "hi"), "send is used by a node that is not", "causeway.run(MyNode, ...)"),
    "no number": (lambda: cw.seconds(None), "seconds was given None", "a number"),  # type: ignore[arg-type]
    "a word": (lambda: cw.ms("soon"), "ms was given 'soon'", "a number"),
    "a truth": (lambda: cw.metres(True), "metres was given True", "a number"),
    "less than a picosecond": (lambda: cw.ns(0.0001), "ns(0.0001) is not a whole number", "round(x, 3)"),
    "a speed that is not whole": (lambda: cw.km_per_hour(5), "km_per_hour(5) is not", "metres_per_second(1.389)"),
    "a spacing as a float": (
        lambda: cw.MobileNetwork.hexagons(hosts=3, spacing=180.5), "spacing is 180.5", "metres(208)",
    ),
    "links of a mobile network": (
        lambda: cw.MobileNetwork(links=None), "unknown argument of MobileNetwork 'links'", "did you mean",  # type: ignore[call-arg]
    ),
    "a misspelled field": (
        lambda: cw.Links.graph(3, [(0, 1)], lss=0.1), "unknown argument of Links 'lss'", "did you mean 'loss'?",
    ),
    "a delay as text": (lambda: cw.Links.graph(3, [(0, 1)], delay_ms="5"), "Links.graph: delay_ms is '5'", "a number"),  # type: ignore[arg-type]
    "edges that are nodes": (lambda: cw.Links.graph(3, [1, 2]), "Links.graph: an edge is 1", "two of the nodes"),  # type: ignore[list-item]
    "no edges": (lambda: cw.Links.graph(3, 5), "Links.graph: an edge is 5", "two of the nodes"),  # type: ignore[arg-type]
    "half a site": (lambda: cw.Links.of(2.5, lambda a, b: 1), "Links.of: sites is 2.5", "a whole number"),  # type: ignore[arg-type]
    "options as text": (
        lambda: cw.Sumo("examples/streets/streets.sumocfg", options="--scale 2"), "Sumo: options is", "as in ('--",  # type: ignore[arg-type]
    ),
    "a field too few": (lambda: cw.LinkFailure(0, 1, 5), "LinkFailure: missing a required argument", "'to_ps'"),  # type: ignore[call-arg]
    "a field too many": (lambda: cw.Segment(0, 1, 2, 3, 4), "Segment: too many positional", "arguments"),  # type: ignore[call-arg]
    "a share as text": (lambda: cw.AbstractNetwork(3, loss="0.3"), "loss is '0.3'", "a number"),
    "a number for a type": (lambda: cw.handles(7), "handles was given 7", "@handles(Probe)"),
    "an end in seconds": (lambda: cw.run(Silent, NO_NODES, until=10.0), "until is 10.0", "until=causeway.seconds(10)"),
    "a misspelled argument": (lambda: cw.run(Silent, NO_NODES, untill=9), "'untill'", "did you mean 'until'?"),
    "the same in a sweep": (lambda: cw.sweep(Silent, {}, NO_NODES, engin="x"), "'engin'", "did you mean 'engine'?"),
    "no network": (lambda: cw.run(Silent), "Silent needs a network", "causeway.AbstractNetwork(20)"),
    "a number of nodes": (lambda: cw.run(Silent, 20), "the network is an int", "AbstractNetwork"),
    "a node": (lambda: cw.run(Silent(), NO_NODES), "the protocol is a Silent", "pass the class, Silent"),
    "a rate": (lambda: cw.run(Silent, NO_NODES, broadcasts=5), "broadcasts is an int", "causeway.poisson(rate)"),
    "an unknown engine": (lambda: cw.run(Silent, NO_NODES, engine="ns-3"), "'ns-3'", "did you mean 'ns3'?"),
    "one seed": (lambda: cw.compare(Silent, Silent, NO_NODES, seeds=[1]), "at least two seeds", "seeds=range(10)"),
    "a value in place of values": (lambda: cw.sweep(Silent, {"loss": "x"}, NO_NODES), "is 'x'", "['x']"),
}  # fmt: skip


@pytest.mark.parametrize(("does", "given", "remedy"), OUTSIDE.values(), ids=OUTSIDE)
def test_a_mistake_outside_of_a_run_has_one_line_with_the_remedy(
    does: Callable[[], object], given: str, remedy: str
) -> None:
    with pytest.raises((cw.UserError, cw.RunError, ValueError)) as error:  # Misuse is a ValueError
        does()
    said = str(error.value)
    assert given in said and remedy in said and "\n" not in said, said


class Deaf(cw.Node):
    def on_packet(self, content: object, sender: int, interface: int) -> None: ...


class Twice(Deaf):
    """Two nodes make a third one fail, and one lets a node that is up recover."""

    def on_broadcast(self, number: int, size_bytes: int) -> None: ...

    def on_start(self) -> None:
        if self.id < 2:
            self.crash(2)
        if self.id == 0:
            self.recover(1)


class OnceEach(Twice):
    def on_start(self) -> None:
        if self.id == 0:
            self.crash(2)
            self.recover(2)
            self.set_timer("again", 10**9)

    def on_timer(self, key: object) -> None:
        self.crash(2)

    def on_down(self) -> None: ...


PHYSICAL = cw.MobileNetwork(station_xy_mm=((0, 0),), hosts=2)
SENDS: dict[str, tuple[tuple[Any, ...], Any, str]] = {
    "an empty packet by radio": ((1, "", 0), PHYSICAL, "send was given size_bytes=0; allowed: a whole number, 1 to"),
    "nothing by radio": ((1, None, 0), PHYSICAL, "send was given size_bytes=0; allowed: a whole number, 1 to"),
    "to itself by radio": ((0, "hi", 2), PHYSICAL, "peer=0; allowed: another node: on a mobile network no packet goes"),
    "an empty packet to itself": ((0, "", 0), NO_NODES, ""),
}


@pytest.mark.parametrize(("arguments", "network", "words"), SENDS.values(), ids=SENDS)
def test_packets_that_no_simulator_sends_are_refused_before_it_gets_them(
    arguments: tuple[Any, ...], network: Any, words: str
) -> None:
    protocol = cw.PerNode(Deaf)
    protocol.start(cw.Context(3, 1, 10**9, network=network))
    protocol.acting = protocol.nodes[0]
    if not words:
        protocol.nodes[0].send(*arguments)
        return
    with pytest.raises(ValueError) as error:
        protocol.nodes[0].send(*arguments)
    assert words in str(error.value)


WARNED: dict[str, tuple[type[cw.Node], list[str]]] = {
    "no on_broadcast": (
        Deaf, ["the workload asks Deaf to broadcast, but Deaf has no on_broadcast(self, number, size_bytes)"],
    ),
    "failures without effect": (
        Twice,
        [
            "recover(1) at 0 s has no effect, since node 1 is up already (1 such calls in the run)",
            "crash(2) at 0 s has no effect, since node 2 is down already (1 such calls in the run)",
        ],
    ),
    "failures with effect": (OnceEach, []),
}  # fmt: skip


@pytest.mark.parametrize(("make", "words"), WARNED.values(), ids=WARNED)
def test_what_has_no_effect_is_a_warning(make: type[cw.Node], words: list[str]) -> None:
    protocol, _ = small_run(make)
    said = protocol.warnings()
    assert len(said) == len(words)
    for line, start in zip(said, words, strict=True):
        assert line.startswith(start), said


def test_warnings_about_a_protocol_are_printed_with_its_results(capsys: pytest.CaptureFixture[str]) -> None:
    cw.run(Deaf, cw.AbstractNetwork(3), broadcasts=cw.poisson(5, messages=2))
    assert "causeway: warning: the workload asks Deaf to broadcast" in capsys.readouterr().err
