"""The state of one host at a station: h[id_h] of the paper."""

from __future__ import annotations

from dataclasses import dataclass, field

from causeway.pycontrol.protocols.mobile.messages import AppHS, Data, MessageId, Req1

Pending = tuple[MessageId, Data]


@dataclass(slots=True)
class Connection:
    """The state of one host, h[id_h]. The station has one of three roles for the host.

    - holder: not locked; it serves the host.
    - candidate: locked, `to` is None; it has sent Req1 and waits for the previous holder's answers.
    - giver: locked, `to` is the session to which the host was promised; the station waits for Req2.

    At any time, exactly one station is the host's holder or is becoming it.
    """

    Ses: int
    seq_h: int
    seq_C: int
    """The host needs no message before this number; later ones are not discarded."""
    received: tuple[tuple[int, int], ...] = ()
    """Intervals of messages after seq_C that the host has received in this session (`Timing.ack_intervals`). The
    messages are kept, since the host loses them when it fails or moves to another cell. seq_C itself is in no interval,
    so it is sent until the host's next acknowledgement, which replaces the intervals."""
    vMd: int = 0
    H_lock: bool = False
    RBuffer: dict[int, AppHS] = field(default_factory=dict)
    m_nd: list[Pending] = field(default_factory=list)
    """The messages to send as App_Co, in order; the first has the number `first_Co`."""
    first_Co: int = 0
    m_nd_ids: tuple[MessageId, ...] | None = None
    """The ids in Rsp1, which a giver has sent and a candidate has received; None before that."""
    copies: dict[MessageId, Data] = field(default_factory=dict)
    """Giver: the messages with the ids in its Rsp1."""
    seq_Co: int = 0
    """The station's seq_C when it sent (giver) or got (candidate) Rsp1."""
    to: int | None = None
    CoRequest: Req1 | None = None
    """Candidate: the request with the highest later session, to which the station will promise the host."""
    overtaken: bool = False
    """Candidate: True if it has received a request of a candidate of another session, which will never be answered."""
    since_ps: int = 0
    """Candidate: the time at which its handoff began."""

    @property
    def holder(self) -> bool:
        """True if the station serves the host."""
        return not self.H_lock

    @property
    def candidate(self) -> bool:
        """True if the station waits for the host's previous holder."""
        return self.H_lock and self.to is None

    def acknowledge(self, Co: bool, seq_C: int) -> None:
        """Record that the host has delivered all messages before seq_C (of the App_Co messages if Co)."""
        if Co:
            done = max(0, min(len(self.m_nd), seq_C - self.first_Co))
            del self.m_nd[:done]
            self.first_Co += done
        else:
            self.m_nd.clear()
            self.seq_C = max(self.seq_C, seq_C)

    def lacks(self, seq_C: int) -> bool:
        """Return whether the host has not acknowledged a message."""
        return seq_C >= self.seq_C and not any(first <= seq_C < end for first, end in self.received)

    def renew(self, Ses: int) -> None:
        """Begin a new session with the same station. App_Co messages are numbered from 0 again."""
        self.Ses = Ses
        self.first_Co = 0
        self.received = ()
        self.RBuffer.clear()
