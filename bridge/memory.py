"""Measure and limit the memory that a run with its simulator uses.

Without /proc no size is known: then every size is 0, and nothing is refused.
"""

from __future__ import annotations

import os
from pathlib import Path

from causeway.errors import RunError

MEMORY_SHARE = 0.8
"""The share of the free memory that a run may use, measured when it starts. Without this limit, the kernel would kill
it without a message."""
FREE_SHARE = 0.1
"""The share of memory that must stay free. If several runs at the same time leave less, each run that uses at least
this share ends."""
_GROUP = Path("/sys/fs/cgroup")


class OutOfMemory(RunError):
    """Raised if a run needs more memory than it may use."""


class Allowance:
    """A limit on the memory of a run: a share of the memory that is free when the limit is made."""

    def __init__(self, share: float = MEMORY_SHARE) -> None:
        self._had_bytes, self._left_bytes, self._share = run_bytes(), available_bytes(), share

    def refusal(self, more_bytes: int = 0) -> str | None:
        """Return the reason why `more_bytes` more are not allowed; None if they are."""
        if self._left_bytes is None:
            return None
        used, most = run_bytes() - self._had_bytes + more_bytes, self._share * self._left_bytes
        if used > most:
            allowed = f"{most / 1e9:.1f} GB, {self._share:.0%} of the memory that was free before"
            return f"the run takes {used / 1e9:.1f} GB; allowed: {allowed}"
        left = available_bytes() or 0
        if max(left - more_bytes, 0) < FREE_SHARE * self._left_bytes < used:
            return f"the run takes {used / 1e9:.1f} GB, and only {left / 1e9:.1f} GB are free beside other processes"
        return None

    def check(self, more_bytes: int) -> None:
        """Raise OutOfMemory if `more_bytes` more are not allowed."""
        if why := self.refusal(more_bytes):
            raise OutOfMemory(why)


def run_bytes() -> int:
    """Return the memory used by this process and its children, a simulator among them."""
    return sum(used_bytes(pid) for pid in ("self", *_children()))


def used_bytes(pid: str = "self") -> int:
    """Return the memory used by a process."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def available_bytes() -> int | None:
    """Return the free memory of the machine and of this process's container; None if that is unknown."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        left = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, ValueError, StopIteration):
        return None
    try:
        limit, used = ((_GROUP / name).read_text() for name in ("memory.max", "memory.current"))
        return min(left, int(limit) - int(used))
    except (OSError, ValueError):  # no container, or one without a limit ("max")
        return left


def _children() -> list[str]:
    try:
        return [pid for task in Path("/proc/self/task").iterdir() for pid in (task / "children").read_text().split()]
    except OSError:  # a thread has just ended, or the kernel does not list children
        return []
