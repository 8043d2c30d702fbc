"""Pack this package as one zip, for workers of a cluster that have Python but not Causeway.

Python can import packages from a zip, but kernels and C++ sources must be files, so `causeway/__init__.py` unpacks the
zip.
"""

from __future__ import annotations

import hashlib
import os
import uuid
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from causeway.toolchain.installation import cache_dir, commit, version

_ENDINGS = (".py", ".properties", ".csv", ".proto", ".ned", ".ini", ".h", ".cc")
_EPOCH = (1980, 1, 1, 0, 0, 0)  # a fixed time, so that the same content makes the same zip


def package_zip() -> Path:
    """Return the zip of this package. It is written once for each content."""
    import causeway

    top = Path(next(iter(causeway.__path__)))
    files = {f"causeway/{path.relative_to(top).as_posix()}": path.read_bytes() for path in _files(top)}
    files["causeway/COMMIT"] = commit().encode()
    reported = f"Metadata-Version: 2.1\nName: causeway\nVersion: {version()}\n"
    files[f"causeway-{version()}.dist-info/METADATA"] = reported.encode()
    return zipped("causeway", files)


def _files(top: Path) -> Iterator[Path]:
    for folder, below, names in os.walk(top, followlinks=True):  # in a checkout, packages are links
        below[:] = sorted(name for name in below if name != "__pycache__" and name[0] != ".")
        for name in sorted(names):
            if name.endswith(_ENDINGS) or name == "Makefile":
                yield Path(folder, name)


def zipped(name: str, files: Mapping[str, bytes]) -> Path:
    """Return a zip of these files in the cache folder, named after a digest of their content."""
    digest = hashlib.blake2b(digest_size=8)
    for path, content in sorted(files.items()):
        digest.update(f"{path}\0{len(content)}\0".encode() + content)
    target = cache_dir() / "ship" / f"{name}-{digest.hexdigest()}.zip"
    if target.is_file():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    half = target.with_name(f".{uuid.uuid4().hex}")
    with zipfile.ZipFile(half, "w", zipfile.ZIP_DEFLATED) as made:
        for path, content in sorted(files.items()):
            made.writestr(zipfile.ZipInfo(path, _EPOCH), content, zipfile.ZIP_DEFLATED)
    os.replace(half, target)
    return target


def unpacked(archive: Path) -> Path:
    """Return a folder of this machine's cache with the content of a zip of `zipped`."""
    target = cache_dir() / "ship" / archive.stem
    if not target.is_dir():
        half = target.with_name(f".{uuid.uuid4().hex}")
        with zipfile.ZipFile(archive) as packed:
            packed.extractall(half)
        try:
            os.replace(half, target)
        except OSError:  # another process was faster
            if not target.is_dir():
                raise
    return target
