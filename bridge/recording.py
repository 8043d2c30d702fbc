"""The frames of a run in one file: a line that says what it is, then (direction, length, bytes) of each, under zstd.

A recording lands under its name only when the run ended well.
"""

from __future__ import annotations

import contextlib
import errno
import os
import struct
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from causeway.bridge import wire
from causeway.bridge.errors import RunError, UserError

MAGIC = b"causeway recording 1\n"
ENGINE, CONTROLLER = 0, 1
_HEAD = struct.Struct("<BI")


class Recorder:
    """Writes a recording."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file, self._named = _open_unnamed(self._partial)
            self._stream: Any = pa.CompressedOutputStream(pa.PythonFile(self._file, "w"), "zstd")
        except OSError as error:
            raise UserError(f"cannot record to {path}: {error.strerror or error}") from None
        self._write(MAGIC)

    def from_engine(self, data: bytes) -> None:
        """Keeps a frame that came from the engine."""
        self._write(_HEAD.pack(ENGINE, len(data)) + data)

    def from_controller(self, data: bytes) -> None:
        """Keeps a frame that the controller sent."""
        self._write(_HEAD.pack(CONTROLLER, len(data)) + data)

    def land(self) -> None:
        """The run ended well: the file gets its name."""
        with self._told():
            spare = os.dup(self._file.fileno())  # the stream closes the file it writes to
            try:
                self._stream.close()
                os.fsync(spare)
                if not self._named:
                    os.link(f"/proc/self/fd/{spare}", self._partial, src_dir_fd=spare, follow_symlinks=True)
            finally:
                os.close(spare)
            os.replace(self._partial, self.path)

    def discard(self) -> None:
        """The run did not end well: nothing stays."""
        with contextlib.suppress(OSError, ValueError):
            self._stream.close()
        with contextlib.suppress(OSError):
            self._file.close()
        self._partial.unlink(missing_ok=True)

    def _write(self, data: bytes) -> None:
        with self._told():
            self._stream.write(data)

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            reason = error.strerror or str(error)
            self.discard()
            raise RunError(
                f"cannot write the recording {self.path}: {reason}; free some space or record elsewhere"
            ) from None


def _open_unnamed(path: Path) -> tuple[BinaryIO, bool]:
    """A file without a name in the directory of `path`: a killed process leaves nothing behind.

    Where the file system has no such files, one named `path`; the bool says which.
    """
    try:
        return os.fdopen(os.open(path.parent, os.O_TMPFILE | os.O_RDWR, 0o644), "wb", buffering=1 << 16), False
    except OSError as error:
        if error.errno not in (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL):
            raise
        return open(path, "wb"), True


@dataclass(frozen=True)
class Recorded:
    """What a recording says about its run."""

    engine: str
    engine_version: str
    setup: Any
    """The protobuf Setup: study, parameters_json, seed, reaction_ps, cap, ..."""


def frames(path: Path) -> Generator[tuple[int, bytes], None, None]:
    """(direction, bytes) of every frame of a recording."""
    try:
        with pa.CompressedInputStream(pa.OSFile(str(path)), "zstd") as stream:
            if stream.read(len(MAGIC)) != MAGIC:
                raise UserError(
                    f"{path} is no recording of this version; record it anew with `causeway run ... --record`"
                )
            while head := stream.read(_HEAD.size):
                direction, size = _HEAD.unpack(head)
                data = stream.read(size)
                if len(data) != size:
                    raise UserError(f"the recording {path} is cut off; record it anew")
                yield direction, data
    except FileNotFoundError:
        raise UserError(f"there is no recording {path}") from None
    except (OSError, struct.error) as error:
        raise UserError(f"{path} is no recording or is damaged: {str(error).splitlines()[0]}") from None


def describe(path: Path) -> Recorded:
    """The run that a recording holds."""
    stream = frames(path)
    try:
        hello = wire.decode(next(stream)[1]).hello
        setup = wire.decode(next(stream)[1]).setup
    except StopIteration:
        raise UserError(f"the recording {path} is empty") from None
    finally:
        stream.close()
    return Recorded(hello.engine, hello.engine_version, setup)
