"""numba's view of `kernel_cache`: where a function's compiled code is kept, and the stamp that says from which sources.

numba imports this module when it needs it (NUMBA_CACHE_LOCATOR_CLASSES), never before.
"""

from __future__ import annotations

import functools
import os
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba.core.caching import IndexDataCacheFile, _CacheLocator

from causeway.bridge.errors import UserError
from causeway.bridge.kernel_cache import kernels_dir, state_of
from causeway.bridge.places import VARIABLE

LIBRARIES = tuple({sysconfig.get_paths()[name] for name in ("stdlib", "purelib", "platlib")})

STAMP_DIGITS = 16


def _no_room(where: str, error: OSError) -> UserError:
    return UserError(
        f"what is compiled cannot be kept in {where} ({error.strerror or error}): make room there, or name another "
        f"folder in {VARIABLE}"
    )


def _told(save: Callable[..., None]) -> Callable[..., None]:
    """numba saves in the middle of the first call: what goes wrong there would look like a mistake of the caller's."""

    @functools.wraps(save)
    def saved(file: Any, *arguments: Any) -> None:
        try:
            save(file, *arguments)
        except OSError as error:
            raise _no_room(file._cache_path, error) from None

    return saved


IndexDataCacheFile.save = _told(IndexDataCacheFile.save)  # type: ignore[method-assign]


class KernelLocator(_CacheLocator):
    """For functions of Causeway, and for those of a user's own files, which may call them."""

    def __init__(self, py_func: Callable[..., Any], py_file: str) -> None:
        self._file = Path(py_file)
        self._line = py_func.__code__.co_firstlineno

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> KernelLocator | None:
        """None where it is not for us, or our folder takes nothing: numba asks its other locators then."""
        of_causeway = py_func.__module__.startswith("causeway.")
        if not of_causeway and (not os.path.exists(py_file) or os.path.abspath(py_file).startswith(LIBRARIES)):
            return None
        locator = cls(py_func, py_file)
        try:
            locator.ensure_cache_path()
        except OSError as error:
            return cls.refused(error)
        return locator

    @classmethod
    def refused(cls, error: OSError) -> None:
        """The folder takes nothing."""

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


class NoPlace(KernelLocator):
    """The last that is asked: neither our folder nor one of numba's own can be written to."""

    @classmethod
    def refused(cls, error: OSError) -> None:
        raise _no_room(str(kernels_dir()), error) from None
