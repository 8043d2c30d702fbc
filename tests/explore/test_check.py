"""Models: violations are found and shrunk, right protocols pass, and an exhaustive search covers every schedule."""

from __future__ import annotations

from itertools import permutations

import pytest

from causeway.explore import exhaustive, properties, schedule_page, schedules
from causeway.explore.model import Budget, Model
from causeway.explore.properties import Rules
from causeway.pycontrol.node import EVERYONE, Node, PerNode
from causeway.pycontrol.protocols.clocks.node import VectorProcesses

ARRIVES = Rules((properties.everything_arrives,))
NOTHING = Rules()


class Flood(Node):
    """Delivers at once: no order at all."""

    def on_broadcast(self, number, size_bytes):
        message = self.new_message()
        self.deliver(message)
        self.send(EVERYONE, message, size_bytes)

    def on_packet(self, content, sender, interface):
        self.deliver(content)


class Repeats(Flood):
    """Sends once more after a while; delivers what it has delivered."""

    def on_broadcast(self, number, size_bytes):
        super().on_broadcast(number, size_bytes)
        self.set_timer("again", 1000)

    def on_timer(self, key):
        self.send(EVERYONE, 0, 100)


class Forgets(Node):
    """Delivers a message unless it was down when it was sent: nothing is sent again."""

    on_broadcast, on_packet = Flood.on_broadcast, Flood.on_packet


def model(make=Flood, nodes: int = 3, watched=(properties.once, properties.causal_order), **budget) -> Model:
    protocol = make() if isinstance(make, type) and issubclass(make, PerNode) else PerNode(make)
    return Model(protocol, nodes, Budget(**budget), watched=watched)


def search(make, rules=ARRIVES, tries: int = 400) -> schedules.Verdict:
    return schedules.search(make, rules, tries, 60.0, 1)


# ---- random schedules -----------------------------------------------------------------------------------------------


def test_a_protocol_without_order_is_caught_and_its_example_is_as_short_as_it_can_be() -> None:
    found = search(lambda: model(broadcasts=5))
    assert found.broken is not None and found.broken.startswith("causal order: ")
    # two broadcasts, of which one node hears the second first: three choices are the least that breaks it
    assert len(found.plan) == 3


def test_a_counterexample_is_the_same_whenever_it_is_followed() -> None:
    found = search(lambda: model(broadcasts=5))
    for _ in range(2):
        again = model(broadcasts=5)
        assert schedules.follow(again, found.plan, ARRIVES) == found.broken
        assert len(again.log) == found.steps


def test_vector_clocks_pass() -> None:
    found = search(lambda: model(VectorProcesses, broadcasts=4))
    assert found.broken is None
    assert found.tried >= 400


def test_vector_clocks_over_a_lossy_channel_keep_the_order_but_lose_messages() -> None:
    def make() -> Model:
        return model(VectorProcesses, broadcasts=3, losses=1)

    assert search(make, NOTHING).broken is None
    found = search(make)
    assert found.broken is not None and found.broken.startswith("everything arrives: ")


def test_a_message_that_is_sent_twice_and_delivered_twice_is_a_duplicate() -> None:
    found = search(lambda: model(Repeats, broadcasts=1))
    assert found.broken == "no duplicates: node 1 delivers message 0 twice"


def test_only_nodes_that_did_not_fail_are_owed_messages() -> None:
    assert search(lambda: model(Forgets, broadcasts=1, crashes=1)).broken is None
    found = search(lambda: model(Forgets, broadcasts=1, losses=1))
    assert found.broken is not None


@pytest.mark.parametrize(("property_", "expected"), [("fifo", "FIFO order"), ("causal", "causal order")])
def test_each_property_on_delivery_is_found_by_itself(property_: str, expected: str) -> None:
    found = search(lambda: model(watched=(properties.ON_DELIVERY[property_],), broadcasts=3), NOTHING)
    assert found.broken is not None and found.broken.startswith(expected)


def test_vector_clocks_have_no_total_order() -> None:
    found = search(lambda: model(VectorProcesses, broadcasts=2), Rules((properties.total_order,)))
    assert found.broken is not None and found.broken.startswith("total order: ")


def test_a_property_of_the_users_own_is_checked_after_every_event() -> None:
    rules = Rules(always=(lambda w: "two on their way" if len(w.flying) > 2 else None,))
    found = search(lambda: model(broadcasts=2), rules)
    assert found.broken == "two on their way"


# ---- every order ----------------------------------------------------------------------------------------------------


def test_every_schedule_of_independent_messages_is_every_schedule_of_their_arrivals() -> None:
    class Log(Node):
        def on_start(self):
            self.heard = []
            if self.id > 0:
                self.send(0, self.id, 10)

        def on_packet(self, content, sender, interface):
            self.heard.append(content)
            ends.add(tuple(self.heard)) if len(self.heard) == 3 else None

    ends: set[tuple[int, ...]] = set()
    covered = exhaustive.search_exhaustively(lambda: model(Log, 4, broadcasts=0), NOTHING, 10**4, 60.0)
    assert covered.complete
    assert ends == set(permutations((1, 2, 3)))
    # the states are what node 0 has heard: 1 + 3 + 6 + 6
    assert covered.states == 16


def test_every_schedule_of_two_causal_broadcasts_is_right_and_complete() -> None:
    covered = exhaustive.search_exhaustively(lambda: model(VectorProcesses, broadcasts=2), ARRIVES, 10**5, 120.0)
    assert covered.broken is None
    assert covered.complete


def test_every_schedule_finds_the_shortest_order_that_breaks() -> None:
    covered = exhaustive.search_exhaustively(lambda: model(broadcasts=3), ARRIVES, 10**5, 60.0)
    assert covered.broken is not None and len(covered.plan) == 3
    assert schedules.follow(model(broadcasts=3), covered.plan, ARRIVES) == covered.broken


def test_an_incomplete_search_reports_that() -> None:
    covered = exhaustive.search_exhaustively(lambda: model(VectorProcesses, broadcasts=3), ARRIVES, 20, 60.0)
    assert not covered.complete


# ---- descriptions ---------------------------------------------------------------------------------------------------


def test_the_description_names_every_event_and_the_page_is_self_contained() -> None:
    small = model(broadcasts=2, losses=1)
    for what in ("broadcast", "loss", "packet"):
        small.do(next(c for c in small.choices() if c.what == what))
    words = schedule_page.describe_events(small.log, "everything arrives: node 1 never delivers message 0")
    assert [line.split("  ")[-1] for line in words[:2]] == ["broadcasts message 0", "delivers message 0"]
    assert any("is lost" in line for line in words)
    page = schedule_page.page(small.whole_log, 3, "node 1 <never> delivers message 0", "a title")
    assert "&lt;never&gt;" in page and "<never>" not in page
    assert page.count('stroke-dasharray="4 3"') == 1, "one lost copy"
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")
