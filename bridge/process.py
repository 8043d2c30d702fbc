"""The simulator as a child process, which has its own process group and ends when Causeway ends."""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from causeway.errors import UserError

LAST_LINES = 20
SHOWN_LINES = 4
KEPT_BYTES = 1 << 16
"""The size of the end of the output that is kept, also if there are no newlines."""
LONGEST_LINE = 500
"""The maximum number of characters of a line that are shown."""
PROGRESS = ("** Event #", "Speed: ", "Messages: ", "End.")
"""The beginnings of lines in which OMNeT++ prints its progress. They would hide the cause."""
LARGE_PAGES = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
"""Makes malloc use pages of 2 MB: a network of a thousand nodes exceeds the processor's caches, and with small pages
most accesses also miss the TLB (docs/lab/radio.md). A glibc without this tunable ignores it."""
END_S = 2.0
"""The time in which a simulator must end by itself after the run, before it is killed."""


class Simulator:
    """A running simulator."""

    def __init__(
        self, name: str, command: Sequence[str], environment: Mapping[str, str], directory: Path | None = None
    ) -> None:
        self.name = name
        self._tail = bytearray()
        try:
            self._process = subprocess.Popen(
                _with_parent_death_signal(command),
                env={**LARGE_PAGES, **os.environ, **environment, "CAUSEWAY_CONTROLLER_PID": str(os.getpid())},
                cwd=directory,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            raise UserError(f"cannot start the simulator ({name}): {command[0]}: {error.strerror}") from None
        self.pid = self._process.pid
        self._over, over = os.pipe()
        self._wake = over
        self._reader = threading.Thread(target=self._read, name=f"output of {name}", daemon=True)
        self._reader.start()

    def _read(self) -> None:
        """Read the output until it ends or `end` is called, since a child of the simulator may keep the pipe open."""
        assert self._process.stdout is not None
        output = self._process.stdout.fileno()
        ready = select.poll()
        ready.register(output, select.POLLIN)
        ready.register(self._over, select.POLLIN)
        while True:
            found = [fd for fd, _ in ready.poll()]
            data = os.read(output, KEPT_BYTES) if output in found else b""
            self._tail += data
            del self._tail[:-KEPT_BYTES]
            if not data or self._over in found:
                return

    def death(self) -> str | None:
        """Return how the simulator died, in one line; None while it lives."""
        status = self._process.poll()
        if status is None:
            return None
        self._reader.join(timeout=1)
        how = f"killed by {_name_of(-status)}" if status < 0 else f"exit status {status}"
        return f"the simulator ({self.name}) died: {how}; {self._last_output()}"

    def _last_output(self) -> str:
        lines = self.last_lines()[-SHOWN_LINES:]
        return "its last lines: " + " | ".join(line.strip() for line in lines) if lines else "it printed nothing"

    def last_lines(self) -> list[str]:
        """Return the end of its output."""
        lines = (line.rstrip() for line in bytes(self._tail).decode(errors="replace").split("\n"))
        kept = [line for line in lines if line and not line.lstrip().startswith(PROGRESS)]
        return [line[-LONGEST_LINE:] for line in kept][-LAST_LINES:]

    def wait(self, timeout_s: float) -> int | None:
        """Wait for its end. Return its exit status; None if it still runs."""
        if self._process.poll() is None and _until_it_ends(self.pid, timeout_s):
            return self._process.poll()
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self._process.wait(timeout_s)
        return None

    def end(self, grace_s: float = END_S) -> None:
        """End it and all its children. May be called twice.

        Args:
            grace_s: The time in which it may end by itself.
        """
        if self._process.poll() is None and grace_s > 0:
            self.wait(grace_s)
        for _ in range(100):
            try:
                os.killpg(self.pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                break
            self._process.poll()
            time.sleep(0.005)
        self._process.wait()
        if self._wake >= 0:
            os.write(self._wake, b"x")
            self._reader.join()
            os.close(self._wake)
            os.close(self._over)
            self._wake = -1
        if self._process.stdout is not None:
            self._process.stdout.close()


def _name_of(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal
        return f"signal {number}"


def _until_it_ends(pid: int, timeout_s: float) -> bool:
    """Wait for the end of a child without polling, as subprocess does it. Return False if the system cannot."""
    try:
        watched = os.pidfd_open(pid)
    except (AttributeError, OSError):  # not on this system, or not allowed here
        return False
    try:
        end = select.poll()
        end.register(watched, select.POLLIN)
        end.poll(timeout_s * 1000)
    finally:
        os.close(watched)
    return True


def _with_parent_death_signal(command: Sequence[str]) -> list[str]:
    """Return the command, prefixed so that the kernel kills the simulator when this process dies.

    This works even before the simulator connects. The signal is SIGKILL, because no other ends a stopped process.
    (`preexec_fn` could do the same but is unsafe in a process with threads.)
    """
    setpriv = shutil.which("setpriv")
    return [setpriv, "--pdeathsig", "KILL", "--", *command] if setpriv else list(command)
