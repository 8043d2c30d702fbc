"""The errors that users see. Each is one line with the mistake and the remedy."""

from __future__ import annotations

import difflib
import errno
from collections.abc import Iterable

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Error numbers of the operating system for a full disk."""


class UserError(Exception):
    """A request that cannot be carried out. The message says why, and what to do. Exit status 2."""


class RunError(Exception):
    """A run that failed after it had begun: a peer died, did not answer, or broke the contract. Exit status 1."""


def unknown(what: str, name: str, known: Iterable[str]) -> UserError:
    """Return the error for a name that is unknown, with the most similar known name."""
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.4)
    hint = f"did you mean '{near[0]}'?" if near else "known: " + ", ".join(names) if names else "there is none"
    return UserError(f"unknown {what} '{name}'; {hint}")


def shown_type(value: object) -> str:
    """Return the type of a value with its article, for an error about a wrong type."""
    name = type(value).__name__
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"
