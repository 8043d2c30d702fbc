"""The messages in a station's order that a host has not acknowledged yet."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from causeway.pycontrol.protocols.mobile.messages import Data, MessageId


@dataclass(slots=True)
class Entry:
    """A message in a station's order."""

    seq_C: int
    id: MessageId
    data: Data
    M_d: set[int] = field(default_factory=set)
    due_ps: int = 0
    """The time at which to send it to the cell for the first or the next time."""


class SBuffer:
    """The messages seq_C - len .. seq_C - 1 of the station's order, without gaps."""

    def __init__(self) -> None:
        self.seq_C = 0
        """The number of the next message."""
        self._entries: deque[Entry] = deque()
        self._by_id: dict[MessageId, Entry] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries)

    def __contains__(self, id_: MessageId) -> bool:
        return id_ in self._by_id

    def insert(self, id_: MessageId, data: Data) -> Entry:
        """Append a message to the order."""
        assert id_ not in self._by_id, f"{id_} reached this station twice"
        entry = Entry(self.seq_C, id_, data)
        self._entries.append(entry)
        self._by_id[id_] = entry
        self.seq_C += 1
        return entry

    def minSeq(self) -> int:
        """Return the number of the oldest message kept, or of the next one if none is kept."""
        return self.seq_C - len(self._entries)

    def clear(self, seq_C: int) -> None:
        """Discard the messages before seq_C."""
        while self._entries and self._entries[0].seq_C < seq_C:
            del self._by_id[self._entries.popleft().id]

    def since(self, seq_C: int) -> Iterator[Entry]:
        """Return the entries from seq_C on."""
        return islice(self._entries, max(0, seq_C - self.minSeq()), None)

    def first(self, count: int) -> Iterator[Entry]:
        """Return the oldest `count` entries."""
        return islice(self._entries, count)
