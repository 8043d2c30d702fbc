"""The error of a node that would leave the simulation: one line with the call and its alternative."""

from __future__ import annotations


class OutsideError(NotImplementedError):
    """A call that a simulated node cannot make.

    It is a NotImplementedError, which programs know from event loops of other platforms (`add_signal_handler` on
    Windows, for example). Many of them work without the missing function.
    """


def outside(what: str, instead: str) -> OutsideError:
    """Return the error for the call `what`; `instead` is the alternative."""
    return OutsideError(f"{what} would leave the simulation: {instead}")
