"""What the moving picture of a run needs: where every node was, what it said on the air, what it lost, what went wrong.

The engine tells PLACE events where `places_every_ps` asks for them. They are taken out of the windows here: no protocol
sees them, and a run with them has the digest of the one without. All of it lands as series of the modules `place[i]`
(one for each node) and `trouble[i]`, for `causeway.analysis.moving`.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causeway.bridge.events import EVENT, Act, Actions, Kind, Window, column
from causeway.bridge.network import WIRELESS, InetNetwork, MobileNetwork, Network
from causeway.bridge.trouble import Cut, Jammer, Partition

PLACE, SEND = int(Kind.PLACE), int(Act.SEND)
TOLD = (int(Kind.LOST), int(Kind.STATION), int(Kind.NODE))
NAMES = {int(Kind.LOST): "lost", int(Kind.STATION): "at", int(Kind.NODE): "up"}
Series = dict[tuple[str, str], tuple[list[int], list[float]]]
LEAST = {name: EVENT[name] for name in EVENT.names or ()}


def wanted(network: Network) -> bool:
    """Whether the run is to be recorded so."""
    return isinstance(network, MobileNetwork | InetNetwork) and network.places_every_ps > 0


class Places:
    """Sees every window before the protocol, and every answer after it."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self._places: list[tuple[NDArray[Any], ...]] = []
        self._told: list[tuple[NDArray[Any], ...]] = []
        self._sent: list[tuple[NDArray[Any], ...]] = []

    def take(self, window: Window) -> Window:
        """The window without what is only for the record."""
        if not len(window):
            return window
        kind = window.kind
        told = np.isin(kind, TOLD) & (window.node >= 0)
        if told.any():
            self._told.append((kind[told], window.time_ps[told], window.node[told], window.arg[told]))
        place = kind == PLACE
        if not place.any():
            return window
        ref = window.ref[place]
        y_mm = (ref & 0xFFFFFFFF).astype(np.uint32).astype(np.int32)
        self._places.append((window.time_ps[place], window.node[place], (ref >> 32).astype(np.int64), y_mm))
        kept = {name: np.ascontiguousarray(getattr(window, name)[~place]) for name in LEAST}
        return Window(window.number, window.end_ps, window.reply, **kept)

    def acted(self, actions: Actions) -> None:
        """Keeps what is said on the air."""
        if not len(actions):
            return
        said = (column(actions, "kind") == SEND) & (column(actions, "interface") == WIRELESS)
        if said.any():
            names = ("time_ps", "node", "peer", "size_bytes")
            self._sent.append(tuple(np.array(column(actions, name)[said]) for name in names))

    def samples(self) -> Series:
        """All of it as series."""
        found: Series = defaultdict(lambda: ([], []))
        self._add_places(found)
        for kind, time_ps, node, arg in self._told:
            for k, t, n, a in zip(kind.tolist(), time_ps.tolist(), node.tolist(), arg.tolist(), strict=True):
                _add(found, f"place[{n}]", NAMES[k], t, a)
        for time_ps, node, peer, size in self._sent:
            for t, n, p, s in zip(time_ps.tolist(), node.tolist(), peer.tolist(), size.tolist(), strict=True):
                _add(found, f"place[{n}]", "told" if p < 0 else "sent", t, s if p < 0 else p)
        if isinstance(self.network, MobileNetwork):
            _add_network(found, self.network)
            _add_trouble(found, self.network)
        return dict(found)

    def _add_places(self, found: Series) -> None:
        """Of a node that stands, the first and the last instant are enough."""
        if not self._places:
            return
        time_ps, node, x_mm, y_mm = (np.concatenate(part) for part in zip(*self._places, strict=True))
        order = np.argsort(node, kind="stable")
        borders = np.flatnonzero(np.diff(node[order])) + 1
        for rows in np.split(order, borders):
            stays = (np.diff(x_mm[rows]) == 0) & (np.diff(y_mm[rows]) == 0)
            needed = np.ones(len(rows), bool)
            needed[1:-1] = ~(stays[:-1] & stays[1:])
            rows = rows[needed]
            module, times = f"place[{int(node[rows[0]])}]", time_ps[rows].tolist()
            found[module, "x_m"] = (times, (x_mm[rows] / 1000).tolist())
            found[module, "y_m"] = (list(times), (y_mm[rows] / 1000).tolist())


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
        for time_ps, x_mm, y_mm in [] if trace is None else trace.tolist():
            _add(found, f"place[{stations + host}]", "trace_x_m", time_ps, x_mm / 1000)
            _add(found, f"place[{stations + host}]", "trace_y_m", time_ps, y_mm / 1000)


def _add_trouble(found: Series, network: MobileNetwork) -> None:
    for number, one in enumerate(network.trouble):
        module = f"trouble[{number}]"
        match one:
            case Cut(a, b):
                facts: dict[str, list[Any]] = {"cut": [a, b]}
            case Jammer(x_mm, y_mm, radius_mm):
                facts = {"jammer": [x_mm / 1000, y_mm / 1000, radius_mm / 1000]}
            case Partition(first, second):
                facts = {"one": list(first), "other": list(second)}
        for name, values in facts.items():
            for value in values:
                _add(found, module, name, one.from_ps, value)
        _add(found, module, "until", one.to_ps, 0)
