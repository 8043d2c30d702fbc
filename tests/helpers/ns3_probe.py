"""The probe of the mobile network (tests/helpers/wireless_probe.py) on ns-3."""

from __future__ import annotations

from functools import partial

import pytest

from causeway.bridge.engines.ns3 import Ns3Engine
from tests.helpers.wireless_probe import run_on

ENGINE = Ns3Engine()
run = partial(run_on, ENGINE)
needs_ns3 = [pytest.mark.ns3, pytest.mark.skipif(ENGINE.missing() is not None, reason=str(ENGINE.missing()))]
