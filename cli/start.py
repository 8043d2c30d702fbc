"""The entry point: prepare the process before all other imports, then run the command."""

from __future__ import annotations

import os
import signal

from causeway.cli.streams import open_closed_streams
from causeway.pycontrol.hash_seed import fix_hash_seed

TERMINATED = 143
"""The exit status of a command that SIGTERM ended: 128 + 15, as shells have it."""


def prepare() -> None:
    """End at once on SIGTERM until the command has begun, open closed streams, and fix the hash seed."""
    signal.signal(signal.SIGTERM, lambda number, frame: os._exit(TERMINATED))
    open_closed_streams()
    fix_hash_seed()


def main() -> None:
    """Run a command."""
    prepare()
    from causeway.cli import main as commands

    commands.main()
