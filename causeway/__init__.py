"""Causeway: distributed protocols in Python on packet-level network simulators.

    from causeway import EVERYONE, MobileNetwork, Node, PerNode, Study

`causeway.api` lists the public names. A name is loaded at its first use, so a tool that needs one module does not load
all of them.
"""

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if sys.platform != "linux":  # Causeway needs prctl (to end simulators with their parent), /proc and CPU affinity
    raise ImportError(f"Causeway runs on Linux, not on {sys.platform}; on Windows use WSL 2, elsewhere a container")

if TYPE_CHECKING:
    from causeway import learn as learn
    from causeway.api import *  # noqa: F403


def _unpack(archive: str) -> list[str]:
    """Unpack a package that is imported from a zip into the cache folder, and return the folder.

    `spark-submit --py-files` sends a zip to the workers of a cluster, but compiled kernels and sources of simulators
    must be files.
    """
    import hashlib
    import tempfile
    import zipfile
    from pathlib import Path

    from causeway.cache_folder import NoCacheFolder, cache_dir

    try:
        target = cache_dir() / "unpacked" / hashlib.blake2b(Path(archive).read_bytes(), digest_size=8).hexdigest()
    except NoCacheFolder as error:
        raise ImportError(str(error)) from None
    if not target.is_dir():
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        half = Path(tempfile.mkdtemp(dir=target.parent))
        with zipfile.ZipFile(archive) as packed:
            packed.extractall(half, [name for name in packed.namelist() if name.startswith("causeway/")])
        try:
            os.replace(half, target)
        except OSError:  # another process was faster
            if not target.is_dir():
                raise
    return [str(target / "causeway")]


if (_archive := getattr(__spec__.loader, "archive", None)) is not None:
    __path__ = _unpack(_archive)


def __getattr__(name: str) -> Any:
    if name.startswith("_") and name not in ("__version__", "__all__"):
        raise AttributeError(name)
    if name == "learn":
        return import_module("causeway.learn")
    api, deprecated = import_module("causeway.api"), import_module("causeway.deprecated")
    if name == "__all__":
        return api.__all__
    if (new := deprecated.NAMES.get(name)) is not None:
        deprecated.warn(name, new)
        return getattr(api, new)
    if name not in api.__all__:
        raise AttributeError(f"causeway has no public name {name!r}; causeway.api lists them")
    return getattr(api, name)


def __dir__() -> list[str]:
    return list(import_module("causeway.api").__all__)
