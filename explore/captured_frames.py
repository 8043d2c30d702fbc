"""Find the frames that carried a packet in the captures of `run --pcap`.

Frames do not contain the contents of packets, so a packet is identified by its time: it arrives at the instant at which
the frame that completes it is captured at its node. The frame at the sender is the last earlier one with the same
bytes. If a frame was repeated (802.11, TCP), this is the repetition that arrived.
"""

from __future__ import annotations

import struct
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from causeway.explore.model import Event

SLACK_PS = 2 * 10**6
"""The tolerance of comparisons, since captures have a resolution of a microsecond."""
SECTION, INTERFACE, PACKET = 0x0A0D0D0A, 1, 6
TSRESOL, NO_RESOL = 9, 6


class Frame(NamedTuple):
    """One row of a capture."""

    time_ps: int
    number: int
    """The number in Wireshark, from 1."""
    data: bytes


class Arrived(NamedTuple):
    """The frame with which a packet arrived at a node. `receiver` and `sender` are names of captures."""

    receiver: str
    number: int
    sender: str
    sent: int
    """The number of the frame at the sender, or 0 if it was not found."""

    def __str__(self) -> str:
        text = f"frame {self.number} of {self.receiver}"
        return text + (f", sent as frame {self.sent} of {self.sender}" if self.sent else "")


def read(path: Path) -> list[Frame]:
    """Return all complete frames of a pcapng file, which may be truncated."""
    data, at, number = path.read_bytes(), 0, 0
    units_ps: list[int] = []
    frames: list[Frame] = []
    while at + 12 <= len(data):
        kind, length = struct.unpack_from("<II", data, at)
        if length < 12 or at + length > len(data):
            break
        body = data[at + 8 : at + length - 4]
        if kind == SECTION:
            units_ps = []
        elif kind == INTERFACE:
            units_ps.append(_unit_ps(body[8:]))
        elif kind == PACKET and len(body) >= 20:
            interface, high, low, captured, _ = struct.unpack_from("<IIIII", body)
            number += 1
            unit_ps = units_ps[interface] if interface < len(units_ps) else 10**6
            frames.append(Frame(((high << 32) | low) * unit_ps, number, body[20 : 20 + captured]))
        at += length
    return frames


def _unit_ps(options: bytes) -> int:
    """Return the unit of an interface's times in ps: that in its options, or by default a microsecond."""
    at = 0
    while at + 4 <= len(options):
        code, length = struct.unpack_from("<HH", options, at)
        if code == 0:
            break
        if code == TSRESOL and length == 1 and options[at + 4] <= 12:
            return 10 ** (12 - options[at + 4])
        at += 4 + (length + 3) // 4 * 4
    return 10 ** (12 - NO_RESOL)


@dataclass(eq=False)
class Captures:
    """The captures of a run by the names of its nodes. Each capture is read when it is first needed."""

    folder: Path
    _frames: dict[str, list[Frame]] = field(default_factory=dict)

    def of(self, name: str) -> list[Frame]:
        """Return the frames of a node (`host[3]`); none if it has no capture."""
        if name not in self._frames:
            path = next((p for p in self.folder.glob("*.pcap") if p.name.endswith(f".{name}.pcap")), None)
            self._frames[name] = read(path) if path is not None else []
        return self._frames[name]

    def arrival(self, sent_ps: int, sender: str, came_ps: int, receiver: str) -> Arrived | None:
        """Return the frame with which a packet arrived, or None if no frame fits.

        Args:
            sent_ps: The time at which the sender sent the packet.
            sender: The sender's name in captures.
            came_ps: The time at which the packet arrived.
            receiver: The receiver's name in captures.
        """
        there, here = self.of(receiver), self.of(sender)
        first = bisect_left(there, came_ps - SLACK_PS, key=lambda frame: frame.time_ps)
        best = None
        for frame in there[first:]:
            if frame.time_ps > came_ps + SLACK_PS:
                break
            sent = _last(here, frame.data, sent_ps - SLACK_PS, came_ps + SLACK_PS)
            if sent:
                best = Arrived(f"{receiver}.pcap", frame.number, f"{sender}.pcap", sent)
        return best


def _last(frames: Sequence[Frame], data: bytes, from_ps: int, until_ps: int) -> int:
    first = bisect_left(frames, from_ps, key=lambda frame: frame.time_ps)
    found = 0
    for frame in frames[first:]:
        if frame.time_ps > until_ps:
            break
        if frame.data == data:
            found = frame.number
    return found


def named(events: Sequence[Event], captures: Captures, names: Mapping[int, str]) -> list[Event]:
    """Return the events of a chain with the frames of arrivals in their texts. `names` are the names in captures."""
    sent_ps = {event.number: event.time_ps for event in events if event.what == "sent"}
    found = []
    for event in events:
        if event.what == "packet" and event.number in sent_ps and event.node in names and event.peer in names:
            frame = captures.arrival(sent_ps[event.number], names[event.peer], event.time_ps, names[event.node])
            if frame is not None:
                event = event._replace(text=f"{event.text} [{frame}]")
        found.append(event)
    return found
