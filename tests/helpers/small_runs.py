"""Runs of nodes on a few processes, in this process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from causeway.bridge.engine import RunSpec
from causeway.bridge.engines.inline import InlineEngine
from causeway.network.networks import AbstractNetwork, constant_delay
from causeway.network.workload import Script, Workload
from causeway.pycontrol.loop import run_protocol
from causeway.pycontrol.node import Node, PerNode
from causeway.pycontrol.protocol_errors import ProtocolError

MS = 10**9


def small_run(
    make: Any, nodes: int = 3, *, delay: Any = None, reaction_ps: int = MS, seed: int = 1, until_ps: int = 0,
    cap: int = 0, **network: Any,
) -> tuple[PerNode, Any]:  # fmt: skip
    """Run one broadcast of node 2 at 1 ms. Further arguments are those of the network."""
    script = Script(np.array([MS]), np.array([2]), np.array([100]))
    delay = constant_delay(1) if delay is None else delay
    net = AbstractNetwork(nodes, delay=delay, workload=Workload(nodes, script=script), **network)
    protocol = PerNode(make)
    spec = RunSpec("test", {}, seed, net, reaction_ps, duration_ps=until_ps, cap=cap)
    return protocol, run_protocol(InlineEngine(), spec, protocol, [])


def mistake(does: Callable[[Any], object], kind: type[Node] = Node) -> str:
    """Return the error of a run whose `on_broadcast` calls `does`, without the place."""

    class Bad(kind):  # type: ignore[misc,valid-type]
        def on_broadcast(self, number: int, size_bytes: int) -> None:
            does(self)

    with pytest.raises(ProtocolError) as error:
        small_run(Bad)
    return (
        str(error.value)
        .partition("\n")[0]
        .removeprefix("node 2, at 0.001 s, in on_broadcast(number=0, size_bytes=100): ")
    )
