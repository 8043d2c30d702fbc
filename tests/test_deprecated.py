"""Former names of public things work for one release, and warn."""

from __future__ import annotations

import inspect

import pytest

import causeway
from causeway import AbstractNetwork, Checks, LinkFailure, Node, Workload, constant_delay, deprecated
from causeway.errors import UserError
from tests.helpers.small_runs import small_run


@pytest.mark.parametrize(("old", "new"), deprecated.NAMES.items())
def test_a_former_name_returns_the_present_object_and_warns(old: str, new: str) -> None:
    with pytest.warns(DeprecationWarning, match=f"{old} is deprecated and goes with the next release; write {new}"):
        assert getattr(causeway, old) is getattr(causeway, new)
    assert old not in causeway.__all__


def test_former_arguments_of_networks_and_checks_are_taken() -> None:
    cut = LinkFailure(0, 1, 0, 5)
    with pytest.warns(DeprecationWarning, match=r"AbstractNetwork\(trouble=...\) .* write network_faults=..."):
        assert AbstractNetwork(2, trouble=(cut,)).network_faults == (cut,)  # type: ignore[call-arg]
    with pytest.warns(DeprecationWarning, match=r"positional arguments .* write them by name: delay=, workload="):
        network = AbstractNetwork(2, constant_delay(1), Workload(1))  # type: ignore[call-arg,misc]
    assert (network.delay[0], network.workload.nodes) == (1_000_000, 1)
    with pytest.warns(DeprecationWarning, match="symmetric"):
        assert Checks(alike=True).symmetric  # type: ignore[call-arg]
    with pytest.raises(UserError, match="nonsense"):
        Checks(nonsense=True)  # type: ignore[call-arg]
    assert "network_faults" in inspect.signature(AbstractNetwork).parameters


def test_a_node_declares_lookahead_under_the_former_names() -> None:
    declared = []

    node = Node()
    node.id = 3

    class Host:
        acting = node

        def declare_lookahead(self, *what: int) -> None:
            declared.append(what)

    node.runtime = Host()  # type: ignore[assignment]
    with pytest.warns(DeprecationWarning, match="write declare_lookahead"):
        node.patient(2, 500)
    with pytest.warns(DeprecationWarning, match="write unsubscribe"):
        node.ignore(4)
    assert declared == [(3, 2, 500), (3, 4, -1)]


def test_a_node_broadcasts_fails_and_finds_its_runtime_under_the_former_names() -> None:
    done: list[object] = []

    class Former(Node):
        def on_broadcast(self, number: int, size_bytes: int) -> None:
            with pytest.warns(DeprecationWarning, match=r"Node\.broadcast .* write new_message"):
                self.deliver(self.broadcast())
            with pytest.warns(DeprecationWarning, match=r"Node\.host .* write runtime") as warned:
                done.append(self.host is self.runtime)
            assert warned[0].filename == __file__
            with pytest.warns(DeprecationWarning, match=r"Node\.switch .* write crash or recover"):
                self.switch(0, False)

        def on_down(self) -> None:
            done.append(self.id)

    small_run(Former)
    assert done == [True, 0]
