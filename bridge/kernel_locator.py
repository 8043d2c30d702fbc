"""numba's view of `kernel_cache`: where a function's compiled code is kept, and the stamp that says from which sources.

numba imports this module when it needs it (NUMBA_CACHE_LOCATOR_CLASSES), never before.
"""

from __future__ import annotations

import os
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba.core.caching import _CacheLocator

from causeway.bridge.kernel_cache import kernels_dir, state_of

LIBRARIES = tuple({sysconfig.get_paths()[name] for name in ("stdlib", "purelib", "platlib")})

STAMP_DIGITS = 16


class KernelLocator(_CacheLocator):
    """For functions of Causeway, and for those of a user's own files, which may call them."""

    def __init__(self, py_func: Callable[..., Any], py_file: str) -> None:
        self._file = Path(py_file)
        self._line = py_func.__code__.co_firstlineno

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> KernelLocator | None:
        """None where it is not for us: numba asks its other locators then."""
        of_causeway = py_func.__module__.startswith("causeway.")
        if not of_causeway and (not os.path.exists(py_file) or os.path.abspath(py_file).startswith(LIBRARIES)):
            return None
        locator = cls(py_func, py_file)
        try:
            locator.ensure_cache_path()
        except OSError:
            return None
        return locator

    def get_cache_path(self) -> str:
        """One folder for each folder of sources."""
        return str(kernels_dir() / self.get_suitable_cache_subpath(str(self._file)))

    def get_source_stamp(self) -> str:
        """What must be equal for compiled code to be used."""
        return state_of(self._file)

    def get_disambiguator(self) -> str:
        """Tells functions of one name and file apart, and what was compiled from other sources: numba unpickles what it
        finds before it looks at the stamp, and that may name a class which is gone."""
        return f"{self._line}-{self.get_source_stamp()[:STAMP_DIGITS]}"
