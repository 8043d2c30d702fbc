"""mobile20 with a handoff that is broken on purpose: the new station forgets what, as the old one said, the host lacks.

causeway run tests/helpers/broken_handoff.py --set experiment=dynamic --set duration_s=20 --out results/broken
causeway explain results/broken --study tests/helpers/broken_handoff.py
"""

from __future__ import annotations

from typing import Any

from causeway.pycontrol.node import Node
from causeway.pycontrol.protocols.mobile import Station
from causeway.pycontrol.protocols.mobile.connection import Connection
from causeway.pycontrol.protocols.mobile.handoff import Handoff
from causeway.pycontrol.protocols.mobile.messages import Rsp2
from causeway.studies.mobile20.study import Mobile20Study, MobileRun


class BrokenHandoff(Handoff):
    def _on_rsp2(self, m: Rsp2, h: Connection) -> None:
        h.m_nd_ids = ()
        super()._on_rsp2(m, h)


def broken(node: Node) -> Node:
    if isinstance(node, Station):
        node.handoff = BrokenHandoff(node)
    return node


class BrokenRun(MobileRun):
    def _node(self, id_: int) -> Node:
        return broken(super()._node(id_))


class BrokenStudy(Mobile20Study):
    name, paper, published = "broken_handoff", "", ""

    def protocol(self, params: Any) -> MobileRun:
        return BrokenRun(params, self.network(params, 0) if params.trace else None)
