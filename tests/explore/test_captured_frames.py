"""Frames of captures are found by their bytes and their times: the same bytes at both ends, at the right time."""

from __future__ import annotations

import struct
from pathlib import Path

from causeway.explore.captured_frames import Captures, named, read
from causeway.explore.model import Event

US_PS = 10**6


def block(kind: int, body: bytes) -> bytes:
    body += bytes(-len(body) % 4)
    length = 12 + len(body)
    return struct.pack("<II", kind, length) + body + struct.pack("<I", length)


def capture(rows: list[tuple[int, bytes]], resolution: int | None = None) -> bytes:
    """A pcapng file; times in units of the resolution (microseconds if it does not say)."""
    options = struct.pack("<HHB3x", 9, 1, resolution) if resolution is not None else b""
    parts = [
        block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)),
        block(1, struct.pack("<HHI", 1, 0, 65535) + options + struct.pack("<HH", 0, 0)),
    ]
    for time, data in rows:
        head = struct.pack("<IIIII", 0, time >> 32, time & 0xFFFFFFFF, len(data), len(data))
        parts.append(block(6, head + data))
    return b"".join(parts)


def folder(tmp_path: Path, **nodes: list[tuple[int, bytes]]) -> Captures:
    for name, rows in nodes.items():
        (tmp_path / f"Net.{name}.pcap").write_bytes(capture(rows))
    return Captures(tmp_path)


def test_a_capture_is_read_with_its_times_and_wiresharks_numbers(tmp_path: Path) -> None:
    path = tmp_path / "a.pcap"
    path.write_bytes(capture([(5, b"one"), ((1 << 32) + 7, b"two!")]))
    assert [tuple(frame) for frame in read(path)] == [(5 * US_PS, 1, b"one"), (((1 << 32) + 7) * US_PS, 2, b"two!")]
    path.write_bytes(capture([(5, b"one")], resolution=9))
    assert read(path)[0].time_ps == 5000
    path.write_bytes(capture([(5, b"one"), (6, b"two")])[:-3])
    assert len(read(path)) == 1, "the last one was cut short"


def test_an_arrival_is_the_frame_of_that_instant_whose_bytes_were_sent_before(tmp_path: Path) -> None:
    captures = folder(
        tmp_path, a=[(10, b"beacon"), (20, b"hello"), (30, b"hello")],
        b=[(11, b"beacon"), (21, b"hello"), (31, b"hello"), (31, b"stranger")],
    )  # fmt: skip
    assert str(captures.arrival(29 * US_PS, "a", 31 * US_PS, "b")) == "frame 3 of b.pcap, sent as frame 3 of a.pcap"
    assert captures.arrival(29 * US_PS, "a", 21 * US_PS, "b") is None, "it had not been sent by then"
    assert captures.arrival(0, "a", 50 * US_PS, "b") is None
    assert captures.arrival(0, "a", 31 * US_PS, "c") is None, "no capture"


def test_arrivals_of_a_chain_name_their_frames(tmp_path: Path) -> None:
    captures = folder(tmp_path, **{"host[0]": [(20, b"hello")], "host[1]": [(21, b"hello")]})
    events = [
        Event(19 * US_PS, "sent", 0, 5, 1, "x"), Event(21 * US_PS, "packet", 1, 5, 0, "x"),
        Event(40 * US_PS, "packet", 1, 6, 0, "y"),
    ]  # fmt: skip
    found = named(events, captures, {0: "host[0]", 1: "host[1]"})
    assert [e.text for e in found] == ["x", "x [frame 1 of host[1].pcap, sent as frame 1 of host[0].pcap]", "y"]
