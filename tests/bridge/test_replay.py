"""A recording holds a run; replay feeds it and names the first answer that differs."""

from __future__ import annotations

import dataclasses
import struct
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from causeway.bridge import engines
from causeway.bridge.engine import Finish
from causeway.bridge.events import Act, Actions, Window, no_actions
from causeway.bridge.recording import describe, frames
from causeway.bridge.session import open_session
from causeway.errors import RunError, UserError
from tests.helpers.bridge_tools import FAKE, FAKE_ENVIRONMENT, small_spec


def answer(window: Window) -> Actions:
    """Answer with two timers for each event."""
    rows = 2 * len(window)
    zeros = np.zeros(rows, np.int32)
    return Actions(
        np.full(rows, Act.SET_TIMER, np.uint8), np.repeat(window.time_ps, 2) + 10**9, zeros,
        np.arange(rows) + window.number, zeros, zeros, np.zeros(rows, np.uint8),
    )  # fmt: skip


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("recording") / "run.frames"
    session = open_session(small_spec(record_to=path), "fake", [*FAKE, "fine"], FAKE_ENVIRONMENT)
    try:
        while not isinstance(event := session.next(), Finish):
            session.answer(answer(event))
    finally:
        session.close()
    return path


def replay(path: Path, answers=answer) -> tuple[list[Window], Finish]:
    session = engines.get("replay").open(small_spec(options={"recording": path}))
    windows = []
    try:
        while not isinstance(event := session.next(), Finish):
            windows.append(event)
            if event.reply:
                session.answer(answers(event))
    finally:
        session.close()
    return windows, event


def test_a_recording_knows_its_run(recording: Path) -> None:
    recorded = describe(recording)
    assert (recorded.engine, recorded.engine_version) == ("fake", "fake 1")
    assert (recorded.setup.study, recorded.setup.seed, recorded.setup.parameters_json) == ("test", 1, '{"x": 1}')


def test_replay_feeds_every_window_and_ends_as_the_run_did(recording: Path) -> None:
    windows, finish = replay(recording)
    assert [w.number for w in windows] == list(range(51))
    assert [len(w) for w in windows] == [0] + [1] * 50
    assert finish == Finish("done", 50_000_000, 50, {})


@pytest.mark.parametrize(
    ("column", "row", "reported"),
    [
        ("time_ps", 1, "row 1, column time_ps: recorded 1029999999, now 1030000004"),
        ("ref", 0, "row 0, column ref: recorded 30, now 35"),
        ("node", 1, "row 1, column node: recorded 0, now 5"),
    ],
)
def test_the_first_answer_that_differs_is_named(recording: Path, column: str, row: int, reported: str) -> None:
    def differently(window: Window) -> Actions:
        actions = answer(window)
        if window.number >= 30:
            changed = getattr(actions, column).copy()
            changed[row] += 5
            actions = dataclasses.replace(actions, **{column: changed})
        return actions

    # frames 0 and 1 are the handshake, then every window has two
    with pytest.raises(RunError, match="at frame 63 \\(window 30\\): " + reported):
        replay(recording, differently)


def test_an_answer_with_fewer_actions_is_named(recording: Path) -> None:
    with pytest.raises(RunError, match="at frame 5 \\(window 1\\): row 0: recorded 2 actions, now 0"):
        replay(recording, lambda window: no_actions())


def test_stopping_where_the_recorded_controller_did_not_is_named(recording: Path) -> None:
    with pytest.raises(RunError, match="at frame 3 \\(window 0\\): stop: recorded False, now True"):
        replay(recording, lambda window: dataclasses.replace(answer(window), stop=True))


def test_a_file_that_is_no_recording_is_refused(recording: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no recording"):
        replay(tmp_path / "missing.frames")
    (tmp_path / "text").write_text("hello")
    with pytest.raises(UserError, match="is not a recording"):
        replay(tmp_path / "text")
    with pytest.raises(UserError, match="needs a recording"):
        engines.get("replay").open(small_spec())


def test_a_recording_that_was_cut_off_is_refused(recording: Path, tmp_path: Path) -> None:
    whole = recording.read_bytes()
    (tmp_path / "cut.frames").write_bytes(whole[: len(whole) // 2])
    with pytest.raises((UserError, RunError), match=r"cut off|damaged|ends at frame"):
        replay(tmp_path / "cut.frames")


@pytest.mark.parametrize(("what", "behind"), [("another recording", None), ("other bytes", b"xx"), ("a zero", b"\0")])
def test_bytes_after_the_end_of_a_recording_are_refused(
    recording: Path, tmp_path: Path, what: str, behind: bytes | None
) -> None:
    longer, whole = tmp_path / "longer.frames", recording.read_bytes()
    longer.write_bytes(whole + (whole if behind is None else behind))
    with pytest.raises((RunError, UserError), match="record the run again") as error:
        replay(longer)
    assert str(longer) in str(error.value) and "\n" not in str(error.value), what


def test_frames_after_the_end_of_the_run_are_refused(recording: Path, tmp_path: Path) -> None:
    longer = tmp_path / "longer.frames"
    raw = pa.CompressedInputStream(pa.OSFile(str(recording)), "zstd").read()
    last = raw.rindex(struct.pack("<BI", 0, len(list(frames(recording))[-1][1])))
    packed(longer, raw + raw[last:])
    with pytest.raises(UserError, match="wrong checksum; record the run again"):
        replay(longer)
    old = [struct.pack("<BI", direction, len(data)) + data for direction, data in frames(recording)]
    packed(longer, b"causeway recording 1\n" + b"".join([*old, old[-1]]))
    with pytest.raises(UserError, match=r"has frames after the end of its run .*record the run again"):
        replay(longer)


def test_a_changed_byte_anywhere_is_detected(recording: Path, tmp_path: Path) -> None:
    """The 21 bytes of the file's header are excluded, as changes there give another message."""
    raw = bytearray(pa.CompressedInputStream(pa.OSFile(str(recording)), "zstd").read())
    random = np.random.default_rng(1)
    for at in random.integers(21, len(raw), 60).tolist():
        raw[at] ^= 1 << int(random.integers(0, 8))
        packed(tmp_path / "changed.frames", bytes(raw))
        with pytest.raises(UserError, match=r"damaged|cut off"):
            list(frames(tmp_path / "changed.frames"))
        raw = bytearray(pa.CompressedInputStream(pa.OSFile(str(recording)), "zstd").read())


def test_exchanged_frames_are_detected(recording: Path, tmp_path: Path) -> None:
    raw = pa.CompressedInputStream(pa.OSFile(str(recording)), "zstd").read()
    places, at = [], 21
    while at < len(raw):
        places.append((at, at + 9 + int.from_bytes(raw[at + 1 : at + 5], "little")))
        at = places[-1][1]
    kept = [raw[a:b] for a, b in places]
    kept[10], kept[12] = kept[12], kept[10]
    packed(tmp_path / "swapped.frames", raw[:21] + b"".join(kept))
    with pytest.raises(UserError, match="damaged: frame 10 has a wrong checksum"):
        list(frames(tmp_path / "swapped.frames"))


def test_a_small_file_that_unpacks_to_gigabytes_is_refused_before_it_does(tmp_path: Path) -> None:
    frame = struct.pack("<BI", 0, 0xFFFFFFFF)
    packed(tmp_path / "bomb.frames", b"causeway recording 1\n" + frame + bytes(1 << 26))
    with pytest.raises(UserError, match=r"says direction 0, 4,294,967,295 bytes; allowed: 0 or 1, up to 134,217,728"):
        list(frames(tmp_path / "bomb.frames"))


def test_recordings_without_checksums_can_be_read(recording: Path, tmp_path: Path) -> None:
    given = list(frames(recording))
    old = b"".join(struct.pack("<BI", direction, len(data)) + data for direction, data in given)
    packed(tmp_path / "old.frames", b"causeway recording 1\n" + old)
    assert list(frames(tmp_path / "old.frames")) == given


def packed(path: Path, raw: bytes) -> None:
    with pa.CompressedOutputStream(pa.OSFile(str(path), "wb"), "zstd") as stream:
        stream.write(raw)


def test_every_frame_of_both_directions_is_kept(recording: Path) -> None:
    directions = [direction for direction, _ in frames(recording)]
    assert directions == [0, 1] + [0, 1] * 51 + [0]
