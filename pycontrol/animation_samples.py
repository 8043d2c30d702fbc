"""Record a run for its animation: positions, packets, losses and states of nodes, and faults of the network.

The engine reports PLACE events if the network sets `places_every_ps`. They are removed from the windows here, so no
protocol sees them, and the digest equals that of a run without them. Nodes of an abstract network stand, so no engine
knows their positions. The records become time series of the modules
`place[i]`, one for each node, and `trouble[i]`, one for each fault. `causeway.analysis.animation` draws them.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causeway.bridge.events import EVENT, Act, Actions, Kind, Window, column
from causeway.network.faults import Jammer, LinkFailure, Partition
from causeway.network.movement import xyz
from causeway.network.networks import WIRELESS, AbstractNetwork, InetNetwork, MobileNetwork, Network
from causeway.pycontrol.overload import check_recorded
from causeway.pycontrol.presence import first_comings

PLACE, SEND = int(Kind.PLACE), int(Act.SEND)
REPORTED = (int(Kind.LOST), int(Kind.STATION), int(Kind.NODE))
NAMES = {int(Kind.LOST): "lost", int(Kind.STATION): "at", int(Kind.NODE): "up"}
Series = dict[tuple[str, str], tuple[list[int], list[float]]]
LEAST = {name: EVENT[name] for name in EVENT.names or ()}


def wanted(network: Network) -> bool:
    """Return whether runs on this network are recorded for an animation."""
    return network.places_every_ps > 0


class Places:
    """The recorder of one run. It sees every window before the protocol does, and every answer after it."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self._places: list[tuple[NDArray[Any], ...]] = []
        self._reported: list[tuple[NDArray[Any], ...]] = []
        self._sent: list[tuple[NDArray[Any], ...]] = []
        self._rows = 0

    def take(self, window: Window) -> Window:
        """Record a window and return it without its PLACE events.

        Raises:
            RunError: The records need too much memory.
        """
        if not len(window):
            return window
        kind = window.kind
        shown = np.isin(kind, REPORTED) & (window.node >= 0)
        if shown.any():
            self._count(shown, window.end_ps)
            self._reported.append((kind[shown], window.time_ps[shown], window.node[shown], window.arg[shown]))
        place = kind == PLACE
        if not place.any():
            return window
        self._count(place, window.end_ps)
        ref = window.ref[place]
        y_mm = (ref & 0xFFFFFFFF).astype(np.uint32).astype(np.int32)
        z_mm = np.zeros(len(ref), np.int32) if window.z_mm is None else window.z_mm[place]
        self._places.append((window.time_ps[place], window.node[place], (ref >> 32).astype(np.int64), y_mm, z_mm))
        columns = {name: getattr(window, name) for name in LEAST}
        kept = {name: None if has is None else np.ascontiguousarray(has[~place]) for name, has in columns.items()}
        return Window(window.number, window.end_ps, window.reply, **kept)

    def record_sends(self, actions: Actions) -> None:
        """Record the packets that nodes send by radio, or on an abstract network."""
        if not len(actions):
            return
        by_radio = (column(actions, "kind") == SEND) & (column(actions, "interface") == WIRELESS)
        if by_radio.any():
            names = ("time_ps", "node", "peer", "size_bytes")
            self._count(by_radio, int(column(actions, "time_ps")[0]))
            self._sent.append(tuple(np.array(column(actions, name)[by_radio]) for name in names))

    def _count(self, chosen: NDArray[np.bool_], now_ps: int) -> None:
        self._rows += int(np.count_nonzero(chosen))
        check_recorded(self._rows, now_ps)

    def samples(self) -> Series:
        """Return the records as time series."""
        found: Series = defaultdict(lambda: ([], []))
        self._add_places(found)
        for kind, time_ps, node, arg in self._reported:
            for k, t, n, a in zip(kind.tolist(), time_ps.tolist(), node.tolist(), arg.tolist(), strict=True):
                _add(found, f"place[{n}]", NAMES[k], t, a)
        for time_ps, node, peer, size in self._sent:
            for t, n, p, s in zip(time_ps.tolist(), node.tolist(), peer.tolist(), size.tolist(), strict=True):
                _add(found, f"place[{n}]", "told" if p < 0 else "sent", t, s if p < 0 else p)
        if isinstance(self.network, MobileNetwork):
            _add_network(found, self.network)
        elif isinstance(self.network, AbstractNetwork):
            _add_map(found, self.network)
        if not isinstance(self.network, InetNetwork):
            _add_faults(found, self.network)
        for later in first_comings(self.network):
            _add(found, f"place[{later}]", "comes", 0, 1)
        return dict(found)

    def _add_places(self, found: Series) -> None:
        """Add the nodes' positions, with heights if a node has one.

        Of a time without movement, only the first and the last instant are kept.
        """
        if not self._places:
            return
        time_ps, node, *axes = (np.concatenate(part) for part in zip(*self._places, strict=True))
        axes = axes if axes[2].any() else axes[:2]
        order = np.argsort(node, kind="stable")
        borders = np.flatnonzero(np.diff(node[order])) + 1
        for rows in np.split(order, borders):
            stays = np.all([np.diff(axis[rows]) == 0 for axis in axes], axis=0)
            needed = np.ones(len(rows), bool)
            needed[1:-1] = ~(stays[:-1] & stays[1:])
            rows = rows[needed]
            module, times = f"place[{int(node[rows[0]])}]", time_ps[rows].tolist()
            for name, axis in zip(("x_m", "y_m", "z_m"), axes, strict=False):
                found[module, name] = (list(times), (axis[rows] / 1000).tolist())


def _add(found: Series, module: str, name: str, time_ps: int, value: float) -> None:
    times, values = found[module, name]
    times.append(int(time_ps))
    values.append(float(value))


def _add_network(found: Series, network: MobileNetwork) -> None:
    stations = len(network.station_xy_mm)
    for node in range(network.nodes):
        _add(found, f"place[{node}]", "station" if node < stations else "host", 0, network.cell_radius_mm / 1000)
    for a, b in network.wires:
        _add(found, f"place[{a}]", "wired_to", 0, b)
    for host, trace in enumerate(network.traces):
        for time_ps, *place in [] if trace is None else trace.tolist():
            for name, value in zip(("trace_x_m", "trace_y_m", "trace_z_m"), place, strict=False):
                _add(found, f"place[{stations + host}]", name, time_ps, value / 1000)


def _add_map(found: Series, network: AbstractNetwork) -> None:
    """Add the positions of nodes that stand, with heights if a node has one."""
    axes = "xyz" if any(z for *_, z in map(xyz, network.node_xy_mm)) else "xy"
    for node, place in enumerate(network.node_xy_mm):
        for axis, value in zip(axes, xyz(place), strict=False):
            _add(found, f"place[{node}]", f"{axis}_m", 0, value / 1000)


def _add_faults(found: Series, network: AbstractNetwork | MobileNetwork) -> None:
    for number, one in enumerate(network.network_faults):
        module = f"trouble[{number}]"
        match one:
            case LinkFailure(a, b):
                facts: dict[str, list[Any]] = {"cut": [a, b]}
            case Jammer(x_mm, y_mm, radius_mm):
                height = [one.z_mm / 1000] if one.z_mm else []
                facts = {"jammer": [x_mm / 1000, y_mm / 1000, radius_mm / 1000, *height]}
            case Partition(first, second):
                facts = {"one": list(first), "other": list(second)}
        for name, values in facts.items():
            for value in values:
                _add(found, module, name, one.from_ps, value)
        _add(found, module, "until", one.to_ps, 0)
