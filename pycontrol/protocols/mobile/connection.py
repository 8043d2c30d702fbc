"""What a station keeps of one host: h[id_h] of the paper."""

from __future__ import annotations

from dataclasses import dataclass, field

from causeway.pycontrol.protocols.mobile.messages import AppHS, Data, MessageId, Req1

Pending = tuple[MessageId, Data]


@dataclass(slots=True)
class Connection:
    """h[id_h]. One of three roles, and exactly one station at a time is or becomes the host's holder:

    - holder: not locked; it serves the host.
    - candidate: locked, `to` is None; it has sent Req1 and waits for the previous holder's answers.
    - giver: locked, `to` is the session it has promised the host to; it waits for Req2.
    """

    Ses: int
    seq_h: int
    seq_C: int
    """The host has delivered everything before it, or needs it no more; nothing from it on is discarded."""
    received: tuple[tuple[int, int], ...] = ()
    """What the host has beyond seq_C in this session, in intervals, if hosts tell. Nothing is discarded for that: the
    host loses it when it fails or goes to another cell. seq_C itself is never among it, so that message is sent until
    the host speaks again, and what it says then replaces this."""
    vMd: int = 0
    H_lock: bool = False
    RBuffer: dict[int, AppHS] = field(default_factory=dict)
    m_nd: list[Pending] = field(default_factory=list)
    """What is sent as App_Co, in order; the first has number `first_Co`."""
    first_Co: int = 0
    m_nd_ids: tuple[MessageId, ...] | None = None
    """Candidate: what Rsp1 named; None: no Rsp1 yet. Giver: what its Rsp1 named."""
    copies: dict[MessageId, Data] = field(default_factory=dict)
    """Giver: the messages its Rsp1 named."""
    seq_Co: int = 0
    """The station's seq_C when it sent (giver) or got (candidate) Rsp1."""
    to: int | None = None
    CoRequest: Req1 | None = None
    overtaken: bool = False
    """Candidate: it knows of a candidate of another session that will never get an answer."""
    since_ps: int = 0
    """When the candidate's handoff began."""

    @property
    def holder(self) -> bool:
        return not self.H_lock

    @property
    def candidate(self) -> bool:
        return self.H_lock and self.to is None

    def acknowledge(self, Co: bool, seq_C: int) -> None:
        """The host has delivered everything before seq_C (of the App_Co messages if Co)."""
        if Co:
            done = max(0, min(len(self.m_nd), seq_C - self.first_Co))
            del self.m_nd[:done]
            self.first_Co += done
        else:
            self.m_nd.clear()
            self.seq_C = max(self.seq_C, seq_C)

    def lacks(self, seq_C: int) -> bool:
        """As far as the host has told."""
        return seq_C >= self.seq_C and not any(first <= seq_C < end for first, end in self.received)

    def renew(self, Ses: int) -> None:
        """A new session with the same station: App_Co messages are numbered from 0 again."""
        self.Ses = Ses
        self.first_Co = 0
        self.received = ()
        self.RBuffer.clear()
