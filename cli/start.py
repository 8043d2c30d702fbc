"""The entry point: a process with a fixed hash seed, then the commands."""

from __future__ import annotations

from causeway.pycontrol.hash_seed import fix_hash_seed


def main() -> None:
    """Run a command."""
    fix_hash_seed()
    from causeway.cli import main as commands

    commands.main()
