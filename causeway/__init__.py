"""Causeway: distributed protocols in Python on packet-level network simulators.

    from causeway import EVERYONE, MobileNetwork, Node, PerNode, Study

`causeway.api` lists the public names. They are loaded when one is first asked for, so that a tool that needs one module
does not wait for all.
"""

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if sys.platform != "linux":  # it ends simulators with their parent (prctl), looks into /proc, counts cores by affinity
    raise ImportError(f"Causeway runs on Linux, not on {sys.platform}; on Windows use WSL 2, elsewhere a container")

if TYPE_CHECKING:
    from causeway.api import *  # noqa: F403


def _unpack(archive: str, first: list[str]) -> list[str]:
    """Imported out of a zip (`spark-submit --py-files`, a worker of a cluster): the package is unpacked into the cache
    folder, because compiled kernels and sources of simulators must be files."""
    import hashlib
    import tempfile
    import zipfile
    from pathlib import Path

    digest = hashlib.blake2b(Path(archive).read_bytes(), digest_size=8).hexdigest()
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "causeway")
    usual = os.environ.get("CAUSEWAY_CACHE") or home
    private = Path(tempfile.gettempdir(), f"causeway-{os.getuid()}")
    for cache in (Path(usual), private):
        target = cache / "unpacked" / digest
        try:
            target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            if target.parent.stat().st_uid != os.getuid():
                continue
            if not target.is_dir():
                half = Path(tempfile.mkdtemp(dir=target.parent))
                with zipfile.ZipFile(archive) as packed:
                    packed.extractall(half, [name for name in packed.namelist() if name.startswith("causeway/")])
                try:
                    os.replace(half, target)
                except OSError:  # another process was first
                    if not target.is_dir():
                        raise
            return [str(target / "causeway")]
        except OSError:
            continue
    return first


if (_archive := getattr(__spec__.loader, "archive", None)) is not None:
    __path__ = _unpack(_archive, list(__path__))


def __getattr__(name: str) -> Any:
    if name.startswith("_") and name not in ("__version__", "__all__"):
        raise AttributeError(name)
    api = import_module("causeway.api")
    if name == "__all__":
        return api.__all__
    if name not in api.__all__:
        raise AttributeError(f"causeway has no public name {name!r}; causeway.api lists them")
    return getattr(api, name)


def __dir__() -> list[str]:
    return list(import_module("causeway.api").__all__)
