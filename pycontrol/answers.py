"""Replacements for functions of the process that would leave the simulation: clocks, random numbers, threads, files.

`confined.py` installs them during a run. Clocks and random numbers answer from simulated time and the seed; functions
that cannot be simulated raise an error that names the alternative. `ANSWERS` at the end lists all of them.

The first argument of every replacement is the actor: an `Actor`, or the event loop of an asyncio program. Both have
`name`, `node`, `chance`, `clock`, `time()`, `instead` (the alternatives to refused calls), `read_at_ps` and `reads`.
"""

from __future__ import annotations

import builtins
import os
import random
import select
import signal
import socket
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Mapping
from functools import wraps
from typing import Any

import numpy as np

from causeway.pycontrol import confined
from causeway.pycontrol.confined import Answer, Row, chance_of, stay_of
from causeway.pycontrol.outside import outside
from causeway.pycontrol.protocol_errors import ProtocolError
from causeway.pycontrol.run_trace import user_line

EPOCH_S = 1_767_225_600
"""time.time() at the beginning of a run: 2026-01-01, UTC."""
EPOCH_NS = EPOCH_S * 10**9
UUID_EPOCH_100NS = 0x01B21DD213814000
"""The time from the epoch of UUIDs (1582-10-15) to that of Unix (1970-01-01)."""
CLOCK_READS_AT_ONCE = 1_000_000
"""The maximum number of times that a node may read the clock at one instant. A node that reads it more often waits for
time to pass, which never happens during a handler."""
S_PS = 10**12

INSTEAD = {
    "sleep": "use self.set_timer(key, delay_ps)",
    "thread": "compute in the handler, and go on later with self.set_timer",
    "process": "compute in the handler, or in a node of its own",
    "wait": "go on later with self.set_timer",
    "files": "use self.send, and the parameters of the study",
    "exit": "end the run with self.stop(), or raise an error",
    "folder": "use absolute paths, such as Path(__file__).parent / 'data'",
}
"""The alternatives for a node with handlers, in the form for error messages."""


class Actor:
    """The node whose handler runs, in the form that replacements need.

    `host` is its PerNode, or the model that replaces it.
    """

    instead: Mapping[str, str] = INSTEAD

    def __init__(self, host: Any) -> None:
        self.host = host
        self.read_at_ps, self.reads = -1, 0
        self._while_made: dict[int, random.Random] = {}

    @property
    def clock(self) -> Any:
        """The object whose `now_ps` is the simulated time."""
        return self.host

    @property
    def node(self) -> int:
        """The id of the node."""
        return int(self.host.acting if isinstance(self.host.acting, int) else self.host.acting.id)

    @property
    def name(self) -> str:
        """The node's name for error messages."""
        return f"node {self.node}"

    def time(self) -> float:
        """Return the simulated time in seconds."""
        return float(self.host.now_ps / S_PS)

    @property
    def chance(self) -> random.Random:
        """The node's random generator, or a separate generator while the node is being made."""
        node = self.host.acting
        if not isinstance(node, int):
            return node.rng
        if node not in self._while_made:
            self._while_made[node] = chance_of(self.host.context.seed, node, "made")
        return self._while_made[node]

    @property
    def numpy_chance(self) -> np.random.RandomState:
        """The node's generator for numpy's global functions; it is part of the node's state."""
        node = self.host.acting
        if isinstance(node, int):
            return np.random.RandomState(self.chance.getrandbits(32))
        if "numpy_rng" not in vars(node):
            node.numpy_rng = _legacy(self.host.context.seed, node)
        return node.numpy_rng


def _legacy(seed: int, node: Any) -> np.random.RandomState:
    return np.random.RandomState(chance_of(seed, node.id, "numpy", stay_of(node)).getrandbits(32))


def _ns(actor: Any) -> int:
    return int(actor.clock.now_ps // 1000)


def _sleep(actor: Any, seconds: float) -> None:
    raise outside(
        f"time.sleep({seconds:g}) in {actor.name} at {actor.time():g} s ({user_line(sys._getframe())})",
        "it would stop all nodes and the network; " + actor.instead["sleep"].format(seconds=f"{seconds:g}"),
    )


def blocks(what: str, key: str) -> Answer:
    """Return a replacement that refuses a blocking call, since nothing else happens in a run while a handler waits.

    Args:
        what: The call, for the error message.
        key: The key of the alternative in `instead`.
    """

    def answer(actor: Any, *args: Any, **options: Any) -> Any:
        raise outside(
            f"{what} in {actor.name} at {actor.time():g} s ({user_line(sys._getframe())})",
            f"it would stop all nodes and the network; {actor.instead[key]}",
        )

    return answer


def refused(what: str, key: str) -> Answer:
    """Return a replacement that refuses a call that leaves the simulation. The arguments are those of `blocks`."""

    def answer(actor: Any, *args: Any, **options: Any) -> Any:
        raise outside(f"{what} in {actor.name}", actor.instead[key])

    return answer


def _clock(read: Answer) -> Answer:
    """Return a replacement for a clock. It refuses a node that reads the clock in an endless loop."""

    def answer(actor: Any) -> Any:
        if actor.clock.now_ps != actor.read_at_ps:
            actor.read_at_ps, actor.reads = actor.clock.now_ps, 0
        actor.reads += 1
        if actor.reads > CLOCK_READS_AT_ONCE:
            raise ProtocolError(
                f"{actor.name} read the clock {CLOCK_READS_AT_ONCE:,} times at {actor.time():g} s "
                f"({user_line(sys._getframe())}): "
                "simulated time does not pass while a handler runs, so a loop that waits for it never ends; "
                + actor.instead["sleep"].format(seconds="...")
            )
        return read(actor)

    return answer


def _uuid1(actor: Any, node: int | None = None, clock_seq: int | None = None) -> uuid.UUID:
    ticks = (EPOCH_NS + _ns(actor)) // 100 + UUID_EPOCH_100NS
    clock_seq = actor.chance.getrandbits(14) if clock_seq is None else clock_seq
    node = 0x02_00_00_00_00_00 + actor.node if node is None else node
    fields = ticks & 0xFFFFFFFF, (ticks >> 32) & 0xFFFF, (ticks >> 48) & 0x0FFF, (clock_seq >> 8) & 0x3F
    return uuid.UUID(fields=(*fields, clock_seq & 0xFF, node), version=1)


def _gmtime(real: Answer) -> Answer:
    def answer(actor: Any, seconds: float | None = None) -> Any:
        return real(EPOCH_S + actor.time() if seconds is None else seconds)

    return answer


def _strftime(real: Answer) -> Answer:
    def answer(actor: Any, form: str, when: Any = None) -> str:
        return real(form, when or time.gmtime(EPOCH_S + actor.time()))

    return answer


def _random(name: str) -> Answer:
    return lambda actor, *args, **options: getattr(actor.chance, name)(*args, **options)


def _numpy(name: str) -> Answer:
    method = {"ranf": "random_sample", "sample": "random_sample"}.get(name, name)
    return lambda actor, *args, **options: getattr(actor.numpy_chance, method)(*args, **options)


def _seed(real: Answer) -> Answer:
    """Wrap `random.Random.seed`. Without a seed, a node takes one from its own generator, not from the system."""

    @wraps(real)
    def seed(self: random.Random, a: Any = None, version: int = 2) -> None:
        if a is None and (actor := confined.current_actor()) is not None:
            a = actor.chance.getrandbits(256)
        real(self, a, version)

    return seed


SHARED = [n for n in dir(random) if isinstance(getattr(getattr(random, n), "__self__", None), random.Random)]
"""The functions of `random` that use its hidden shared generator."""
SHARED_OF_NUMPY = [
    "seed", "ranf", "sample",
    *(n for n in dir(np.random) if isinstance(getattr(getattr(np.random, n), "__self__", None), np.random.RandomState)),
]  # fmt: skip
PROCESSES = (
    "system", "fork", "forkpty", "posix_spawn", "posix_spawnp", "waitpid", "wait", "kill", "killpg",
)  # fmt: skip
FOLDERS = ("chdir", "fchdir", "chroot")

ANSWERS = [
    Row(time, "time", _clock(lambda actor: EPOCH_S + actor.time())),
    Row(time, "time_ns", _clock(lambda actor: EPOCH_NS + _ns(actor))),
    *(Row(time, n, _clock(lambda actor: actor.time())) for n in ("monotonic", "perf_counter", "process_time")),
    *(Row(time, n, _clock(_ns)) for n in ("monotonic_ns", "perf_counter_ns", "process_time_ns")),
    Row(time, "gmtime", _gmtime(time.gmtime)),
    Row(time, "localtime", _gmtime(time.gmtime)),
    Row(time, "strftime", _strftime(time.strftime)),
    Row(time, "sleep", _sleep),
    *(Row(random, name, _random(name)) for name in SHARED),
    *(Row(np.random, name, _numpy(name)) for name in SHARED_OF_NUMPY),
    Row(os, "urandom", lambda actor, size: actor.chance.randbytes(size)),
    Row(os, "getrandom", lambda actor, size, flags=0: actor.chance.randbytes(size)),
    Row(os, "getpid", lambda actor: 1000 + actor.node),
    Row(uuid, "uuid1", _uuid1),
    Row(uuid, "getnode", lambda actor: 0x02_00_00_00_00_00 + actor.node),
    Row(socket, "gethostname", lambda actor: actor.name),
    Row(subprocess.Popen, "__init__", refused("a subprocess", "process")),
    *(Row(os, name, refused(f"os.{name}", "process")) for name in PROCESSES),
    *(Row(os, name, refused(f"os.{name}", "folder")) for name in FOLDERS),
    Row(signal, "raise_signal", refused("signal.raise_signal", "exit")),
    Row(threading.Condition, "wait", blocks("waiting for a thread", "wait")),
    Row(threading.Thread, "join", blocks("waiting for a thread", "thread")),
    *(Row(select, name, blocks(f"select.{name}", "files")) for name in ("select", "poll", "epoll")),
    Row(builtins, "input", blocks("input()", "files")),
]

confined.add_answers(ANSWERS, confined.current_actor)
confined.add_wrapper(random.Random, "seed", _seed)
