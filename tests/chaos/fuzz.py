"""Mutated windows and recordings: each is refused in words, or the run goes on; nothing else may come of it.

    python -m tests.chaos.fuzz windows 1000000
    NUMBA_BOUNDSCHECK=1 python -m tests.chaos.fuzz recordings 10000

Windows of real runs are damaged, most of them in one number, and validated in the state of that moment.
Accepted ones may reach the compiled protocol; in kernels that check every index, a number that validation accepted and
the kernel cannot bear is an IndexError. Recordings are damaged within their frames, with checksums that fit, or
anywhere. Both happen in children: one that dies or hangs is a finding.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import random
import struct
import sys
import tempfile
import time
import traceback
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from rich.console import Console

from causeway.bridge import engines, framing
from causeway.bridge.engine import Finish
from causeway.bridge.events import EVENT, Window
from causeway.bridge.recording import MAGIC, WITHOUT_CHECKSUMS, frames
from causeway.bridge.validation_frames import FrameValidator
from causeway.bridge.validation_kernel import STATE
from causeway.cli.replay import replay_file
from causeway.errors import RunError, UserError
from causeway.proto.contract import may_lack
from causeway.pycontrol.loop import passive_mask
from causeway.pycontrol.protocol import Context
from causeway.studies.runner import Job, make_spec, run_job
from tests.chaos.chaos import ended

RUNS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("icpp18", {"nodes": 8, "messages": 3}),
    ("ladc18", {"processes": 8}),
    ("hash", {"processes": 6, "messages": 60}),
    ("dcs23", {"processes": 6, "duration_s": 3.0, "rate": 50.0}),
)
ODD = (0, 1, -1, 2, 3, 7, 8, 63, 64, 255, 1 << 15, 1 << 16, 1 << 31, 1 << 32, 1 << 61, 1 << 62, (1 << 63) - 1)
COLUMNS = [name for name in EVENT.names or () if name not in may_lack("Window")]
COPIES = 40
"""Damaged copies of one window."""
BELIEVED = 0.001
"""The share of accepted damaged windows that reach the protocol instead of the true window."""
BATCH_S = 300.0
"""The time limit of a child; it needs seconds."""


def damaged(window: Window, draw: random.Random) -> Window:
    """Return a copy of a window with one damaged or changed value."""
    columns = {name: getattr(window, name).copy() for name in COLUMNS}
    number, end_ps, rows = window.number, window.end_ps, len(window)
    what = draw.randrange(10)
    if what == 0:
        number = draw.choice((number + 1, number - 1, 0, *ODD))
    elif what == 1:
        end_ps = draw.choice((end_ps + 1, end_ps - 1, -end_ps, *ODD))
    elif what == 2 and rows > 1:
        order = list(range(rows))
        i, j = draw.sample(order, 2)
        order[i], order[j] = order[j], order[i]
        columns = {name: values[order] for name, values in columns.items()}
    elif what == 3 and rows:
        at = draw.randrange(rows)
        columns = {name: np.insert(values, at, values[at]) for name, values in columns.items()}
    elif rows:
        for _ in range(draw.choice((1, 1, 1, 2, 5))):
            values, at = columns[draw.choice(COLUMNS)], draw.randrange(rows)
            near = int(values[at]) + draw.choice((-2, -1, 1, 2))
            new = draw.choice((near, near, draw.choice(ODD), int(values[draw.randrange(rows)])))
            values[at] = np.array([new % (1 << 64)], np.uint64).astype(values.dtype)[0]
    return Window(number, end_ps, window.reply, **columns)


def run_of_damaged(study: str, parameters: dict[str, Any], seed: int, draw: random.Random) -> Counter[str]:
    """Make a run, and validate each of its windows with many kinds of damage first."""
    said: Counter[str] = Counter()
    job = Job(study, parameters, seed, "inline")
    protocol = job.study.protocol(job.params)
    spec = make_spec(job, passive_mask(protocol))
    validator, session = FrameValidator(spec), engines.get("inline").open(spec)
    protocol.start(
        Context(
            spec.network.nodes, seed, spec.reaction_ps, [], network=spec.network,
            reports_all_copies=spec.reports_all_copies,
        )
    )  # fmt: skip
    with suppress(RunError):  # what follows a window that never was need not fit to it
        while not isinstance(window := session.next(), Finish):
            for copy in (damaged(window, draw) for _ in range(COPIES)):
                if crosses(validator, copy, said) and draw.random() < BELIEVED and len(copy) == len(window):
                    said["believed"] += 1
                    window = copy
                    break
            validator.check_window(window)
            actions = protocol.on_window(window)
            validator.check_actions(actions, window)
            if window.reply:
                session.answer(actions)
    return said


def crosses(validator: FrameValidator, window: Window, said: Counter[str]) -> bool:
    """Return whether validation accepts it; the validator's state is restored."""
    kept = {name: validator._s[name].copy() for name in STATE.names if not name.endswith("_owners")}
    said["windows"] += 1
    try:
        validator.check_window(window)
        return True
    except RunError:
        said["refused"] += 1
        return False
    finally:
        for name, values in kept.items():
            validator._s[name] = values


# ---- recordings -----------------------------------------------------------------------------------------------------


def written(kept: list[tuple[int, bytes]], draw: random.Random) -> bytes:
    """Write a recording of these frames with valid checksums, or of the version without checksums."""
    bare = draw.random() < 0.2
    total, parts = 0, [WITHOUT_CHECKSUMS if bare else MAGIC]
    for direction, data in kept:
        head = struct.pack("<BI", direction, len(data))
        total = zlib.crc32(data, zlib.crc32(head, total))
        parts += [head, b"" if bare else struct.pack("<I", total), data]
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(b"".join(parts))
    return sink.getvalue().to_pybytes()


def damaged_recording(whole: bytes, kept: list[tuple[int, bytes]], draw: random.Random) -> bytes:
    """Return a damaged copy of the recording."""
    if draw.random() < 0.1:
        data = bytearray(whole)
        for _ in range(draw.choice((1, 1, 3))):
            data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
        return bytes(data[: draw.choice((len(data), draw.randrange(len(data))))])
    changed = list(kept)
    at = draw.randrange(len(changed))
    direction, data = changed[at]
    what = draw.randrange(8)
    if what == 0:
        del changed[at]
    elif what == 1:
        changed.insert(draw.randrange(len(changed)), changed[at])
    elif what == 2:
        changed[at] = 1 - direction, data
    elif what == 3 and data:
        some = bytearray(data)
        for _ in range(draw.choice((1, 1, 4))):
            some[draw.randrange(len(some))] = draw.randrange(256)
        changed[at] = direction, bytes(some)
    elif what == 4:
        changed[at] = direction, data[: draw.randrange(len(data) + 1)]
    else:
        frame = framing.decode(data)
        if frame.WhichOneof("body") == "window":
            with contextlib.suppress(ValueError):  # what a frame has no room for cannot come out of one
                changed[at] = direction, framing.encode_window(damaged(framing.window(frame.window), draw))
    return written(changed, draw)


def replay_damaged(path: Path, whole: bytes, kept: list[tuple[int, bytes]], draw: random.Random) -> str:
    """Return the outcome of one recording."""
    path.write_bytes(damaged_recording(whole, kept, draw))
    try:
        replay_file(path, Console(file=io.StringIO()))
        return "replayed"
    except (RunError, UserError) as error:
        assert "\n" not in str(error).split("\n  ")[0]
        return "refused"


# ---- children -------------------------------------------------------------------------------------------------------


def in_child(what: Callable[[], Counter[str]]) -> tuple[Counter[str], str]:
    """Return the counts of a child, and its error."""
    with tempfile.TemporaryFile() as reported:
        pid = os.fork()
        if not pid:
            text = ""
            try:
                text = repr(dict(what()))
            except BaseException:
                text = "!" + traceback.format_exc()
            finally:
                os.write(reported.fileno(), text.encode())
                os._exit(0)
        status = ended(pid, BATCH_S)
        if status is None:
            os.kill(pid, 9)
            os.waitpid(pid, 0)
            return Counter(), "a child hung"
        reported.seek(0)
        text = reported.read().decode()
    if status or not text or text[0] == "!":
        return Counter(), text or f"a child died with status {status}"
    return Counter(eval(text)), ""


def windows(seed: int) -> Iterator[Callable[[], Counter[str]]]:
    """Make runs with damaged windows, endlessly."""
    for number in range(seed, 1 << 60):
        draw = random.Random(number)
        study, parameters = RUNS[number % len(RUNS)]
        if number < seed + len(RUNS):
            run_job(Job(study, parameters, 1, "inline"))  # compiled here, once
        yield lambda: run_of_damaged(study, parameters, number % 50, draw)  # noqa: B023 (called at once)


def recordings(seed: int) -> Iterator[Callable[[], Counter[str]]]:
    """Replay endless batches of damaged recordings."""
    folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
    known = []
    for study, parameters in RUNS:
        path = folder / f"{study}.frames"
        run_job(Job(study, parameters, 1, "inline", record_to=str(path)))
        replay_file(path, Console(file=io.StringIO()))
        known.append((path.read_bytes(), list(frames(path))))

    def batch(number: int) -> Counter[str]:
        draw, said = random.Random(number), Counter[str]()
        for _ in range(100):
            said["recordings"] += 1
            said[replay_damaged(folder / "damaged.frames", *draw.choice(known), draw)] += 1
        return said

    for number in range(seed, 1 << 60):
        yield lambda: batch(number)  # noqa: B023


def fuzz(kind: str, count: int, seed: int, most_wrong: int = 5) -> tuple[Counter[str], list[str]]:
    """Damage this many windows or recordings; return the counts and the errors."""
    said, wrong = Counter[str](), []
    for work in {"windows": windows, "recordings": recordings}[kind](seed):
        counted, fault = in_child(work)
        said += counted
        said["children"] += 1
        if fault:
            wrong.append(fault)
        if said["children"] % 100 == 0:
            print(dict(said), len(wrong), "wrong", file=sys.stderr, flush=True)
        if said[kind] >= count or len(wrong) >= most_wrong:
            return said, wrong
    raise AssertionError


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("kind", choices=["windows", "recordings"])
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    began = time.process_time()
    said, wrong = fuzz(given.kind, given.count, given.seed)
    print(f"{dict(said)}, seed {given.seed}; {time.process_time() - began:.0f} s", *wrong, sep="\n")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
