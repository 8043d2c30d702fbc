"""A study of a few nodes, for protocols that are to be checked rather than measured: no network to describe."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import Field

from causeway.bridge.errors import unknown
from causeway.bridge.network import AbstractNetwork, normal_delay
from causeway.bridge.workload import Segment, Workload
from causeway.pycontrol.check.checks import Checks
from causeway.pycontrol.node import Node, PerNode
from causeway.studies.study import Params, Study


class SmallParams(Params):
    """How many nodes, and which version of the protocol they run."""

    nodes: int = Field(3, ge=1, le=64, description="how many take part")
    version: str = Field("right", description="which version: the right one, or one with a known mistake")
    messages: int = Field(20, ge=0, description="how many are broadcast in a run")


class SmallStudy(Study):
    """Subclass it, name the versions, and say what must hold (`asked`)."""

    Params = SmallParams
    engines = ("inline",)
    versions: ClassVar[Mapping[str, type[Node]]]
    """Of each version its node; "right" is the first."""
    verdicts: ClassVar[Mapping[str, str]] = {}
    """Of each wrong version how what breaks begins, as `causeway check` tells it."""
    asked: ClassVar[Checks] = Checks()

    def network(self, params: Any, seed: int) -> AbstractNetwork:
        workload = Workload(params.nodes, messages=params.messages, size_bytes=100, segments=(Segment(0, 20.0),))
        return AbstractNetwork(params.nodes, normal_delay(100, 20), workload)

    def protocol(self, params: Any) -> PerNode:
        if params.version not in self.versions:
            raise unknown(f"version of {self.name}", params.version, self.versions)
        return PerNode(lambda id_: self.node(params, id_))

    def node(self, params: Any, id_: int) -> Node:
        """The node of an id; override it where not all are of one kind."""
        return self.versions[params.version](id_)

    def checks(self, params: Any) -> Checks:
        return self.asked
