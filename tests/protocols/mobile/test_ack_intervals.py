"""Hosts that acknowledge messages out of order: retransmissions, and acknowledgements that must be dropped."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from causeway.pycontrol.protocols.mobile import Timing
from causeway.pycontrol.protocols.mobile.host import Host
from causeway.pycontrol.protocols.mobile.messages import AckH, AppSH, Data
from causeway.pycontrol.protocols.mobile.station import Station
from tests.helpers.mobile_model import MS_PS, S_PS, Model, WirelessChannel

SPEAKER, LISTENER = 2, 3


@dataclass
class LosesFirst(WirelessChannel):
    """The listener does not get the first copies of messages that are named; all copies are counted."""

    lost: set[int] = field(default_factory=set)
    acks_to_lose: int = 0
    sent: list[int] = field(default_factory=list)

    def delay_ps(self, content: Any, sender: int, receiver: int) -> int | None:
        if isinstance(content, AppSH) and receiver == LISTENER:
            self.sent.append(content.seq_C)
            if content.seq_C in self.lost:
                self.lost.discard(content.seq_C)
                return None
        if isinstance(content, AckH) and sender == LISTENER and self.acks_to_lose:
            self.acks_to_lose -= 1
            return None
        return MS_PS


def two_in_a_cell(ack_intervals: bool) -> tuple[Model, LosesFirst]:
    """A speaker and a listener at station 0, connected."""
    air = LosesFirst()
    model = Model([(0, 1)], 2, air, Timing(ack_intervals=ack_intervals))
    for host in (SPEAKER, LISTENER):
        model.move(host, 0)
        model.join(host)
    model.run(3 * S_PS)
    return model, air


@pytest.mark.parametrize(("ack_intervals", "again"), [(False, {0, 1, 2, 3}), (True, {0})])
def test_only_messages_that_a_host_lacks_are_sent_again(ack_intervals: bool, again: set[int]) -> None:
    model, air = two_in_a_cell(ack_intervals)
    air.lost = {0}
    for _ in range(4):
        model.broadcast(SPEAKER)
        model.run(MS_PS)
    model.run(10 * S_PS)
    assert model.complaints() == []
    assert {seq for seq in air.sent if air.sent.count(seq) > 1} == again


def fails_with_a_full_rbuffer() -> list[str]:
    """The listener acknowledges 1 to 3 and fails before it delivers them; its first packet afterwards is lost."""
    model, air = two_in_a_cell(ack_intervals=True)
    air.lost = {0}
    for _ in range(4):
        model.broadcast(SPEAKER)
        model.run(MS_PS)
    model.run(700 * MS_PS)
    assert model.station(0).h[LISTENER].received == ((1, 4),), "the acknowledgement is there, the second copy is not"
    model.fail(LISTENER)
    model.run(2 * S_PS)
    air.acks_to_lose = 1
    model.recover(LISTENER)
    model.run(20 * S_PS)
    return model.complaints()


def test_a_failed_host_gets_again_the_messages_that_it_had_acknowledged() -> None:
    assert fails_with_a_full_rbuffer() == []


def test_a_copy_that_is_not_delivered_is_not_acknowledged() -> None:
    """Sent before the station said which messages the host has from elsewhere, it may be a duplicate."""
    model, _ = two_in_a_cell(ack_intervals=True)
    host: Host = model.host(LISTENER)
    host.vMd = 2
    for seq_C, vMd in ((5, 2), (6, 1), (8, 2), (9, 3)):
        host.RBuffer[seq_C] = AppSH(Data(0, 100), seq_C, 0, frozenset(), vMd)
    assert host._received() == ((5, 6), (8, 10))


def test_an_interval_has_its_length_on_the_wireless_channel() -> None:
    assert AckH(3, False, 4, 1, ((5, 6), (8, 10))).size_bytes == AckH(3, False, 4, 1).size_bytes + 16


def test_a_host_that_skips_a_message_still_needs_a_copy() -> None:
    """Otherwise it stays before that number for ever (found by an exhaustive search)."""
    model, _ = two_in_a_cell(ack_intervals=True)
    station: Station = model.station(0)
    entry = station.SBuffer.insert((9, 0), Data(0, 100))
    entry.M_d.add(LISTENER)
    station.h[SPEAKER].seq_C = entry.seq_C + 1
    assert station._is_lacked(entry)
    station.h[LISTENER].received = ((entry.seq_C, entry.seq_C + 1),)
    assert not station._is_lacked(entry)
