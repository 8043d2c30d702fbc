"""Addresses and names of simulated nodes."""

from __future__ import annotations

import pytest

from causeway.aio.names import BROADCASTS, Names
from causeway.errors import UserError


def test_more_nodes_than_there_are_addresses_are_refused() -> None:
    assert not BROADCASTS & set(Names(65_534).addresses)
    with pytest.raises(UserError, match=r"65,535 .*allowed: .*65,534"):
        Names(65_535)
