"""The entry point: fix the hash seed of the process, then run the command."""

from __future__ import annotations

from causeway.cli.streams import open_closed_streams
from causeway.pycontrol.hash_seed import fix_hash_seed


def main() -> None:
    """Run a command."""
    open_closed_streams()
    fix_hash_seed()
    from causeway.cli import main as commands

    commands.main()
