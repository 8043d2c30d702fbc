"""The inline engine: the abstract network in this process, with numpy and numba, without a simulator.

Its digests equal those of the same network on OMNeT++ to the bit: both follow the rules in `network/networks.py` and
draw from the same counter-based generator. The kernels are in `inline_wheel.py`.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from causeway.bridge.engine import DURATION_OVER, NOTHING_LEFT, STOPPED, Finish, RunSpec, Session
from causeway.bridge.engines import inline_wheel as wheel
from causeway.bridge.engines.inline_faults import FAR_SIDE, FaultRows
from causeway.bridge.engines.inline_links import link_rows
from causeway.bridge.engines.inline_wheel import Load, Rules, Wheel
from causeway.bridge.events import Act, Actions, Window
from causeway.bridge.framing import fault_tables
from causeway.bridge.memory import Allowance
from causeway.bridge.recorded_session import TapedSession
from causeway.errors import RunError, UserError
from causeway.network.networks import AbstractNetwork, Network
from causeway.network.stays import changes_of
from causeway.network.workload import NEVER, Script, WorkloadTables, next_broadcast
from causeway.toolchain.adapters import Adapter
from causeway.toolchain.jit import compiled

ACT_SEND, ACT_SET_TIMER, ACT_CANCEL_TIMER, ACT_NODE = (
    int(act) for act in (Act.SEND, Act.SET_TIMER, Act.CANCEL_TIMER, Act.NODE)
)
SLOTS = 1 << 15
TURNS = 1 << 15
"""The number of chains for later turns of the wheel. Two turns share a chain only if they are a thousand million slots
apart."""
BATCH = 256
"""The initial room for the events of one slot."""
PASSIVE_CAP = 4096
"""The maximum number of events in a window of passive events, which bounds its memory."""
EVENTS_PER_SLOT = 12
"""The number of events for which the width of a slot is chosen: few enough for insertion sort, and so many that empty
slots are rare."""


class InlineEngine:
    """Runs abstract networks in the controller's own process."""

    name = "inline"
    networks = (AbstractNetwork,)

    def missing(self, network: Network | None = None) -> str | None:
        """Return None: the engine needs nothing that is not installed with Causeway."""
        return None

    def adapters(self, network: Network | None = None) -> list[Adapter]:
        """Return no adapters."""
        return []

    def open(self, spec: RunSpec) -> Session:
        """Begin a run."""
        if not isinstance(spec.network, AbstractNetwork):
            raise UserError(
                f"engine 'inline' has no radio: study '{spec.study}' needs a packet-level engine (omnet, ns3)"
            )
        session = InlineSession(spec, spec.network)
        return TapedSession(session, spec) if spec.record_to is not None else session


def _slot_width_ps(network: AbstractNetwork, reaction_ps: int) -> int:
    """Return a slot width that gives a few events per slot in the busiest segment, up to a receiver's service time."""
    workload = network.workload
    rate = max((s.rate_per_s for s in workload.segments), default=0.0)
    width = reaction_ps if rate <= 0 else int(EVENTS_PER_SLOT * 1e12 / (rate * network.nodes))
    if network.recv_ps > 0:
        width = min(width, network.recv_ps)
    return max(1000, min(width, 10**11))


def _faults_of(network: AbstractNetwork) -> FaultRows:
    tables = fault_tables(network.network_faults)
    side = np.full((len(network.network_faults), network.nodes), FAR_SIDE, np.int8)
    side[np.array(tables["side_trouble"], np.int64), np.array(tables["side_node"], np.int64)] = tables["side"]
    return FaultRows(
        np.array(tables["kind"], np.uint8), np.array(tables["from_ps"], np.int64), np.array(tables["to_ps"], np.int64),
        np.array(tables["a"], np.int32), np.array(tables["b"], np.int32), side,
    )  # fmt: skip


class InlineSession:
    """A run of the inline engine."""

    engine = "inline"
    makes_its_events = True
    """The loop need not validate its windows: all events come from validated actions."""
    engine_version = f"inline (numba {numba.__version__}, numpy {np.__version__})"

    def __init__(self, spec: RunSpec, network: AbstractNetwork) -> None:
        self.spec, self.network = spec, network
        self._memory = Allowance()
        self._rules = Rules(
            network.nodes, spec.seed, _slot_width_ps(network, spec.reaction_ps), spec.reaction_ps,
            spec.duration_ps or NEVER, spec.cap, PASSIVE_CAP, spec.passive_kinds, network.delay,
            network.loss, network.send_ps, network.send_ps_per_byte, network.recv_ps, _faults_of(network),
            link_rows(network.links, network.nodes),
        )  # fmt: skip
        self._w = _empty_wheel(network.nodes)
        self._at = self._w.at
        self._grow_pool(max(1 << 12, 4 * network.nodes))
        self._load = self._start_workload()
        self._start_faults()
        self._number = 0
        self._stop = False

    # ---- Session --------------------------------------------------------------------------------------------------
    def next(self) -> Window | Finish:
        """See `causeway.bridge.engine.Session`."""
        if self._number == 0:
            return self._window(0, True)
        if self._stop:
            return self._finish(STOPPED)
        at = self._at
        while True:
            why = wheel.collect(self._rules, self._w, self._load)
            if why == wheel.NEEDS_ROWS:
                self._grow_pool(2 * len(self._w.pool))
            elif why == wheel.NEEDS_BATCH:
                self._grow_batch(int(max(2 * len(self._w.batch), at["more_batch"][0])))
            elif why == wheel.NEEDS_OUT:
                self._w = self._w._replace(out=np.concatenate([self._w.out, np.zeros_like(self._w.out)]))
            elif why == wheel.WINDOW_END and at["out"][0] == 0:
                return self._finish(NOTHING_LEFT if at["live"][0] == 0 else DURATION_OVER)
            else:
                break
        active = bool(at["active"][0])
        return self._window(int(at["horizon"][0] if active else at["last"][0] + 1), active)

    def answer(self, actions: Actions) -> None:
        """See `causeway.bridge.engine.Session`."""
        self._stop = self._stop or actions.stop
        if not len(actions):
            return
        rows = len(actions)
        while self._at["free_rows"][0] < rows:
            self._grow_pool(2 * len(self._w.pool))
        if 2 * (self._at["cancelled"][0] + rows) > len(self._w.cancelled):
            self._grow_cancelled(rows)
        a = actions
        bad = _act(
            self._rules.width_ps, self._end_ps, self._w,
            ActionColumns(a.kind, a.time_ps, a.node, a.ref, a.peer, a.size_bytes, a.interface),
        )  # fmt: skip
        if bad >= 0:
            raise RunError(
                f"action {bad} of window {self._number - 1} takes effect at {actions.time_ps[bad]} ps, "
                f"before the end of its window at {self._end_ps} ps"
            )

    def in_flight(self) -> str:
        """Return a text with the number of events in flight."""
        return f"{int(self._at['live'][0]):,} copies and timers are in flight"

    def close(self) -> None:
        """Do nothing: there is no process, socket or file."""

    # ---- inside ---------------------------------------------------------------------------------------------------
    def _window(self, end_ps: int, reply: bool) -> Window:
        at = self._at
        rows = self._w.out[: at["out"][0]]
        window = Window(
            self._number, end_ps, reply, rows["kind"].astype(np.uint8), rows["time"].copy(), rows["node"].copy(),
            rows["ref"].copy(), rows["arg"].copy(),
        )  # fmt: skip
        self._number += 1
        self._end_ps = end_ps
        at["out"] = at["active"] = 0
        return window

    def _finish(self, reason: str) -> Finish:
        end_ps = self.spec.duration_ps if reason == DURATION_OVER else int(self._at["now"][0])
        return Finish(reason, end_ps, int(self._at["events"][0]))

    def _grow_pool(self, rows: int) -> None:
        """Add free rows for events."""
        self._memory.check(2 * rows * wheel.POOL.itemsize)  # for a moment both the old rows and their copies exist
        at, old_pool = self._at, self._w.pool
        old = len(old_pool)
        pool = np.zeros(rows, wheel.POOL)
        pool[:old] = old_pool
        pool["next"][old : rows - 1] = np.arange(old + 1, rows)
        pool["next"][rows - 1] = at["free"][0]
        at["free"] = old
        at["free_rows"] += rows - old
        heap = np.concatenate([self._w.heap, np.empty(rows - len(self._w.heap), np.int32)])
        self._w = self._w._replace(pool=pool, heap=heap)

    def _grow_batch(self, rows: int) -> None:
        self._memory.check(2 * rows * wheel.POOL.itemsize)
        batch = np.zeros(rows, wheel.POOL)
        batch[: len(self._w.batch)] = self._w.batch
        places, more = np.zeros(rows, np.int64), np.zeros(rows, np.int64)
        self._w = self._w._replace(batch=batch, spare=np.zeros(rows, wheel.POOL), places=places, more_places=more)

    def _grow_cancelled(self, rows: int) -> None:
        """Make room for so many more cancelled timers, and drop those that fell due."""
        old, old_ps = self._w.cancelled, self._w.cancelled_ps
        kept = np.flatnonzero((old != wheel.NOTHING) & (old_ps != NEVER))
        size = 1 << int(4 * (len(kept) + rows)).bit_length()
        self._w = self._w._replace(
            cancelled=np.full(size, wheel.NOTHING, np.int64), cancelled_ps=np.full(size, NEVER, np.int64)
        )
        self._at["cancelled"] = 0
        for place in kept:
            wheel.cancel(self._w, old[place], old_ps[place])

    def _start_workload(self) -> Load:
        workload = self.network.workload
        tables = WorkloadTables.of(workload)
        script = workload.script
        if script is None or not len(script.time_ps):
            script = Script(np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0, np.int32))
            first = next_broadcast(tables, self.spec.seed, 0, 0)
        else:
            first = (int(script.time_ps[0]), int(script.node[0]))
        self._at["broadcast_ps"], self._at["broadcast_node"] = first
        return Load(
            tables, workload.messages, workload.size_bytes, script.time_ps.astype(np.int64),
            script.node.astype(np.int32), script.size_bytes.astype(np.int32),
        )  # fmt: skip

    def _start_faults(self) -> None:
        faults = changes_of(self.network)
        self._at["faulty"] = len(faults.time_ps) > 0 or len(self.network.network_faults) > 0
        while self._at["free_rows"][0] < len(faults.time_ps):
            self._grow_pool(2 * len(self._w.pool))
        for time_ps, node, up in zip(faults.time_ps, faults.node, faults.up, strict=True):
            wheel.put(
                self._w, self._rules.width_ps, np.int64(time_ps), wheel.K_NODE, np.int64(node), np.int64(0),
                np.int64(up), np.int64(0),
            )  # fmt: skip


def _empty_wheel(nodes: int) -> Wheel:
    """Return a wheel without events or room for any, with all nodes up."""
    at = np.zeros(1, wheel.AT)
    at["epoch"] = at["turn"] = at["free"] = -1
    at["next"] = at["batch"] = 1
    return Wheel(
        at, np.zeros(0, wheel.POOL), np.full(SLOTS, -1, np.int32), np.full(TURNS, -1, np.int32),
        np.empty(0, np.int32),
        np.zeros(BATCH, wheel.POOL), np.zeros(BATCH, wheel.POOL), np.zeros(BATCH, np.int64), np.zeros(BATCH, np.int64),
        np.zeros(PASSIVE_CAP + 1024, wheel.POOL),
        np.zeros(nodes, np.int64), np.zeros(nodes, np.int64), np.zeros(nodes, np.uint8), np.zeros(nodes, np.int64),
        np.full(BATCH, wheel.NOTHING, np.int64), np.full(BATCH, NEVER, np.int64),
    )  # fmt: skip


class ActionColumns(NamedTuple):
    """The columns of an answer."""

    kind: NDArray[np.uint8]
    time_ps: NDArray[np.int64]
    node: NDArray[np.int32]
    ref: NDArray[np.int64]
    peer: NDArray[np.int32]
    size_bytes: NDArray[np.int32]
    interface: NDArray[np.uint8]


@compiled
def _act(width_ps, end_ps, w, a):
    """Put actions into effect. Return the row of the first one that is too late, or -1."""
    for i in range(len(a.kind)):
        kind, time, node, ref = a.kind[i], a.time_ps[i], np.int64(a.node[i]), a.ref[i]
        if time < end_ps:
            return i
        if kind == ACT_SEND:
            extra = (np.int64(a.peer[i]) << (wheel.SIZE_BITS + wheel.FAILURE_BITS)) | np.int64(a.size_bytes[i])
            wheel.put(w, width_ps, time, wheel.K_SEND, node, ref, a.interface[i], extra)
        elif kind == ACT_SET_TIMER:
            wheel.put(w, width_ps, time, wheel.K_TIMER, node, ref, 0, 0)
        elif kind == ACT_CANCEL_TIMER:
            wheel.cancel(w, ref, time)
        elif kind == ACT_NODE:
            w.at[0].faulty = 1
            wheel.put(w, width_ps, time, wheel.K_NODE, node, 0, a.peer[i], 0)
    return -1
