"""The probe of the mobile network (tests/helpers/wireless_probe.py) on OMNeT++ with INET."""

from __future__ import annotations

from functools import partial

import pytest

from causeway.bridge.engines.omnet import OmnetEngine
from tests.helpers.wireless_probe import BUSY, run_on

ENGINE = OmnetEngine()
WHY_NOT = ENGINE.missing(BUSY)
run = partial(run_on, ENGINE)
needs_inet = [pytest.mark.omnet, pytest.mark.skipif(WHY_NOT is not None, reason=str(WHY_NOT))]
