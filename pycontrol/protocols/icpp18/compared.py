"""The effect of aggregation (icpp18, Figures 7 and 8): a run compared with the same scenario without aggregation.

In both runs the same nodes broadcast at the same times. Figure 7 compares all copies of messages; Figure 8 compares the
copies in packets of two messages with the same copies when sent alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from causeway.pycontrol.protocols.icpp18.state import Icpp18State
from causeway.pycontrol.protocols.icpp18.vectorized import CausalAggregation, Wire

PAIR = 2
FIGURE_6 = (1, 5, 10, 13)
"""The smallest number of dependencies in each of its classes."""


class Compared(CausalAggregation):
    """A run with aggregation, whose scalars include a comparison with a run without it."""

    def __init__(
        self, per_node: int, single_tree: bool, wire: Wire, without: Callable[[int], CausalAggregation]
    ) -> None:
        """Set the parameters of a run.

        Args:
            per_node: The maximum number of broadcasts of a node in the run.
            single_tree: Use the tree of one root for all messages.
            wire: The sizes on the wire.
            without: A function from a seed to the protocol of a finished run without aggregation, with times kept.
        """
        super().__init__(per_node, True, single_tree, wire, keep_times=True)
        self.without = without

    def scalars(self) -> Mapping[str, float]:
        """Return the scalars of the run, and the differences to the run without aggregation."""
        return {**super().scalars(), **compare(self._s, self.without(self.context.seed)._s)}


def compare(with_: Icpp18State, without: Icpp18State) -> dict[str, float]:
    """Return the changes of mean latencies in percent, for all copies that arrived and for those in pairs."""
    company = with_.kept["company"]
    pairs = company == PAIR
    return {
        "pairs": float(pairs.sum()) / PAIR,
        **_changes("", company > 0, with_, without),
        **_changes("pair_", pairs, with_, without),
        **_queues(_queue_ps(with_), _queue_ps(without)),
        "dependencies_change": float(np.abs(_shares(with_) - _shares(without)).max()),
    }


def _shares(s: Icpp18State) -> NDArray[np.float64]:
    """Return the percentages of messages with 0, 1 to 4, 5 to 9, 10 to 12 and more dependencies (Figure 6)."""
    dependencies = s.entries[s.entries > 0] - 1
    counts = np.bincount(np.digitize(dependencies, FIGURE_6), minlength=len(FIGURE_6) + 1)
    return 100 * counts / max(1, len(dependencies))


def _queue_ps(s: Icpp18State) -> float:
    """Return the mean time that a packet waits for the sender's CPU."""
    return float(s.counts["queue_ps"][0]) / max(1.0, float(s.counts["packets"][0]))


def _queues(with_ps: float, without_ps: float) -> dict[str, float]:
    """Return the increase of the waiting time without aggregation in percent; nothing if no packet waits."""
    return {"queue_wait_longer": 100 * (without_ps / with_ps - 1)} if with_ps else {}


def _changes(prefix: str, which: NDArray[np.bool_], with_: Icpp18State, without: Icpp18State) -> dict[str, float]:
    """Return the changes for some copies, except those of means that do not exist."""
    if not which.any():
        return {}
    received, delivered = _means(which, with_)
    received_alone, delivered_alone = _means(which, without)
    changes = {
        f"{prefix}reception_change": 100 * (received / received_alone - 1),
        f"{prefix}delivery_change": 100 * (delivered / delivered_alone - 1),
    }
    if delivered_alone > received_alone:
        changes[f"{prefix}wait_change"] = 100 * ((delivered - received) / (delivered_alone - received_alone) - 1)
    return changes


def _means(which: NDArray[np.bool_], s: Icpp18State) -> tuple[float, float]:
    """Return the mean reception and delivery latency of some copies (node, slot), in ps."""
    born_ps = s.born_ps[np.nonzero(which)[1]]
    kept = s.kept[which]
    return float((kept["came_ps"] - born_ps).mean()), float((kept["delivered_ps"] - born_ps).mean())
