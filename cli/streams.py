"""Open the standard streams that the caller has closed, before a file of a run gets their numbers."""

from __future__ import annotations

import os
import sys


def open_closed_streams() -> None:
    """Open closed standard streams on /dev/null, as for `causeway run STUDY >&-`."""
    for number, name, mode in (0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w"):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # the lowest free number, which is this one
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, mode, closefd=False))
