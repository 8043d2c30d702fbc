"""How functions that only work on arrays they are given are compiled."""

from __future__ import annotations

from typing import Any

import numba

compiled: Any = numba.njit(cache=True, _nrt=False)  # type: ignore[call-overload]
"""For functions that neither make nor keep arrays. Without numba's reference counts, of which each array of a tuple
that is passed on costs one, a run of ladc18 takes a third of the time."""
inlined: Any = numba.njit(cache=True, _nrt=False, inline="always")  # type: ignore[call-overload]
"""The same for what is so small, or has so many arrays to pass on, that a call costs more than it does."""
