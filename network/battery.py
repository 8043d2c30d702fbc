"""Batteries of nodes, as a linear model: power while a node is up and while it moves, energy for each packet.

    AbstractNetwork(50, battery=Battery(10.0, idle_w=0.05, send_j=0.002, receive_j=0.001))

When a node's battery is empty, it fails one reaction time later. A packet that its battery cannot pay is neither sent
nor received, and takes what is left. `pycontrol/batteries.py` keeps the accounts.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, fields

from causeway.errors import UserError
from causeway.network.field_shapes import MOST_NODES, WHOLE, checked_arguments, is_number

MOST = 1e12
"""The most joules or watts."""
SHORTEST_SERIES_PS = 10**9
"""A millisecond. At picoseconds a run would never end."""
LEAST_W, LEAST_J = 1e-12, 1e-24
"""The units of the accounts (`pycontrol/batteries.py`). Less than one would be drawn as nothing."""


@checked_arguments
@dataclass(frozen=True)
class Battery:
    """A battery and what draws on it: `Battery(500.0, idle_w=0.1, send_j_per_byte=2e-6)`."""

    capacity_j: float
    """The energy in the battery at the beginning, in joules."""
    _: KW_ONLY
    idle_w: float = 0.0
    """The power that the node draws while it is up, in watts. A node adds more with `self.battery.load_w`."""
    send_j: float = 0.0
    """The energy for each packet that it sends."""
    send_j_per_byte: float = 0.0
    """The energy for each byte of such a packet, as the protocol gives its size."""
    receive_j: float = 0.0
    """The energy for each packet that it receives."""
    receive_j_per_byte: float = 0.0
    move_w: float = 0.0
    """The power of the motors while the node moves. It moves if two successive reports of its position
    (`position_every_ps`) differ, and pays at the second one for the time between them."""
    move_j_per_m: float = 0.0
    """The energy for each metre of such a way, which is the watts for each m/s."""
    series_every_ps: int = 0
    """The interval at which the joules used are recorded, as a time series of the node; 0: never."""

    def __post_init__(self) -> None:
        for name in (one.name for one in fields(self) if one.name != "series_every_ps"):
            value = getattr(self, name)
            if not is_number(value) or not 0 <= value <= MOST or (name == "capacity_j" and value == 0):  # NaN, too
                least = "a number above 0" if name == "capacity_j" else "a number, 0 and up"
                raise UserError(f"Battery: {name} is {value!r}; allowed: {least} (at most {MOST:g})")
            unit = LEAST_W if name in ("idle_w", "move_w") else LEAST_J
            if 0 < value < unit:
                raise UserError(f"Battery: {name} is {value!r}; allowed: {unit:g} and up, the unit of the accounts")
        every_ps = self.series_every_ps
        if not WHOLE.fits(every_ps) or not (every_ps == 0 or every_ps >= SHORTEST_SERIES_PS):
            allowed = "0 (never), or a millisecond and up, as in seconds(1)"
            raise UserError(f"Battery: series_every_ps is {every_ps!r}; allowed: {allowed}")


Batteries = Battery | tuple[Battery | None, ...] | None


def batteries_by_node(network: object, wanted: object, nodes: range) -> dict[int, Battery]:
    """Return the batteries of the nodes that can have one.

    Raises:
        UserError: `wanted` is neither a battery nor one for each node.
    """
    if wanted is None:
        return {}
    if nodes.stop > MOST_NODES:
        raise UserError(f"{type(network).__name__}: {nodes.stop:,} nodes; allowed: up to {MOST_NODES:,}")
    each = wanted if isinstance(wanted, tuple | list) else (wanted,) * len(nodes)
    if len(each) != len(nodes) or not all(one is None or isinstance(one, Battery) for one in each):
        raise UserError(
            f"{type(network).__name__}: battery is {wanted!r}; allowed: a Battery, as in Battery(10.0, idle_w=0.1), or "
            f"a tuple with a Battery or None for each of its {len(nodes)} nodes or hosts"
        )
    return {node: one for node, one in zip(nodes, each, strict=True) if one is not None}
