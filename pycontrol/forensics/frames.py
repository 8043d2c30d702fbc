"""Which frames of the captures of `run --pcap` carried a packet.

Frames hold no contents, so a packet is known by its time: an application is told of a packet at the instant in which
the frame that completes it is captured at its node. The same bytes, sent before, are the frame at the other end; a
frame that is repeated (802.11, TCP) is not the one that got through, but the last one before.
"""

from __future__ import annotations

import struct
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from causeway.pycontrol.check.world import Event

SLACK_PS = 2 * 10**6
"""Captures have microseconds."""
SECTION, INTERFACE, PACKET = 0x0A0D0D0A, 1, 6
TSRESOL, NO_RESOL = 9, 6


class Frame(NamedTuple):
    """One row of a capture."""

    time_ps: int
    number: int
    """As Wireshark counts: from 1."""
    data: bytes


class Arrived(NamedTuple):
    """What brought a packet to a node."""

    receiver: str
    number: int
    sender: str
    sent: int
    """0: not found."""

    def __str__(self) -> str:
        there = f"frame {self.number} of {self.receiver}"
        return there + (f", sent as frame {self.sent} of {self.sender}" if self.sent else "")


def read(path: Path) -> list[Frame]:
    """All frames of a pcapng file. One that was cut short is read up to there."""
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
    """Of the times of an interface: a power of ten, microseconds if it does not say."""
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
    """The captures of a run, by the names of its nodes, each read when it is first asked for."""

    folder: Path
    _frames: dict[str, list[Frame]] = field(default_factory=dict)

    def of(self, name: str) -> list[Frame]:
        """The frames of a node (`host[3]`); none if it has no capture."""
        if name not in self._frames:
            path = next((p for p in self.folder.glob("*.pcap") if p.name.endswith(f".{name}.pcap")), None)
            self._frames[name] = read(path) if path is not None else []
        return self._frames[name]

    def arrival(self, sent_ps: int, sender: str, came_ps: int, receiver: str) -> Arrived | None:
        """The frame that was captured as a packet came, and the one that it was when it was sent."""
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
    """The events of a chain; arrivals say which frames brought them. `names`: of nodes, in captures."""
    sent_ps = {event.number: event.time_ps for event in events if event.what == "sent"}
    found = []
    for event in events:
        if event.what == "packet" and event.number in sent_ps and event.node in names and event.peer in names:
            frame = captures.arrival(sent_ps[event.number], names[event.peer], event.time_ps, names[event.node])
            if frame is not None:
                event = event._replace(text=f"{event.text} [{frame}]")
        found.append(event)
    return found
