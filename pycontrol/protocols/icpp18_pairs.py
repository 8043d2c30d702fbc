"""What aggregation does to messages that travel in pairs (icpp18, Figure 8).

Every copy of a message that came in a packet of two is compared with the same copy in the same scenario without
aggregation: the same nodes broadcast at the same times.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from pycontrol.protocols.icpp18 import CausalAggregation, Wire
from pycontrol.protocols.icpp18_kernel import State

PAIR = 2


class PairsCompared(CausalAggregation):
    """Aggregation, and when the run is over the same without it."""

    def __init__(
        self, per_node: int, single_tree: bool, wire: Wire, without: Callable[[int], CausalAggregation]
    ) -> None:
        """`without(seed)` runs the scenario without aggregation, its times kept."""
        super().__init__(per_node, True, single_tree, wire, keep_times=True)
        self.without = without

    def scalars(self) -> Mapping[str, float]:
        alone = self.without(self.context.seed)
        return {**super().scalars(), **compare_pairs(self._s, alone._s)}


def compare_pairs(with_: State, without: State) -> dict[str, float]:
    """Mean latencies in ps of the copies that came in pairs, and of the same copies alone; changes in percent."""
    node, slot = np.nonzero(with_.company == PAIR)
    if len(node) == 0:
        return {"pairs": 0.0}
    came, delivered = (
        float((times[node, slot] - with_.born_ps[slot]).mean()) for times in (with_.came_ps, with_.delivered_ps)
    )
    came_alone, delivered_alone = (
        float((times[node, slot] - without.born_ps[slot]).mean()) for times in (without.came_ps, without.delivered_ps)
    )
    scalars = {
        "pairs": len(node) / PAIR,
        "pair_reception_latency_ps": came,
        "pair_delivery_latency_ps": delivered,
        "alone_reception_latency_ps": came_alone,
        "alone_delivery_latency_ps": delivered_alone,
        "pair_reception_change": 100 * (came / came_alone - 1),
        "pair_delivery_change": 100 * (delivered / delivered_alone - 1),
    }
    if delivered_alone > came_alone:
        scalars["pair_held_change"] = 100 * ((delivered - came) / (delivered_alone - came_alone) - 1)
    return scalars
