"""A mistake of a protocol is one error: node, time, handler, what was given, what is allowed, its own traceback."""

from __future__ import annotations

import ctypes
import itertools
import math
import re
import time
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from causeway.bridge import memory
from causeway.bridge.engine import Finish, RunSpec
from causeway.bridge.engines.inline import InlineEngine
from causeway.bridge.events import Kind
from causeway.errors import RunError, UserError
from causeway.network.networks import AbstractNetwork, constant_delay
from causeway.network.workload import Script, Workload
from causeway.pycontrol.loop import run_protocol
from causeway.pycontrol.node import EVERYONE, Node, PerNode
from causeway.pycontrol.protocol import Protocol
from causeway.pycontrol.protocol_errors import ProtocolError

MS = 10**9


def hold(seconds: float) -> None:
    """Take time by the clock in a handler, where `time.sleep` is refused."""
    ctypes.CDLL(None).usleep(int(seconds * 1e6))


def run(protocol: Protocol) -> Any:
    """Run one broadcast of node 2 at 1 ms, among three."""
    script = Script(np.array([MS]), np.array([2]), np.array([100]))
    network = AbstractNetwork(3, delay=constant_delay(1), workload=Workload(3, script=script))
    return run_protocol(InlineEngine(), RunSpec("test", {}, 1, network, MS), protocol, [])


def mistake(does: Any, handler: str = "on_broadcast") -> str:
    """Return the error message about a node whose handler does that."""

    class Bad(Node):
        def on_broadcast(self, number, size_bytes):
            message = self.new_message()
            self.set_timer("soon", MS)
            self.send(EVERYONE, ("news", message), 10)

    def on(self, *_):
        does(self)

    setattr(Bad, handler, on)
    with pytest.raises(ProtocolError) as error:
        run(PerNode(lambda _: Bad(), 2))
    return str(error.value)


@pytest.mark.parametrize(
    ("handler", "place"),
    [
        ("on_start", "node 0, at 0 s, in on_start(): "),
        ("on_broadcast", "node 2, at 0.001 s, in on_broadcast(number=0, size_bytes=100): "),
        ("on_packet", "node 0, at 0.003 s, in on_packet(content=('news', 0), sender=2, interface=0): "),
        ("on_timer", "node 2, at 0.003 s, in on_timer(key='soon'): "),
    ],
)
def test_an_exception_is_reported_with_its_place_and_the_protocols_own_lines(handler: str, place: str) -> None:
    def divides(node):
        return 1 // 0

    reported = mistake(divides, handler)
    assert reported.startswith(place + "ZeroDivisionError: integer division or modulo by zero\n  ")
    assert re.findall(r", in (\w+): ", reported.partition("\n")[2]) == ["on", "divides"]
    assert "pycontrol/node.py" not in reported


@pytest.mark.parametrize(
    ("does", "reported"),
    [
        (lambda n: n.send(7, "x", 1), "send was given peer=7; allowed: a whole number, 0 to 2, or EVERYONE"),
        (lambda n: (setattr(n, "id", 9), n.send(0, "x", 1)), "self.id was changed from 2 to 9; give the attribute"),
        (lambda n: (setattr(n, "id", -1), n.set_timer("t", 1)), "self.id was changed from 2 to -1; give the attribute"),
        (lambda n: n.send(None, "x", 1), "send was given peer=None; allowed: a whole number"),
        (lambda n: n.send(1, "x", -1), "send was given size_bytes=-1; allowed: a whole number, 0 to 2147483647"),
        (lambda n: n.send(1, "x", 1 << 31), "send was given size_bytes=2147483648; allowed"),
        (lambda n: n.send(1, "x", 1.5), "send was given size_bytes=1.5; allowed"),
        (lambda n: n.send(1, "x", math.nan), "send was given size_bytes=nan; allowed"),
        (lambda n: n.send(1, "x", 1, interface=9), "send was given interface=9; allowed: a whole number, 0 to 2"),
        (lambda n: n.send(1, "x", 1, topic=16), "send was given topic=16; allowed: a whole number, 0 to 15"),
        (lambda n: n.set_timer("t", 0.5), "set_timer was given delay_ps=0.5; allowed: a whole number, 0 to"),
        (lambda n: n.set_timer("t", None), "set_timer was given delay_ps=None; allowed"),
        (lambda n: n.set_timer("t", math.nan), "set_timer was given delay_ps=nan; allowed"),
        (lambda n: n.set_timer("t", -1), "set_timer was given delay_ps=-1; allowed: a whole number, 0 to"),
        (lambda n: n.set_timer("t", 1 << 62), "set_timer was given delay_ps=4611686018427387904; allowed"),
        (lambda n: n.set_timer(["a", 1], 5), "a timer was given key=['a', 1]; allowed: a possible key of a dict"),
        (lambda n: n.cancel_timer({}), "a timer was given key={}; allowed: a possible key of a dict"),
        (lambda n: n.deliver(99), "deliver was given message=99; allowed"),
        (lambda n: n.deliver("news"), "deliver was given message='news'; allowed"),
        (lambda n: n.recover(1_000_000), "recover was given node=1000000; allowed: a whole number, 0 to 2"),
        (
            lambda n: n.declare_lookahead(1, -5),
            "declare_lookahead was given lookahead_ps=-5; allowed: a whole number, 0 to",
        ),
        (lambda n: n.record("x", None), "record was given value=None; allowed: a number"),
        (lambda n: n.record(5, 1.0), "record was given name=5; allowed: a string"),
        (lambda n: n.record("x", "3"), "record was given value='3'; allowed: a number"),
        (lambda n: n.record("x", b"3"), "record was given value=b'3'; allowed: a number"),
        (lambda n: n.record("x", True), "record was given value=True; allowed: a number"),
        (lambda n: n.record("x", np.bool_(True)), "record was given value="),
        (lambda n: n.crash(True), "crash was given node=True; allowed: a whole number"),
        (lambda n: (n.new_message(), n.deliver(True)), "deliver was given message=True; allowed: a whole number"),
        (lambda n: n.send(True, "x", 1), "send was given peer=True; allowed: a whole number"),
        (lambda n: n.send(1, "x", True), "send was given size_bytes=True; allowed: a whole number"),
        (lambda n: n.send(1, "x", 1, interface=False), "send was given interface=False; allowed: a whole number"),
        (lambda n: n.set_timer("t", True), "set_timer was given delay_ps=True; allowed: a whole number"),
        (lambda n: n.declare_lookahead(True), "declare_lookahead was given topic=True; allowed: a whole number"),
        (
            lambda n: n.declare_lookahead(1, True),
            "declare_lookahead was given lookahead_ps=True; allowed: a whole number",
        ),
        (lambda n: n.move(True, 0, 1), "move: only hosts of a MobileNetwork can move, not nodes of"),
        (lambda n: n.call_begins("reed", "k"), "call_begins was given what='reed'; allowed: 'read', 'write' or 'cas'"),
    ],
)
def test_a_wrong_argument_of_a_service_is_reported_with_the_allowed_values(does: Any, reported: str) -> None:
    said = mistake(does)
    assert said.startswith("node 2, at 0.001 s, in on_broadcast(number=0, size_bytes=100): " + reported)
    assert said.count("\n") == 2  # the handler, and the line of this list


def test_integers_of_numpy_are_accepted() -> None:
    class Good(Node):
        def on_broadcast(self, number, size_bytes):
            self.deliver(np.int64(self.new_message()))
            self.send(np.int32(1), "x", np.int64(5))
            self.set_timer("t", np.int64(MS))
            self.record("x", np.float32(1.5))
            self.record("x", np.int64(2))
            self.record("x", Fraction(1, 2))
            self.recover(np.int8(0))

        def on_timer(self, key):
            pass

    assert run(PerNode(lambda _: Good(), 2)).events == 3


def test_a_handler_that_never_returns_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAUSEWAY_HANDLER_S", "0.4")

    def waits(node):
        while True:
            try:
                time.sleep(0.001)
            except Exception:
                continue

    reported = mistake(waits, "on_packet")
    assert reported.startswith("node 0, at 0.003 s, in on_packet(content=('news', 0), sender=2, interface=0): ")
    assert "has not returned for 0.4 s; allowed: CAUSEWAY_HANDLER_S=0.4 (seconds; 0: for ever)" in reported


@pytest.mark.slow
@pytest.mark.parametrize("asks", ["send", "set_timer", "keep"])
def test_a_handler_that_allocates_in_a_loop_does_not_take_all_memory(
    asks: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At each check the run has 30 MB more; a handler may take 100 of 400."""
    monkeypatch.setattr(memory, "available_bytes", lambda: 400 << 20)
    taken = itertools.count(0, 30 << 20)
    monkeypatch.setattr(memory, "run_bytes", lambda: next(taken))
    kept: list[bytes] = []

    def asks_for_ever(node: Node) -> None:
        for number in itertools.count():
            sum(range(20_000))  # it takes its time, not the machine's memory
            if asks == "send":
                node.send(1, "x", 10)
            elif asks == "set_timer":
                node.set_timer(number, MS)
            else:
                kept.append(bytes(1000))

    reported = mistake(asks_for_ever, "on_packet")
    assert re.search(
        r"in on_packet.*has not returned for \d+ s, and the run takes 0.1 GB; allowed: 0.1 GB, 25% of", reported
    )


@pytest.mark.slow
def test_a_protocol_of_columns_may_take_all_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: 1000 << 20)

    class Large(PerNode):
        def start(self, context):
            time.sleep(1.5)  # it is seen, and seen again
            self.large = b"x" * (400 << 20)
            time.sleep(1.5)
            super().start(context)

    assert run(Large(lambda _: Node(), 2)).events == 1


@pytest.mark.slow
def test_the_limit_does_not_apply_to_compiling(monkeypatch: pytest.MonkeyPatch) -> None:
    from numba.core.compiler_lock import global_compiler_lock

    monkeypatch.setenv("CAUSEWAY_HANDLER_S", "0.4")

    class Compiles(Node):
        def on_start(self):
            with global_compiler_lock:
                hold(1)

    assert run(PerNode(lambda _: Compiles(), 2)).events == 1


class Swapping(InlineEngine):
    """Passes packets for node 1 to node 0."""

    def open(self, spec):
        inner = super().open(spec)

        class Session:
            engine = engine_version = "swapping"
            answer, close = inner.answer, inner.close

            def next(self):
                window = inner.next()
                if not isinstance(window, Finish):
                    window.node = np.where(window.kind == int(Kind.ARRIVAL), 0, window.node).astype(np.int32)
                return window

        return Session()


def test_a_packet_that_comes_to_another_node_than_its_own_is_reported() -> None:
    class Sends(Node):
        def on_broadcast(self, number, size_bytes):
            self.send(1, "news", 10)

    script = Script(np.array([MS]), np.array([2]), np.array([100]))
    spec = RunSpec("test", {}, 1, AbstractNetwork(3, delay=constant_delay(1), workload=Workload(3, script=script)), MS)
    with pytest.raises(RunError, match="the engine delivers packet 0 to node 0, but it is for node 1"):
        run_protocol(Swapping(), spec, PerNode(lambda _: Sends(), 2), [])


@pytest.mark.slow
def test_each_handler_call_has_a_time_limit_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAUSEWAY_HANDLER_S", "0.4")

    class Slow(Node):
        def on_start(self):
            hold(0.3)

    assert run(PerNode(lambda _: Slow(), 2)).events == 1


def test_a_protocol_over_columns_is_reported_too() -> None:
    class Columns(Protocol):
        def on_window(self, window):
            raise KeyError("lost")

    with pytest.raises(ProtocolError, match=r"^Columns, at 0 s, in on_window\(window=0\): KeyError: 'lost'\n"):
        run(Columns())

    class Nothing(Protocol):
        def on_window(self, window):
            return None

    with pytest.raises(RunError, match=r"Nothing.on_window returned None; allowed: Actions"):
        run(Nothing())


def test_a_scalar_that_is_no_number_is_reported() -> None:
    class Odd(PerNode):
        def scalars(self):
            return {"mean": None}

    with pytest.raises(RunError, match=r"Odd.scalars\(\) has mean=None; allowed: numbers"):
        run(Odd(lambda _: Node(), 2))


def test_a_factory_that_makes_no_node_is_reported() -> None:
    with pytest.raises(ProtocolError, match=r"node 0, at 0 s, in make\(\): PerNode was given make\(id\)=None; allowed"):
        run(PerNode(lambda _: None))  # type: ignore[arg-type,return-value]


def refusal(kind: type[Node]) -> str:
    with pytest.raises((ProtocolError, UserError)) as error:
        run(PerNode(kind, 2))
    return str(error.value)


def test_a_misspelt_handler_is_named_with_the_right_name() -> None:
    class Slip(Node):
        def on_pakcet(self, content, sender, interface):
            pass

    assert refusal(Slip).startswith("Slip.on_pakcet is never called: no handler has this name; did you mean on_packet?")

    class Other(Node):
        def onBroadcast(self, number, size_bytes):
            pass

    assert "did you mean on_broadcast?" in refusal(Other)


def test_a_users_method_may_have_a_name_close_to_a_handlers() -> None:
    class Own(Node):
        def on_broadcast(self, number, size_bytes):
            self.on_state()
            self.on_vote()

        def on_state(self):
            """A method with a name close to `on_start` that is called."""
            self.called = ["on_state"]

        def on_vote(self):
            self.called.append("on_vote")

        def on_elected(self):
            """A method that is not called, with a name close to no handler."""

    outcome = run(protocol := PerNode(Own, 2))
    assert outcome.events == 1 and protocol.nodes[2].called == ["on_state", "on_vote"]


@pytest.mark.parametrize(
    ("name", "meant"),
    [("on_message", "on_packet"), ("on_receive", "on_packet"), ("on_crash", "on_down"), ("on_timeout", "on_timer")],
)
def test_a_handler_that_other_frameworks_name_otherwise_is_reported(name: str, meant: str) -> None:
    foreign = type("Foreign", (Node,), {name: lambda self, *given: None})
    assert refusal(foreign).startswith(
        f"Foreign.{name} is never called: no handler has this name; did you mean {meant}?"
    )


def test_a_name_of_another_framework_is_allowed_beside_the_handler() -> None:
    class Own(Node):
        def on_packet(self, content, sender, interface):
            pass

        def on_message(self, content):
            """A method that other code calls, such as the study."""

    assert run(PerNode(Own, 2)).events == 1


def test_a_handler_that_would_not_run_when_it_is_called_is_reported() -> None:
    class Yields(Node):
        def on_broadcast(self, number, size_bytes):
            yield number

    class Awaits(Node):
        async def on_packet(self, content, sender, interface):
            pass

    assert refusal(Yields).startswith("Yields.on_broadcast is a generator function (it has a yield), whose body is")
    assert refusal(Awaits).startswith("Awaits.on_packet is a coroutine function (async def), whose body is")
    assert "Programs" in refusal(Awaits)


@pytest.mark.parametrize("name", ["deliver", "send", "broadcast", "set_timer", "now_ps", "record", "left", "rng"])
def test_a_method_of_ones_own_that_hides_a_service_is_reported(name: str) -> None:
    hiding = type("Hiding", (Node,), {name: lambda self, *given: None})
    assert refusal(hiding).startswith(f"Hiding.{name} hides Node.{name}, a service of every node; give it another name")


def test_an_error_without_text_still_names_its_node() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise ValueError("no words")

    class Fails(Node):
        def on_broadcast(self, number, size_bytes):
            raise Mute

    reported = refusal(Fails)
    assert "in on_broadcast(number=0, size_bytes=100): Mute: <Mute whose str raises ValueError>" in reported


def test_a_timer_without_a_handler_is_reported() -> None:
    class Deaf(Node):
        def on_broadcast(self, number, size_bytes):
            self.set_timer("soon", MS)

    reported = refusal(Deaf)
    assert reported.startswith(
        "node 2, at 0.003 s, in on_timer(key='soon'): a timer of Deaf is due, but Deaf has no on_timer"
    )


@pytest.mark.parametrize("does", [lambda n: n.send(0, "x", 1), lambda n: n.now_ps, lambda n: n.set_timer("t", 1)])
def test_services_in_init_are_reported_with_where_they_work(does: Any) -> None:
    class Hasty(Node):
        def __init__(self) -> None:
            super().__init__()
            does(self)

    reported = refusal(Hasty)
    assert reported.startswith("node 0, at 0 s, in make(): ")
    assert "is used in __init__" in reported and "on_start(self)" in reported


@pytest.mark.parametrize(
    ("scalars", "reported"),
    [
        (lambda: [1, 2], "Odd.scalars() returned [1, 2]; allowed: a dict of names and numbers"),
        (lambda: None, "Odd.scalars() returned None; allowed: a dict of names and numbers"),
        (lambda: {"x": "much"}, "Odd.scalars() has x='much'; allowed: numbers"),
        (lambda: {3: 1.0}, "Odd.scalars() has a name 3; allowed: strings"),
        (lambda: {"x": "3"}, "Odd.scalars() has x='3'; allowed: numbers"),
    ],
)
def test_scalars_of_another_type_are_reported(scalars: Any, reported: str) -> None:
    class Odd(PerNode):
        def scalars(self):
            return scalars()

    with pytest.raises(RunError, match=re.escape(reported)):
        run(Odd(Node, 2))


def test_one_node_for_several_ids_is_reported() -> None:
    alone = Node()
    with pytest.raises(ProtocolError, match=r"PerNode was given make\(id\)=.*; allowed: a new Node each time"):
        run(PerNode(lambda _: alone))


def test_a_node_or_a_protocol_of_an_earlier_run_is_reported() -> None:
    """Its memory of the first run would change the numbers of the second."""
    kept = [Node() for _ in range(3)]
    run(PerNode(lambda id_: kept[id_]))
    with pytest.raises(ProtocolError, match=r"a new Node each time; this one is already node 0"):
        run(PerNode(lambda id_: kept[id_]))
    protocol = PerNode(lambda _: Node())
    run(protocol)
    with pytest.raises(ProtocolError, match="this PerNode has already been used in a run; a study's"):
        run(protocol)
