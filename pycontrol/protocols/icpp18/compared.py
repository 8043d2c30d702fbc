"""What aggregation changes (icpp18, Figures 7 and 8): a run, and the same scenario again without aggregation.

The same nodes broadcast at the same times. Figure 7 compares all copies of messages, Figure 8 those that came in
packets of two with the same copies sent alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from causeway.pycontrol.protocols.icpp18.columns import CausalAggregation, Wire
from causeway.pycontrol.protocols.icpp18.state import State

PAIR = 2
FIGURE_6 = (1, 5, 10, 13)
"""The dependencies from which its classes begin."""


class Compared(CausalAggregation):
    """Aggregation, and when the run is over the same without it."""

    def __init__(
        self, per_node: int, single_tree: bool, wire: Wire, without: Callable[[int], CausalAggregation]
    ) -> None:
        """`without(seed)` runs the scenario without aggregation, its times kept."""
        super().__init__(per_node, True, single_tree, wire, keep_times=True)
        self.without = without

    def scalars(self) -> Mapping[str, float]:
        return {**super().scalars(), **compare(self._s, self.without(self.context.seed)._s)}


def compare(with_: State, without: State) -> dict[str, float]:
    """How much the mean latencies change, in percent: of all copies that packets brought, and of those in pairs."""
    company = with_.kept["company"]
    pairs = company == PAIR
    return {
        "pairs": float(pairs.sum()) / PAIR,
        **_changes("", company > 0, with_, without),
        **_changes("pair_", pairs, with_, without),
        **_queues(_queue_ps(with_), _queue_ps(without)),
        "dependencies_change": float(np.abs(_shares(with_) - _shares(without)).max()),
    }


def _shares(s: State) -> NDArray[np.float64]:
    """Figure 6: the share of messages with none, 1 to 4, 5 to 9, 10 to 12 and more dependencies, in percent."""
    dependencies = s.entries[s.entries > 0] - 1
    counts = np.bincount(np.digitize(dependencies, FIGURE_6), minlength=len(FIGURE_6) + 1)
    return 100 * counts / max(1, len(dependencies))


def _queue_ps(s: State) -> float:
    """Mean wait of a packet for the sender's CPU."""
    return float(s.counts["queue_ps"][0]) / max(1.0, float(s.counts["packets"][0]))


def _queues(with_ps: float, without_ps: float) -> dict[str, float]:
    """How much longer packets wait to be sent without aggregation, in percent."""
    return {"queue_wait_longer": 100 * (without_ps / with_ps - 1)} if with_ps else {}


def _changes(what: str, which: NDArray[np.bool_], with_: State, without: State) -> dict[str, float]:
    """Nothing is said of means that do not exist: no such copies, or none that waits without aggregation."""
    if not which.any():
        return {}
    came, delivered = _means(which, with_)
    came_alone, delivered_alone = _means(which, without)
    changes = {
        f"{what}reception_change": 100 * (came / came_alone - 1),
        f"{what}delivery_change": 100 * (delivered / delivered_alone - 1),
    }
    if delivered_alone > came_alone:
        changes[f"{what}wait_change"] = 100 * ((delivered - came) / (delivered_alone - came_alone) - 1)
    return changes


def _means(which: NDArray[np.bool_], s: State) -> tuple[float, float]:
    """Mean reception and delivery latency, in ps, of some copies (node, slot)."""
    born_ps = s.born_ps[np.nonzero(which)[1]]
    kept = s.kept[which]
    return float((kept["came_ps"] - born_ps).mean()), float((kept["delivered_ps"] - born_ps).mean())
