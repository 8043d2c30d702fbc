"""The abstract network in process: numpy and numba, no simulator.

Its digests equal those of the same network on OMNeT++ to the bit: both follow the rules in `bridge/network.py` and
draw from the same counter-based generator.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba import types
from numba.typed import Dict

from causeway.bridge.edges import Edge
from causeway.bridge.engine import DURATION_OVER, NOTHING_LEFT, STOPPED, Finish, RunSpec, Session
from causeway.bridge.engines import inline_wheel as wheel
from causeway.bridge.errors import RunError, UserError
from causeway.bridge.events import Act, Actions, Window
from causeway.bridge.network import AbstractNetwork, Network
from causeway.bridge.taped import TapedSession
from causeway.bridge.wire import trouble_tables
from causeway.bridge.workload import NEVER, WorkloadTables, next_broadcast

ACT_SEND, ACT_SET_TIMER, ACT_CANCEL_TIMER, ACT_NODE = (
    int(act) for act in (Act.SEND, Act.SET_TIMER, Act.CANCEL_TIMER, Act.NODE)
)
SLOTS = 1 << 15
PASSIVE_CAP = 4096
"""A window of passive events only is handed over at this size, so that memory stays bounded."""
EVENTS_PER_SLOT = 12
"""What the slot width aims at: few enough for insertion sort, many enough to keep empty slots rare."""


class InlineEngine:
    """Runs abstract networks in the controller's own process."""

    name = "inline"
    networks = (AbstractNetwork,)

    def missing(self, network: Network | None = None) -> str | None:
        return None

    def edges(self) -> list[Edge]:
        return []

    def open(self, spec: RunSpec) -> Session:
        if not isinstance(spec.network, AbstractNetwork):
            raise UserError(
                f"engine 'inline' has no radio: study '{spec.study}' needs a packet-level engine (omnet, ns3)"
            )
        session = InlineSession(spec, spec.network)
        return TapedSession(session, spec) if spec.record_to is not None else session


def _slot_width_ps(network: AbstractNetwork, reaction_ps: int) -> int:
    """Wide enough for a few events in the busiest segment, never wider than a receiver's service time."""
    workload = network.workload
    rate = max((s.rate_per_s for s in workload.segments), default=0.0)
    width = reaction_ps if rate <= 0 else int(EVENTS_PER_SLOT * 1e12 / (rate * network.nodes))
    if network.recv_ps > 0:
        width = min(width, network.recv_ps)
    return max(1000, min(width, 10**11))


def _trouble_of(network: AbstractNetwork) -> tuple[Any, ...]:
    """Kind, from_ps, to_ps, two nodes, and for each partition the side of every node."""
    tables = trouble_tables(network.trouble)
    side = np.full((len(network.trouble), network.nodes), wheel.FAR_SIDE, np.int8)
    side[np.array(tables["side_trouble"], np.int64), np.array(tables["side_node"], np.int64)] = tables["side"]
    names = {"kind": np.uint8, "from_ps": np.int64, "to_ps": np.int64, "a": np.int32, "b": np.int32}
    return (*(np.array(tables[name], dtype) for name, dtype in names.items()), side)


class InlineSession:
    """One run."""

    engine = "inline"
    makes_its_events = True
    """Of actions that were checked; nothing comes from another process or from a file."""
    engine_version = f"inline (numba {numba.__version__}, numpy {np.__version__})"

    def __init__(self, spec: RunSpec, network: AbstractNetwork) -> None:
        self.spec, self.network = spec, network
        self._s = np.zeros(wheel.SCALARS, np.int64)
        self._s[wheel.EPOCH] = -1
        self._s[wheel.FREE] = -1
        self._s[wheel.POS] = self._s[wheel.BATCH] = 1
        self._queues = (np.full(SLOTS, -1, np.int32), np.empty(0, np.int32))
        self._width_ps = _slot_width_ps(network, spec.reaction_ps)
        self._pool = np.zeros(0, wheel.POOL)
        self._grow_pool(max(1 << 12, 4 * network.nodes))
        self._batch = np.zeros(256, wheel.POOL)
        self._spare = np.zeros(256, wheel.POOL)
        self._out = np.zeros(PASSIVE_CAP + 1024, wheel.POOL)
        n = network.nodes
        faulty = len(network.faults.time_ps) > 0 or len(network.trouble) > 0
        self._state = (np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n, np.uint8), np.zeros(n, np.int64))
        self._cpu = (network.send_ps, network.send_ps_per_byte, network.recv_ps, faulty)
        self._air = (network.delay_quantiles_ns, network.loss, _trouble_of(network))
        self._cancelled = _no_timers()
        self._limits = (spec.reaction_ps, spec.cap, spec.passive_kinds, spec.duration_ps or NEVER, PASSIVE_CAP)
        self._work = self._start_workload()
        self._start_faults()
        self._number = 0
        self._stop = False

    # ---- Session --------------------------------------------------------------------------------------------------
    def next(self) -> Window | Finish:
        if self._number == 0:
            return self._window(0, True)
        if self._stop:
            return self._finish(STOPPED)
        s = self._s
        while True:
            why = self._collect()
            if why == wheel.NEEDS_ROWS:
                self._grow_pool(2 * len(self._pool))
            elif why == wheel.NEEDS_BATCH:
                rows = int(max(2 * len(self._batch), s[wheel.MORE_BATCH]))
                self._batch = np.concatenate([self._batch, np.zeros(rows - len(self._batch), wheel.POOL)])
                self._spare = np.zeros(rows, wheel.POOL)
            elif why == wheel.NEEDS_OUT:
                self._out = np.concatenate([self._out, np.zeros_like(self._out)])
            elif why == wheel.WINDOW_END and s[wheel.OUT] == 0:
                return self._finish(NOTHING_LEFT if s[wheel.LIVE] == 0 else DURATION_OVER)
            else:
                break
        active = bool(s[wheel.ACTIVE])
        return self._window(int(s[wheel.HORIZON] if active else s[wheel.LAST] + 1), active)

    def answer(self, actions: Actions) -> None:
        self._stop = self._stop or actions.stop
        if not len(actions):
            return
        s = self._s
        rows = len(actions)
        while s[wheel.FREE_ROWS] < rows:
            self._grow_pool(2 * len(self._pool))
        bad = _act(
            s, self._pool, self._queues, self._width_ps, self._end_ps, self._cancelled,
            actions.kind, actions.time_ps, actions.node, actions.ref, actions.peer, actions.size_bytes,
            actions.interface,
        )  # fmt: skip
        if bad >= 0:
            raise RunError(
                f"action {bad} of window {self._number - 1} takes effect at {actions.time_ps[bad]} ps, "
                f"before the end of its window at {self._end_ps} ps"
            )
        if not self._cpu[3] and (actions.kind == int(Act.NODE)).any():
            self._cpu = (*self._cpu[:3], True)

    def close(self) -> None:
        """Nothing to leave behind."""

    # ---- inside ---------------------------------------------------------------------------------------------------
    def _collect(self) -> int:
        n = self.network
        return wheel.collect(
            self._s, self._pool, self._queues, self._width_ps, self._batch, self._spare, self._out, self._limits,
            n.nodes, self.spec.seed, self._air, self._cpu, self._state, self._cancelled, self._work,
        )  # fmt: skip

    def _window(self, end_ps: int, reply: bool) -> Window:
        rows = self._out[: self._s[wheel.OUT]]
        window = Window(
            self._number, end_ps, reply, rows["kind"].astype(np.uint8), rows["time"].copy(), rows["node"].copy(),
            rows["ref"].copy(), rows["arg"].copy(),
        )  # fmt: skip
        self._number += 1
        self._end_ps = end_ps
        self._s[wheel.OUT] = self._s[wheel.ACTIVE] = 0
        return window

    def _finish(self, reason: str) -> Finish:
        s = self._s
        end_ps = self.spec.duration_ps if reason == DURATION_OVER else int(s[wheel.NOW])
        return Finish(reason, end_ps, int(s[wheel.EVENTS]))

    def _grow_pool(self, rows: int) -> None:
        """More rows for events; the new ones are free."""
        old = len(self._pool)
        pool = np.zeros(rows, wheel.POOL)
        pool[:old] = self._pool
        pool["next"][old : rows - 1] = np.arange(old + 1, rows)
        pool["next"][rows - 1] = self._s[wheel.FREE]
        self._s[wheel.FREE] = old
        self._s[wheel.FREE_ROWS] += rows - old
        self._pool = pool
        heads, heap = self._queues
        self._queues = (heads, np.concatenate([heap, np.empty(rows - len(heap), np.int32)]))

    def _start_workload(self) -> tuple[Any, ...]:
        workload = self.network.workload
        t = WorkloadTables.of(workload)
        tables = (t.start_ps, t.mean_ns, t.hot_share, t.hot_nodes, t.exponential)
        script = workload.script
        if script is not None and len(script.time_ps):
            columns = (
                script.time_ps.astype(np.int64),
                script.node.astype(np.int32),
                script.size_bytes.astype(np.int32),
            )
            first = (int(script.time_ps[0]), int(script.node[0]))
        else:
            columns = (np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0, np.int32))
            first = next_broadcast(self.spec.seed, 0, 0, workload.first_node, workload.nodes, *tables)
        self._s[wheel.NEXT_TIME], self._s[wheel.NEXT_NODE] = first
        return workload.first_node, workload.nodes, workload.messages, tables, (*columns, workload.size_bytes)

    def _start_faults(self) -> None:
        faults = self.network.faults
        while self._s[wheel.FREE_ROWS] < len(faults.time_ps):
            self._grow_pool(2 * len(self._pool))
        for time_ps, node, up in zip(faults.time_ps, faults.node, faults.up, strict=True):
            wheel.put(
                self._s, self._pool, self._queues, self._width_ps, np.int64(time_ps), wheel.K_NODE, np.int64(node),
                np.int64(0), np.int64(up), np.int64(0),
            )  # fmt: skip


@numba.njit(cache=True)
def _no_timers():
    """An empty table of cancelled timers. (Made outside a kernel, numba compiles it anew in every process.)"""
    return Dict.empty(types.int64, types.int64)


@numba.njit(cache=True)
def _act(s, pool, queues, width_ps, end_ps, cancelled, kind, time, node, ref, peer, size, interface):
    """Puts actions into effect; the row of the first one that comes too late, or -1."""
    for i in range(len(kind)):
        if time[i] < end_ps:
            return i
        if kind[i] == ACT_SEND:
            extra = (np.int64(peer[i]) << 32) | np.int64(size[i])
            wheel.put(s, pool, queues, width_ps, time[i], wheel.K_SEND, node[i], ref[i], interface[i], extra)
        elif kind[i] == ACT_SET_TIMER:
            wheel.put(s, pool, queues, width_ps, time[i], wheel.K_TIMER, node[i], ref[i], 0, 0)
        elif kind[i] == ACT_CANCEL_TIMER:
            cancelled[ref[i]] = time[i]
        elif kind[i] == ACT_NODE:
            wheel.put(s, pool, queues, width_ps, time[i], wheel.K_NODE, node[i], 0, peer[i], 0)
    return -1
