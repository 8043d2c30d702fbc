"""Lines of icpp18 as printed or broken, as in its tests."""

from __future__ import annotations

from typing import Any

import pytest

from causeway.pycontrol.protocols.icpp18.node import CausalNode, first_child


def no_first_cluster(m: pytest.MonkeyPatch) -> None:
    real = CausalNode.children_of
    m.setattr(CausalNode, "children_of", lambda self, s: [k for k in real(self, s) if k != first_child(self.i, 1)])


def smaller_than_its_own_entry(m: pytest.MonkeyPatch) -> None:
    real = CausalNode.deliverable

    def deliverable(self: Any, message: Any) -> bool:
        return real(self, message) and all(x <= y for x, y in zip(message.vc, self.vector_clock, strict=True))

    m.setattr(CausalNode, "deliverable", deliverable)


def eager(m: pytest.MonkeyPatch) -> None:
    m.setattr(CausalNode, "deliverable", lambda self, one: one.vc[one.s] == self.vector_clock[one.s] + 1)


def waits_for_others(m: pytest.MonkeyPatch) -> None:
    real = CausalNode.check_agg

    def check_agg(self: Any, k: int, one: Any) -> list[Any]:
        return [o for o in real(self, k, one) if all(a <= b for a, b in zip(o.vc, self.vector_max, strict=True))]

    m.setattr(CausalNode, "check_agg", check_agg)


def sends_twice(m: pytest.MonkeyPatch) -> None:
    """Without the first condition of line 26."""
    real = CausalNode.check_agg

    def check_agg(self: Any, k: int, one: Any) -> list[Any]:
        return real(self, k, type(one)(one.s, (0,) * self.nodes, one.number, one.size_bytes))

    m.setattr(CausalNode, "check_agg", check_agg)
