"""Section V-D: the structures that a station keeps grow linearly with the hosts of its cell."""

from __future__ import annotations

import sys
from typing import Any

from causeway.pycontrol.protocols.mobile import Timing
from tests.helpers.mobile_model import MS_PS, S_PS, Model, WirelessChannel


def settled(hosts: int, messages: int = 5) -> Model:
    """Return a cell with so many hosts, each of which has broadcast messages that all have acknowledged."""
    model = Model([(0, 1)], hosts, WirelessChannel(), Timing())
    for host in model.host_ids:
        model.move(host, 0)
        model.join(host)
    model.run(3 * S_PS)
    for _ in range(messages):
        for host in model.host_ids:
            model.broadcast(host)
        model.run(100 * MS_PS)
    model.run(20 * S_PS)
    assert model.complaints() == []
    return model


def kept(thing: Any, seen: set[int]) -> int:
    """Return the bytes of an object and of all that it refers to, each counted once."""
    if id(thing) in seen:
        return 0
    seen.add(id(thing))
    inner = [getattr(thing, name) for name in getattr(thing, "__slots__", ())]
    inner += [*thing.keys(), *thing.values()] if isinstance(thing, dict) else []
    inner += thing if isinstance(thing, (list, tuple, set, frozenset)) else []
    return sys.getsizeof(thing) + sum(kept(one, seen) for one in inner)


def kept_for_a_host(hosts: int, messages: int = 5) -> float:
    """Return the bytes that a station keeps for its hosts, divided by their number."""
    station = settled(hosts, messages).station(0)
    assert len(station.h) == hosts
    assert not station.SBuffer
    return kept(station.h, set()) / hosts


def test_what_a_station_keeps_is_linear_in_its_hosts_and_does_not_grow_with_messages() -> None:
    for_ten = kept_for_a_host(10)
    for hosts in (20, 40):
        assert abs(kept_for_a_host(hosts) / for_ten - 1) < 0.1
    assert abs(kept_for_a_host(10, messages=40) / for_ten - 1) < 0.1
