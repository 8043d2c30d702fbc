"""A base class for studies of a few nodes, for protocols to explore with `causeway check` rather than to measure.

The network is predefined, so that a subclass consists of nodes and properties.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import Field

from causeway.deprecated import warn
from causeway.errors import UserError, shown_type, unknown
from causeway.explore.checks import Checks
from causeway.network.networks import AbstractNetwork, normal_delay
from causeway.network.workload import Segment, Workload
from causeway.pycontrol.making import maker_of
from causeway.pycontrol.node import Node, PerNode
from causeway.studies.study import Params, Study


class ModelParams(Params):
    """Parameters of a model: the number of nodes and of broadcasts, and the version of the protocol."""

    nodes: int = Field(3, ge=1, le=64, description="number of nodes")
    version: str = Field("right", description="version of the protocol: right, or one with a known mistake")
    messages: int = Field(20, ge=0, description="number of broadcasts in a run")


class ModelStudy(Study):
    """A study of a few nodes.

    A subclass defines the `versions` of its node, and the properties to check (`model_checks`).
    """

    Params = ModelParams
    engines = ("inline",)
    versions: ClassVar[Mapping[str, type[Node]]]
    """Maps a version to the class of its nodes. The first version is "right"."""
    verdicts: ClassVar[Mapping[str, str]] = {}
    """Maps a wrong version to the first words of the violation that `causeway check` reports."""
    model_checks: ClassVar[Checks] = Checks()

    def network(self, params: Any, seed: int) -> AbstractNetwork:
        """Return a network with a delay of 100 ± 20 ms and 20 broadcasts per second."""
        workload = Workload(params.nodes, messages=params.messages, size_bytes=100, segments=(Segment(0, 20.0),))
        return AbstractNetwork(params.nodes, delay=normal_delay(100, 20), workload=workload)

    def protocol(self, params: Any) -> PerNode:
        """Return the protocol of nodes of the chosen version."""
        if params.version not in self.versions:
            raise unknown(f"version of {self.name}", params.version, self.versions)
        return PerNode(lambda id_: self.node(params, id_))

    def node(self, params: Any, id_: int) -> Node:
        """Return the node with an id. Override it if nodes have different classes."""
        return maker_of(self.versions[params.version])(id_)

    def checks(self, params: Any) -> Checks:
        """Return the properties to check."""
        if (former := getattr(self, "asked", None)) is not None:  # the name in earlier versions
            warn(f"{type(self).__name__}.asked", "model_checks")
            return former
        if not isinstance(self.model_checks, Checks):
            allowed = "Checks(...), as in model_checks = Checks(properties=...); name a method checks"
            raise UserError(f"model_checks of study {self.name} is {shown_type(self.model_checks)}; allowed: {allowed}")
        return self.model_checks
