"""Read and write recordings: the frames of a run in one file.

After a line that names the format, a recording has (direction, length, checksum, bytes) of each frame, under zstd. A
checksum (CRC-32) covers its frame and, by the previous checksum, all earlier ones. Recordings of version 1 have no
checksums; they can still be read. A recording gets its name only if the run ends without an error.
"""

from __future__ import annotations

import contextlib
import errno
import os
import struct
import zlib
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from causeway.bridge import framing
from causeway.bridge.transport import LONGEST_FRAME
from causeway.errors import RunError, UserError

MAGIC = b"causeway recording 2\n"
WITHOUT_CHECKSUMS = b"causeway recording 1\n"
ENGINE, CONTROLLER = 0, 1
_HEAD, _SUM = struct.Struct("<BI"), struct.Struct("<I")


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
        self._sum = 0
        self._write(MAGIC)

    def from_engine(self, data: bytes) -> None:
        """Write a frame that came from the engine."""
        self._keep(ENGINE, data)

    def from_controller(self, data: bytes) -> None:
        """Write a frame that the controller sent."""
        self._keep(CONTROLLER, data)

    def _keep(self, direction: int, data: bytes) -> None:
        if len(data) > LONGEST_FRAME:
            self.discard()
            raise RunError(f"a frame of {len(data):,} bytes is too long for a recording; allowed: {LONGEST_FRAME:,}")
        head = _HEAD.pack(direction, len(data))
        self._sum = zlib.crc32(data, zlib.crc32(head, self._sum))
        self._write(head + _SUM.pack(self._sum) + data)

    def land(self) -> None:
        """Give the file its name, at the end of a run without an error."""
        with self._errors_reported():
            spare = os.dup(self._file.fileno())  # the stream closes the file to which it writes
            try:
                self._stream.close()
                os.fsync(spare)
                if not self._named:
                    os.link(f"/proc/self/fd/{spare}", self._partial, src_dir_fd=spare, follow_symlinks=True)
            finally:
                os.close(spare)
            os.replace(self._partial, self.path)

    def discard(self) -> None:
        """Remove the file, after a run that failed."""
        with contextlib.suppress(OSError, ValueError):
            self._stream.close()
        with contextlib.suppress(OSError):
            self._file.close()
        self._partial.unlink(missing_ok=True)

    def _write(self, data: bytes) -> None:
        with self._errors_reported():
            self._stream.write(data)

    @contextlib.contextmanager
    def _errors_reported(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            reason = error.strerror or str(error)
            self.discard()
            raise RunError(
                f"cannot write the recording {self.path}: {reason}; free some space or record elsewhere"
            ) from None


def _open_unnamed(path: Path) -> tuple[BinaryIO, bool]:
    """Open a file without a name in the directory of `path`, so that a killed process leaves nothing behind.

    Returns:
        The file, and True if it has the name `path`, since the file system has no unnamed files.
    """
    try:
        return os.fdopen(os.open(path.parent, os.O_TMPFILE | os.O_RDWR, 0o644), "wb", buffering=1 << 16), False
    except OSError as error:
        if error.errno not in (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL):
            raise
        return open(path, "wb"), True


@dataclass(frozen=True)
class Recorded:
    """The description of a run at the beginning of its recording."""

    engine: str
    engine_version: str
    setup: Any
    """The protobuf Setup: study, parameters_json, seed, reaction_ps, cap, ..."""


def frames(path: Path) -> Generator[tuple[int, bytes], None, None]:
    """Yield (direction, bytes) of every frame of a recording.

    Only one frame, of bounded size, is in memory at a time.
    """
    try:
        with pa.CompressedInputStream(pa.OSFile(str(path)), "zstd") as stream:
            magic = stream.read(len(MAGIC))
            if magic not in (MAGIC, WITHOUT_CHECKSUMS):
                raise UserError(
                    f"{path} is not a recording of this version; record it again with `causeway run ... --record`"
                )
            number, total = 0, 0
            while head := stream.read(_HEAD.size):
                direction, size = _HEAD.unpack(head)
                if direction not in (ENGINE, CONTROLLER) or size > LONGEST_FRAME:
                    raise UserError(
                        f"the recording {path} is damaged: frame {number} says direction {direction}, {size:,} bytes; "
                        f"allowed: 0 or 1, up to {LONGEST_FRAME:,}; record the run again"
                    )
                checksum = stream.read(_SUM.size) if magic == MAGIC else b""
                data = stream.read(size)
                if len(data) != size:
                    raise UserError(f"the recording {path} is cut off; record the run again")
                total = zlib.crc32(data, zlib.crc32(head, total))
                if checksum and _SUM.unpack(checksum)[0] != total:
                    raise UserError(
                        f"the recording {path} is damaged: frame {number} has a wrong checksum; record the run again"
                    )
                yield direction, data
                number += 1
    except FileNotFoundError:
        raise UserError(f"there is no recording {path}") from None
    except (OSError, struct.error) as error:
        reason = str(error).splitlines()[0]
        raise UserError(f"{path} is not a recording, or is damaged: {reason}; record the run again") from None


def describe(path: Path) -> Recorded:
    """Return the description of a recorded run."""
    stream = frames(path)
    try:
        hello = framing.decode(next(stream)[1]).hello
        setup = framing.decode(next(stream)[1]).setup
    except StopIteration:
        raise UserError(f"the recording {path} is empty") from None
    except RunError as error:
        raise UserError(f"{path} is damaged: {error}; record the run again") from None
    finally:
        stream.close()
    return Recorded(hello.engine, hello.engine_version, setup)


def nodes_of(path: Path) -> dict[int, str]:
    """Return the modules of a user's own network that are nodes of a recorded run; older recordings name none."""
    last = b""
    for direction, data in frames(path):
        last = data if direction == ENGINE else last
    return framing.finish(framing.decode(last).finish).nodes
