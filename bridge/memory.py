"""The memory that a run takes, its simulator's included, and the memory that is left for it.

Where there is no /proc nothing is known: everything has 0 bytes, and nothing is refused.
"""

from __future__ import annotations

import os
from pathlib import Path

from causeway.bridge.errors import RunError

MOST_OF_MEMORY = 0.8
"""A run may take so much of what was left when it began. The kernel would end it without a word at all of it."""
LITTLE_LEFT = 0.1
"""Where runs side by side leave less than this of it, each ends that has taken as much itself."""
_GROUP = Path("/sys/fs/cgroup")


class OutOfMemory(RunError):
    """A run asks for more memory than it may take."""


class Allowance:
    """A share of the memory that is left now."""

    def __init__(self, share: float = MOST_OF_MEMORY) -> None:
        self._had_bytes, self._left_bytes, self._share = run_bytes(), available_bytes(), share

    def refusal(self, more_bytes: int = 0) -> str | None:
        """Return in words that so much more is not allowed, or that too much is taken already; None if it is not."""
        if self._left_bytes is None:
            return None
        taken, most = run_bytes() - self._had_bytes + more_bytes, self._share * self._left_bytes
        if taken > most:
            allowed = f"{most / 1e9:.1f} GB, {self._share:.0%} of what was left before"
            return f"the run takes {taken / 1e9:.1f} GB; allowed: {allowed}"
        left = available_bytes() or 0
        if max(left - more_bytes, 0) < LITTLE_LEFT * self._left_bytes < taken:
            return f"the run takes {taken / 1e9:.1f} GB, and other processes beside it leave {left / 1e9:.1f} GB"
        return None

    def check(self, more_bytes: int) -> None:
        """Raise OutOfMemory if so much more is not allowed."""
        if why := self.refusal(more_bytes):
            raise OutOfMemory(why)


def run_bytes() -> int:
    """Return the memory of this process and of its children: a run's simulator is one."""
    return sum(used_bytes(pid) for pid in ("self", *_children()))


def used_bytes(pid: str = "self") -> int:
    """Return the memory of a process."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def available_bytes() -> int | None:
    """Return the memory that is left on the machine and in this process's container; None if that is unknown."""
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
    except OSError:  # a thread has just ended, or the kernel does not tell
        return []
