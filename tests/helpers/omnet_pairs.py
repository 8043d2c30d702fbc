"""The pairs of OMNeT++ and INET on this machine, for tests that run on each of them or on a certain one."""

from __future__ import annotations

import pytest

from causeway.bridge.engines.omnet import inet_adapter_of
from causeway.toolchain.adapters import build
from causeway.toolchain.omnet_find import Found, installed


def pairs() -> list[Found]:
    """Return the pairs on this machine that can be used."""
    return [one.pair for one in installed() if one.what == "INET" and one.pair is not None]


def choose(pair: Found, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let engine omnet use a pair, whose adapter is built."""
    monkeypatch.setenv("OMNETPP_ROOT", str(pair.root))
    monkeypatch.setenv("INET_ROOT", str(pair.inet_root))
    build(inet_adapter_of(pair))
