"""The errors that a node meets when it would leave the simulation. One line each: what it did, and what to do."""

from __future__ import annotations


class OutsideError(NotImplementedError):
    """Something that a simulated node does not have.

    It is a NotImplementedError because programs know that one from loops of other platforms (`add_signal_handler` on
    Windows, for example), and many go on without.
    """


def outside(what: str, instead: str) -> OutsideError:
    """Return the error for `what`, which leaves the simulation."""
    return OutsideError(f"{what} would leave the simulation: {instead}")
