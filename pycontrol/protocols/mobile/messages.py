"""The messages of Section IV.A, with the names of the paper and their sizes on the wire.

An application message has the size that the application sets (100 bytes in the paper, its few integers included) and 4
more bytes for every id in M_d. Any other message has one byte for its type and 4 bytes for every integer in it.

docs/papers/mobile20.md explains the fields that the paper does not print: `Ses` in App_hs, `vMd` in App_sh and initACK,
`Co` in ack_h, init and Req1, `seq_h` in join.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

MessageId = tuple[int, int]
"""(id_h, seq_h): the host that broadcast an application message, and the message's number at that host."""

TYPE_BYTES, INT_BYTES = 1, 4

FROM_STATION, ACKNOWLEDGEMENT, TO_STATION, OTHER = 1, 2, 3, 0
"""Topics of messages by radio, for which nodes declare lookaheads: App_sh; its acknowledgements; other messages of
hosts; other messages of stations."""


@dataclass(frozen=True, slots=True)
class Data:
    """The content of an application message, represented by its id in the run."""

    message: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class AppHS:
    """Host to its station: a message to broadcast."""

    kind: ClassVar[str] = "App_hs"
    topic: ClassVar[int] = TO_STATION
    data: Data
    id_h: int
    seq_h: int
    Ses: int

    @property
    def size_bytes(self) -> int:
        """The size on the wire."""
        return self.data.size_bytes


@dataclass(frozen=True, slots=True)
class AppSS:
    """Station to its neighbours in the tree: an application message."""

    kind: ClassVar[str] = "App_ss"
    data: Data
    id_h: int
    seq_h: int

    @property
    def size_bytes(self) -> int:
        """The size on the wire."""
        return self.data.size_bytes


@dataclass(frozen=True, slots=True)
class AppSH:
    """Station to its cell: an application message.

    `M_d` are the hosts that delivered it elsewhere; `vMd` counts the station's additions to any M_d.
    """

    kind: ClassVar[str] = "App_sh"
    topic: ClassVar[int] = FROM_STATION
    data: Data
    seq_C: int
    id_C: int
    M_d: frozenset[int]
    vMd: int

    @property
    def size_bytes(self) -> int:
        """The size on the wire."""
        return self.data.size_bytes + INT_BYTES * len(self.M_d)


@dataclass(frozen=True, slots=True)
class AppCo:
    """Station to one host that connects: a message that the station had already discarded."""

    kind: ClassVar[str] = "App_Co"
    topic: ClassVar[int] = OTHER
    data: Data
    id_C: int
    seq_C: int
    id_hdest: int
    Ses: int

    @property
    def size_bytes(self) -> int:
        """The size on the wire."""
        return self.data.size_bytes


@dataclass(frozen=True, slots=True)
class AckH:
    """Host to its station: the host has delivered all messages before seq_C.

    seq_C counts this session's App_Co messages if Co, else the messages of the cell.
    """

    kind: ClassVar[str] = "ack_h"
    id_h: int
    Co: bool
    seq_C: int
    Ses: int
    received: tuple[tuple[int, int], ...] = ()
    """Beyond the paper (`Timing.ack_intervals`): half-open intervals of later messages that the host has."""

    @property
    def size_bytes(self) -> int:
        """The size on the wire."""
        return TYPE_BYTES + INT_BYTES * (3 + 2 * len(self.received)) + 1

    @property
    def topic(self) -> int:
        """The topic. A station reacts at once only to acknowledgements of a host that connects (Co)."""
        return TO_STATION if self.Co else ACKNOWLEDGEMENT


@dataclass(frozen=True, slots=True)
class AckC:
    """Station to its cell: the seq_h that it expects next of each host connected to it."""

    kind: ClassVar[str] = "ack_C"
    topic: ClassVar[int] = OTHER
    id_C: int
    vSeq: Mapping[int, int]

    @property
    def size_bytes(self) -> int:
        """The size on the wire."""
        return TYPE_BYTES + INT_BYTES * (1 + 2 * len(self.vSeq))


@dataclass(frozen=True, slots=True)
class Join:
    """Host to the nearest station: a request to join the system; the host's next message is seq_h."""

    kind: ClassVar[str] = "join"
    topic: ClassVar[int] = TO_STATION
    size_bytes: ClassVar[int] = TYPE_BYTES + 4 * INT_BYTES
    id_h: int
    id_C: int
    seq_h: int
    Ses: int


@dataclass(frozen=True, slots=True)
class Init:
    """Host to the nearest station: a request to connect.

    The host has delivered all messages before seq_C in session Ses_LC.
    """

    kind: ClassVar[str] = "init"
    topic: ClassVar[int] = TO_STATION
    size_bytes: ClassVar[int] = TYPE_BYTES + 5 * INT_BYTES + 1
    id_h: int
    id_C: int
    Co: bool
    seq_C: int
    Ses_LC: int
    Ses: int


@dataclass(frozen=True, slots=True)
class InitACK:
    """Station to a host: the host is connected; it gets seq_C next, and the station expects seq_h next."""

    kind: ClassVar[str] = "initACK"
    topic: ClassVar[int] = OTHER
    size_bytes: ClassVar[int] = TYPE_BYTES + 5 * INT_BYTES
    id_h: int
    seq_h: int
    seq_C: int
    Ses: int
    vMd: int


@dataclass(frozen=True, slots=True)
class Leave:
    """Host to the nearest station: the host leaves the system."""

    kind: ClassVar[str] = "leave"
    topic: ClassVar[int] = TO_STATION
    size_bytes: ClassVar[int] = TYPE_BYTES + 3 * INT_BYTES
    id_h: int
    id_C: int
    Ses: int


@dataclass(frozen=True, slots=True)
class LeaveACK:
    """Station to a host: the host has left the system."""

    kind: ClassVar[str] = "leaveACK"
    topic: ClassVar[int] = OTHER
    size_bytes: ClassVar[int] = TYPE_BYTES + 2 * INT_BYTES
    id_h: int
    Ses: int


@dataclass(frozen=True, slots=True)
class Delete:
    """Between stations: forget the host's state of sessions before Ses."""

    kind: ClassVar[str] = "Delete"
    size_bytes: ClassVar[int] = TYPE_BYTES + 2 * INT_BYTES
    id_h: int
    Ses: int


@dataclass(frozen=True, slots=True)
class Req1:
    """New station to all: a request for this host, with the fields of its init."""

    kind: ClassVar[str] = "Req1"
    size_bytes: ClassVar[int] = TYPE_BYTES + 4 * INT_BYTES + 1
    id_h: int
    Co: bool
    seq_C: int
    Ses_LC: int
    Ses: int


@dataclass(frozen=True, slots=True)
class Rsp1:
    """Previous station to new: the ids of messages that the host has not delivered, in order, and its next seq_h."""

    kind: ClassVar[str] = "Rsp1"
    id_h: int
    seq_h: int
    m_nd: tuple[MessageId, ...]
    Ses: int

    @property
    def size_bytes(self) -> int:
        """The size on the wire."""
        return TYPE_BYTES + INT_BYTES * (3 + 2 * len(self.m_nd))


@dataclass(frozen=True, slots=True)
class Req2:
    """New station to previous: a request for the messages of which the new station has no copy left."""

    kind: ClassVar[str] = "Req2"
    id_h: int
    msg_req: tuple[MessageId, ...]
    Ses: int

    @property
    def size_bytes(self) -> int:
        """The size on the wire."""
        return TYPE_BYTES + INT_BYTES * (2 + 2 * len(self.msg_req))


@dataclass(frozen=True, slots=True)
class Rsp2:
    """Previous station to new: the copies, and the ids received since Rsp1. It transfers the host."""

    kind: ClassVar[str] = "Rsp2"
    id_h: int
    msg: tuple[tuple[MessageId, Data], ...]
    msg_rcv: tuple[MessageId, ...]
    Ses: int

    @property
    def size_bytes(self) -> int:
        """The size on the wire."""
        copies = sum(data.size_bytes for _, data in self.msg)
        return TYPE_BYTES + INT_BYTES * (2 + 2 * len(self.msg_rcv)) + copies


FromHost = AppHS | AckH | Join | Init | Leave
FromStation = AppSH | AppCo | AckC | InitACK | LeaveACK
HandoffMessage = Req1 | Rsp1 | Req2 | Rsp2
Message = FromHost | FromStation | AppSS | Delete | HandoffMessage


def what_about(content: object) -> tuple[frozenset[int], frozenset[int]]:
    """Return the application messages and the hosts that a message mentions, for explanations of runs."""
    carried = [data for _, data in content.msg] if isinstance(content, Rsp2) else [getattr(content, "data", None)]
    hosts = set(content.vSeq) if isinstance(content, AckC) else {getattr(content, "id_h", -1)}
    hosts.add(getattr(content, "id_hdest", -1))
    return frozenset(data.message for data in carried if isinstance(data, Data)), frozenset(hosts - {-1})
