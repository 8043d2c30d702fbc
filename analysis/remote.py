"""Result folders behind URLs that pyarrow.fs supports: `s3://bucket/folder`, `gs://...`, `hdfs://host/folder`.

`place` returns a Path for a folder, or a `Remote` for a URL, with those methods of a Path that result folders need. A
file is first written on this machine and then sent as a whole. In an object store, an object appears when its upload
has ended, so it need not be renamed. On file systems that show a file while it is written, it is sent under a hidden
name. There are no locks between machines, but commits of the log (`delta`) detect each other.
"""

from __future__ import annotations

import fnmatch
import hashlib
import os
import re
from functools import lru_cache
from pathlib import Path, PurePosixPath
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import parse_qsl, quote, unquote

from causeway.errors import UserError
from causeway.toolchain.installation import cache_dir

if TYPE_CHECKING:
    from pyarrow.fs import FileInfo

_URL = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]+):/{1,3}(?P<path>[^?]*)(?P<query>\?.*)?$")
_SAME = {"s3a": "s3", "s3n": "s3", "gcs": "gs"}
_OBJECTS = ("s3", "gs")
"""Stores in which an object appears when its upload has ended, and in which folders are only prefixes of names."""
_KNOWN = (*_OBJECTS, "hdfs", "viewfs", "abfs", "abfss")
_BLOCK = 8 << 20


def place(folder: str | Path) -> Path:
    """Return the folder as a Path or, for a URL, as a `Remote`, which has the same interface."""
    if isinstance(folder, Remote):
        return folder
    if re.search(r"[\x00-\x1f\x7f]", str(folder)):  # the log of the tables cannot hold such a name
        raise UserError(f"a folder named {str(folder)!r} has a control character in its name; choose another name")
    found = _URL.match(str(folder))
    if found is None or Path(folder).exists():  # a local folder may have such a name
        return Path(folder)
    scheme = _SAME.get(found["scheme"].lower(), found["scheme"].lower())
    if scheme == "file":
        return Path("/", unquote(found["path"]))
    if scheme not in _KNOWN:
        raise UserError(f"{folder}: results can be in a folder of this machine or behind {', '.join(_KNOWN)}://...")
    path = unquote(found["path"]).strip("/")
    if scheme in _OBJECTS and not path:
        raise UserError(f"{folder} has no bucket; write {scheme}://BUCKET/FOLDER")
    return cast(Path, Remote(scheme, path, found["query"] or ""))


def is_remote(folder: object) -> bool:
    """Return whether a folder is behind a URL."""
    return isinstance(folder, Remote)


def require_local(folder: Path, what: str) -> None:
    """Refuse a URL in a command that needs a folder of this machine. `what` is the name of the command."""
    if is_remote(folder):
        raise UserError(f"{what} needs a folder of this machine, but {folder} is a URL; choose another --out")


@lru_cache(maxsize=16)
def _filesystem(scheme: str, host: str, query: str) -> Any:
    from pyarrow.fs import FileSystem

    if scheme == "s3" and "allow_delayed_open" not in query:  # a small file then takes one request instead of three
        query = f"{query or '?'}{'&' if query else ''}allow_delayed_open=true"
    try:
        return FileSystem.from_uri(f"{scheme}://{host}{'' if scheme in _OBJECTS else '/'}{query}")[0]
    except (ValueError, NotImplementedError, OSError) as error:
        raise UserError(f"{scheme}://{host}{query} cannot be reached: {str(error).splitlines()[0]}") from None


class Remote:
    """A file or folder behind a URL, used like a Path."""

    def __init__(self, scheme: str, path: str, query: str, info: FileInfo | None = None) -> None:
        self._scheme, self._path, self._query, self._info = scheme, path, query, info

    # ---- names -------------------------------------------------------------------------------------------------------
    def __str__(self) -> str:
        return f"{self._scheme}://{quote(self._path, safe='/:=,+@~!')}{self._query}"

    def __repr__(self) -> str:
        return f"Remote({str(self)!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Remote, (self._scheme, self._path, self._query)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Remote) and str(self) == str(other)

    def __lt__(self, other: Remote) -> bool:
        return str(self) < str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __truediv__(self, name: str | PurePosixPath) -> Remote:
        return Remote(self._scheme, f"{self._path}/{name}", self._query)

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self._path.rpartition("/")[2]

    @property
    def suffix(self) -> str:
        """The last suffix of the name, as of a Path."""
        return PurePosixPath(self._path).suffix

    @property
    def parent(self) -> Remote:
        """The folder that contains it."""
        return Remote(self._scheme, self._path.rpartition("/")[0], self._query)

    def relative_to(self, other: Remote) -> PurePosixPath:
        """Return the path below another one."""
        return PurePosixPath(self._path).relative_to(other._path)

    def resolve(self) -> Remote:
        """Return this path, since a URL has no links to resolve."""
        return self

    # ---- inspection --------------------------------------------------------------------------------------------------
    @property
    def filesystem(self) -> Any:
        """Return the pyarrow file system."""
        return _filesystem(self._scheme, self._path.partition("/")[0], self._query)

    @property
    def inner(self) -> str:
        """Return the path within the file system."""
        return self._path if self._scheme in _OBJECTS else "/" + self._path.partition("/")[2]

    @property
    def location(self) -> str:
        """Return the address without its options."""
        return f"{self._scheme}://{self._path}"

    @property
    def storage_options(self) -> dict[str, str]:
        """Return the options of the address by the names that delta-rs has for them."""
        options = dict(parse_qsl(self._query.lstrip("?")))
        if self._scheme != "s3":
            return {}
        found = {"aws_conditional_put": "etag"}
        if host := options.get("endpoint_override"):
            scheme = options.get("scheme", "https")
            found |= {"AWS_ENDPOINT_URL": f"{scheme}://{host}", "AWS_ALLOW_HTTP": str(scheme == "http").lower()}
        if region := options.get("region"):
            found["AWS_REGION"] = region
        return found

    def _looked_up(self) -> FileInfo:
        return self._info or self.filesystem.get_file_info(self.inner)

    def exists(self) -> bool:
        """Return whether there is such a file or folder."""
        return self.is_file() or self.is_dir()

    def is_file(self) -> bool:
        """Return whether it is a file."""
        return bool(self._looked_up().is_file)

    def is_dir(self) -> bool:
        """Return whether it is a folder."""
        from pyarrow.fs import FileType

        return self._looked_up().type == FileType.Directory

    @property
    def size(self) -> int:
        """Return the size of a file; 0 of a folder."""
        return int(self._looked_up().size or 0)

    def stat(self) -> SimpleNamespace:
        """Return size and time of change of a file."""
        info = self._looked_up()
        if not info.is_file:
            raise FileNotFoundError(2, "no such file", str(self))
        return SimpleNamespace(st_size=info.size, st_mtime_ns=info.mtime_ns or 0)

    def children(self) -> list[Remote]:
        """Return the content of a folder with sizes and times; nothing if the folder does not exist."""
        from pyarrow.fs import FileSelector

        found = self.filesystem.get_file_info(FileSelector(self.inner, allow_not_found=True))
        listed = [(info.base_name, info) for info in found if info.path.rstrip("/") != self.inner]
        return sorted(Remote(self._scheme, f"{self._path}/{name}", self._query, info) for name, info in listed)

    def glob(self, pattern: str) -> list[Remote]:
        """Return the files of the folder itself that match. The pattern cannot contain folders."""
        return [child for child in self.children() if fnmatch.fnmatchcase(child.name, pattern)]

    # ---- reading and writing -----------------------------------------------------------------------------------------
    def open(self, mode: str = "rb") -> Any:
        """Open the file for reading."""
        assert mode == "rb"
        return self.filesystem.open_input_file(self.inner)

    def read_bytes(self) -> bytes:
        """Return the content of the file."""
        with self.open() as file:
            return bytes(file.read())

    def read_text(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        """Return the content of the file as text."""
        return self.read_bytes().decode(encoding, errors)

    def unlink(self, missing_ok: bool = False) -> None:
        """Delete the file."""
        try:
            self.filesystem.delete_file(self.inner)
        except FileNotFoundError:
            if not missing_ok:
                raise

    def mkdir(self, parents: bool = False, exist_ok: bool = False) -> None:
        """Make a folder and those above it unless it exists. Object stores need no folders."""
        if self._scheme not in _OBJECTS:
            self.filesystem.create_dir(self.inner, recursive=True)

    def send(self, source: Path) -> None:
        """Make this file a copy of `source`, atomically."""
        target = self.inner
        if self._scheme not in _OBJECTS:
            self.parent.mkdir()
            target = f"{self.parent.inner}/.{os.urandom(8).hex()}.part"
        with source.open("rb") as file, self.filesystem.open_output_stream(target, buffer_size=_BLOCK) as stream:
            while block := file.read(_BLOCK):
                stream.write(block)
        if target != self.inner:
            self.filesystem.move(target, self.inner)


def local_folder(folder: Path) -> Path:
    """Return the folder of this machine for the locks and the unfinished work of a result folder."""
    if not is_remote(folder):
        return folder
    return cache_dir() / "remote" / hashlib.sha256(str(folder).encode()).hexdigest()[:16]
