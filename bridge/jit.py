"""How functions are compiled. Nothing else of Causeway applies numba's decorators, so that all goes into one cache."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba

from causeway.bridge.compiled_code import kernels_dir

F = TypeVar("F", bound=Callable[..., Any])


def njit(**options: Any) -> Callable[[F], F]:
    """Compile a function when it is first called, as numba's decorator does, and keep it in Causeway's cache folder."""

    def decorate(function: F) -> F:
        config: Any = numba.config
        before, config.CACHE_DIR = config.CACHE_DIR, str(kernels_dir())
        try:
            return numba.njit(cache=True, **options)(function)
        finally:
            config.CACHE_DIR = before

    return decorate


compiled: Any = njit(_nrt=False)
"""For functions that neither make nor keep arrays. Without numba's reference counts, of which each array of a tuple
that is passed on costs one, a run of ladc18 takes a third of the time."""
inlined: Any = njit(_nrt=False, inline="always")
"""The same for what is so small, or has so many arrays to pass on, that a call costs more than it does."""
